// The order in which watches have delivered events to the program under test and in which its
// writes have come, recorded; and, of another run, done again: an event, or a write, waits until
// what was before it in the recording has happened.
//
// A recording has a line for each of them:
//
//   2 deliver karmada-apiserver works.work.karmada.io MODIFIED karmada-es-member1/web-66df
//   2 write karmada-apiserver patch works.work.karmada.io/status karmada-es-member1/web-66df
//
// A write stands where it was executed. The first word is the step; a watch is known by its server,
// resource, namespace and selectors. What has the same words as another line is the same to a
// replay, first come, first served: all events of one watch come in their order anyway.
#ifndef TESTS_PROVE_DELIVERY_ORDER_H_
#define TESTS_PROVE_DELIVERY_ORDER_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "sandbox/http/interference.h"
#include "tests/prove/perturbation.h"

namespace prove {

// Stands before the perturbation of a run. Thread-safe.
class DeliveryOrder : public sandbox::Interference {
 public:
  // Records only, if there is nothing to be done again.
  DeliveryOrder(std::shared_ptr<Perturbation> run, std::vector<std::string> again);

  void BeginStep(int step);
  // Delivers all events, and executes all writes, whose turn it is. What comes before one and has
  // not happened for half a minute is waited for no longer. Returns whether there were any. Call it
  // when all wait.
  bool LetThrough(absl::Duration now);
  // From now on nothing waits.
  void End();

  std::vector<std::string> Lines() const;
  // What was waited for in vain, or passed out of turn: the replay is not exact where that was.
  std::vector<std::string> Missed() const;
  // What came and is not in the recording; it did not wait.
  std::vector<std::string> Unknown() const;

  sandbox::RequestVerdict OnRequest(const sandbox::RequestPtr& request) override;
  sandbox::AnswerVerdict OnExecuted(const sandbox::RequestPtr& request,
                                    const sandbox::Outcome& outcome) override;
  void OnDelivery(const sandbox::Delivery& delivery) override;

 private:
  using GatePtr = std::shared_ptr<sandbox::WatchGate>;
  struct Expected {
    std::string line;
    bool over = false;  // It has happened, or is not waited for.
  };

  GatePtr GateOf(const sandbox::RequestFacts& watch);
  struct HeldWrite {
    sandbox::RequestPtr request;
    std::shared_ptr<sandbox::Hold> hold;
  };

  // Whether it is the turn of what has these words, or it is not waited for.
  bool MayPass(const std::string& words) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayFail(const sandbox::RequestFacts& write) const;
  // What gates and writes wait with at present.
  std::vector<std::string> HeldWords(const std::vector<GatePtr>& gates) const;
  // Decides whether the next line is waited for any longer.
  void BePatient(const std::vector<std::string>& held, absl::Duration now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool LetEvents(const std::vector<GatePtr>& gates);
  bool LetWrites();
  // What becomes of a write when it is its turn, and when it has to wait for it.
  void Execute(const HeldWrite& write);
  sandbox::RequestVerdict OnWrite(const sandbox::RequestPtr& request);
  struct Recorded {
    std::string line, server;
    int64_t version = 0;  // Of the change; 0 for none.
  };

  // Crosses off what has these words.
  void Note(const std::string& words) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Record(Recorded what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves on to the first line that is not over.
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveUp(size_t line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string Line(const std::string& words) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<Perturbation> run_;
  mutable absl::Mutex mu_;
  int step_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Recorded> lines_ ABSL_GUARDED_BY(mu_);
  bool again_ ABSL_GUARDED_BY(mu_) = false;  // Events wait.
  std::vector<Expected> expected_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::deque<size_t>> places_ ABSL_GUARDED_BY(mu_);  // Of lines not over.
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Duration since_ ABSL_GUARDED_BY(mu_) = absl::ZeroDuration();  // It was the next one.
  // What passes although it is not the next one, and how often that was done while it waited.
  std::optional<size_t> out_of_turn_ ABSL_GUARDED_BY(mu_);
  int passed_ ABSL_GUARDED_BY(mu_) = 0;
  // The next one when it was looked at last in this step.
  std::optional<size_t> looked_at_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, GatePtr> gates_ ABSL_GUARDED_BY(mu_);  // By watch.
  std::vector<HeldWrite> writes_ ABSL_GUARDED_BY(mu_);         // Those that wait.
  std::vector<std::string> missed_ ABSL_GUARDED_BY(mu_), unknown_ ABSL_GUARDED_BY(mu_);
};

// Returns the lines of a recording. kUnimplemented for a run whose perturbations decide themselves
// what is delivered when.
absl::StatusOr<std::vector<std::string>> ReadOrder(const std::string& path,
                                                   const std::vector<Plan>& plans);

}  // namespace prove

#endif  // TESTS_PROVE_DELIVERY_ORDER_H_
