// What is done to karmada-search in one run, and the record of what it asks its members meanwhile:
// an interference with the members' servers.
//
// A run is named by a line: "reference", or the names of perturbations, joined by " & ", of which
// each has a later step than the one before. S is a step (0 is the start), N counts what it says
// within the step, MEMBER may be "all".
//
//   crash request S.N           it is killed when the Nth request to a member comes
//   crash answer S.N            ... when the Nth answer is ready, which it does not get
//   crash event S.N             ... when the Nth event of a watch is about to be sent
//   cut after MEMBER S.N        the watches are cut behind the Nth event of that member
//   cut within MEMBER S.N       ... in the midst of it
//   merged MEMBER S T           from step S to step T nothing is delivered; then watches end with
//                               410, and everything is listed again
//   late MEMBER S               what the step changes is delivered at its end, one by one, a second
//                               apart
//   stale MEMBER S K            at the end of the step it starts again, and what it reads from
//                               caches of the servers is K changes old; then the servers catch up
//   reconnect MEMBER S K        the same without a restart: its watches are cut
//   away MEMBER S N             after the Nth change of the step the member cannot be reached until
//                               its end
//   restored MEMBER S N         after the Nth change the member becomes again what it was when the
//                               step began, as from a backup
//   emptied MEMBER S N          after the Nth change its watches are cut, and it has no history
//                               from which they could go on
#ifndef TESTS_PROVE_SEARCH_SEARCH_PERTURBATION_H_
#define TESTS_PROVE_SEARCH_SEARCH_PERTURBATION_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/http/interference.h"

namespace prove {

struct SearchPlan {
  enum class Kind {
    kNone,
    kCrashRequest,
    kCrashAnswer,
    kCrashEvent,
    kCutAfter,
    kCutWithin,
    kMerged,
    kLate,
    kStale,
    kReconnect,
    kAway,
    kRestored,
    kEmptied,
  } kind = Kind::kNone;
  std::string member;  // Or "all".
  int first_step = -1, last_step = -1;
  int64_t number = 0;  // N or K.

  bool IsAbout(const std::string& name) const { return member == name || member == "all"; }
};
absl::StatusOr<std::vector<SearchPlan>> ReadSearchPlans(const std::string& run);

// What was asked of members, and delivered by them, in one step.
struct StepCounts {
  int requests = 0, answers = 0;
  std::map<std::string, int> events;  // By member.
};

// Thread-safe.
class SearchPerturbation : public sandbox::Interference {
 public:
  explicit SearchPerturbation(std::vector<SearchPlan> plans) : plans_(std::move(plans)) {}

  const std::vector<SearchPlan>& plans() const { return plans_; }
  // That of this step; kNone if there is none.
  SearchPlan plan() const;
  // Whether the moments of all have come.
  bool perturbed() const;
  // What the plan is about has been done by somebody else.
  void NoteStroke();

  void SetSearch(pid_t process) { search_ = process; }
  // Returns whether karmada-search was killed since the last call.
  bool TakeCrash() { return crashed_.exchange(false); }

  void BeginStep(int step);
  std::map<int, StepCounts> Counts() const;

  std::shared_ptr<sandbox::WatchGate> Gate(const std::string& member);
  void SetLag(const std::string& member, std::shared_ptr<sandbox::Lag> lag);

  sandbox::RequestVerdict OnRequest(const sandbox::RequestPtr& request) override;
  sandbox::AnswerVerdict OnExecuted(const sandbox::RequestPtr& request,
                                    const sandbox::Outcome& outcome) override;
  void OnDelivery(const sandbox::Delivery& delivery) override;

 private:
  size_t PlanOfStep() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  SearchPlan PlanLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns whether this is the one that a plan of this kind is about.
  bool Strikes(SearchPlan::Kind kind, int number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Crash();

  const std::vector<SearchPlan> plans_;
  std::atomic<pid_t> search_ = 0;
  std::atomic<bool> crashed_ = false;
  mutable absl::Mutex mu_;
  int step_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t struck_ ABSL_GUARDED_BY(mu_) = 0;  // A bit for each plan.
  std::map<int, StepCounts> counts_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<sandbox::WatchGate>> gates_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<sandbox::Lag>> lags_ ABSL_GUARDED_BY(mu_);
};

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_SEARCH_PERTURBATION_H_
