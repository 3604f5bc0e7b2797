// What is done to the daemon in one run, and the record of what it asks meanwhile: an interference
// with all servers at once. Nobody else uses HTTP here but a controller manager beside an agent,
// whose requests pass and are not recorded.
#ifndef TESTS_PROVE_PERTURBATION_H_
#define TESTS_PROVE_PERTURBATION_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "sandbox/http/interference.h"

namespace prove {

// One perturbation of what runs.h calls a run, taken apart.
struct Plan {
  enum class Kind {
    kReference,
    kCrashBefore,
    kCrashAfter,
    kCrashTwice,
    kAnswerLost,
    kAnswerCut,
    kError,
    kLateTimeout,
    kUnread,
    kStale,
    kReconnect,
    kMerged,
    kLate,
    kOrder,
    kWebhook,
  } kind = Kind::kReference;
  // Crashes and answers: which write, of those of the step if there is one. kWebhook: which call.
  int write = 0, second_write = 0;
  int code = 0, times = 0;         // Errors; kWebhook, or for how many seconds.
  std::string request_class;       // Errors; kWebhook: the operation.
  std::string fault;               // kWebhook, as hook_faults.h has them.
  std::string server;              // kStale, kReconnect: "host", a member, or "all".
  int64_t revisions = 0;           // kStale, kReconnect.
  std::vector<std::string> kinds;  // kMerged, kLate, kOrder.
  // The steps in which it happens; kWholeRun when it may be any.
  static constexpr int kWholeRun = -1;
  int first_step = kWholeRun, last_step = kWholeRun;
};
absl::StatusOr<Plan> ReadPlan(const std::string& name);
// The perturbations of a run, of which each has steps of its own unless it is the only one. None
// for a reference.
absl::StatusOr<std::vector<Plan>> ReadPlans(const std::string& run);

// "host update works.work.karmada.io/status", "member list pods".
std::string RequestClass(const sandbox::RequestFacts& request);

// Whether it comes from the controller manager beside an agent.
bool IsFromBeside(const sandbox::RequestFacts& request);

// Whether it is a write that says something about what was propagated: not of a lease or an event.
bool Counts(const sandbox::RequestFacts& request);

// Thread-safe.
class Perturbation : public sandbox::Interference {
 public:
  // When a request comes, as far as the judgement is concerned.
  enum class Phase { kWorkload, kQuiet, kRestart };

  explicit Perturbation(std::vector<Plan> plans = {});

  const std::vector<Plan>& plans() const { return plans_; }
  // The perturbation of this step; kReference if there is none.
  const Plan& plan() const;
  // The process that crashes kill; 0 while there is none.
  void SetDaemon(pid_t daemon) { daemon_ = daemon; }
  void SetPhase(Phase phase) { phase_ = phase; }
  Phase phase() const { return phase_; }

  // Returns whether the daemon was killed since the last call.
  bool TakeCrash() { return crashed_.exchange(false); }
  // Notes that the moment of this step's perturbation has come.
  void NoteStroke() { struck_ |= uint64_t{1} << current_.load(); }
  // Whether the moments of all perturbations have come.
  bool perturbed() const;

  // Holds back all watches of these kinds, "host/works.work.karmada.io" or "all".
  void HoldKinds(const std::vector<std::string>& kinds);
  // Returns the gates of a kind; all there are for "all".
  std::vector<std::shared_ptr<sandbox::WatchGate>> Gates(const std::string& kind);
  void OpenKinds();
  // Has the reads from that server ("all" for every one) go through this lag; null for none.
  void SetLag(const std::string& server, std::shared_ptr<sandbox::Lag> lag);

  std::vector<std::string> Writes(Phase phase) const;
  std::vector<std::string> Failures(Phase phase) const;
  std::set<std::string> Classes() const;
  // The kinds of which something was delivered while that step went on.
  std::set<std::string> DeliveredKinds(int step) const;
  void BeginStep(int step);
  // The classes of the writes that have begun in that step, in their order; those before which
  // the daemon has waited for a time are marked by kAfterPause at their end.
  static constexpr char kAfterPause[] = " (after a pause)";
  std::vector<std::string> WritesOfStep(int step) const;
  // The classes of all requests of that step.
  std::set<std::string> ClassesOfStep(int step) const;

  sandbox::RequestVerdict OnRequest(const sandbox::RequestPtr& request) override;
  sandbox::AnswerVerdict OnExecuted(const sandbox::RequestPtr& request,
                                    const sandbox::Outcome& outcome) override;
  void OnDelivery(const sandbox::Delivery& delivery) override;

 private:
  using GatePtr = std::shared_ptr<sandbox::WatchGate>;

  // Returns the gate of a watch, without a lock, since gates have their own; else null.
  GatePtr GateFor(const sandbox::RequestFacts& request);
  sandbox::RequestVerdict Reads(const sandbox::RequestFacts& request, const GatePtr& gate)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns whether this request is one that the plan is about, and counts it.
  bool Strikes(const sandbox::RequestFacts& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsHeld(const std::string& kind) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteWrite(const sandbox::RequestFacts& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Crash();

  const std::vector<Plan> plans_;
  std::atomic<size_t> current_ = 0;   // The plan of this step; plans_.size() for none.
  std::atomic<uint64_t> struck_ = 0;  // A bit for each plan.
  std::atomic<pid_t> daemon_ = 0;
  std::atomic<Phase> phase_ = Phase::kWorkload;
  std::atomic<int> step_ = 0;
  std::atomic<bool> crashed_ = false;
  mutable absl::Mutex mu_;
  int writes_begun_ ABSL_GUARDED_BY(mu_) = 0;  // In the step, or in the run; as the plan counts.
  absl::Time last_write_ ABSL_GUARDED_BY(mu_);
  int left_ ABSL_GUARDED_BY(mu_) = 0;  // kError and its like: how many have struck.
  int second_begins_ ABSL_GUARDED_BY(mu_) = 0;
  // The requests that the plan has chosen, by server and number, until they are executed.
  std::set<std::pair<std::string, int64_t>> chosen_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> held_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, GatePtr> gates_ ABSL_GUARDED_BY(mu_);  // By kind.
  std::map<std::string, std::shared_ptr<sandbox::Lag>> lags_ ABSL_GUARDED_BY(mu_);
  std::map<Phase, std::vector<std::string>> writes_ ABSL_GUARDED_BY(mu_);
  std::map<Phase, std::vector<std::string>> failures_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> classes_ ABSL_GUARDED_BY(mu_);
  // By step.
  std::map<int, std::set<std::string>> delivered_ ABSL_GUARDED_BY(mu_);
  std::map<int, std::set<std::string>> classes_of_step_ ABSL_GUARDED_BY(mu_);
  std::map<int, std::vector<std::string>> writes_of_step_ ABSL_GUARDED_BY(mu_);
};

}  // namespace prove

#endif  // TESTS_PROVE_PERTURBATION_H_
