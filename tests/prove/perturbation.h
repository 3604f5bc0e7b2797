// What is done to the daemon in one run, and the record of what it asks meanwhile: an interference
// with all servers at once. Requests of the daemon are told from others by nothing, since nobody
// else uses HTTP here.
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
#include "sandbox/http/interference.h"

namespace prove {

// What runs.h calls a run, taken apart.
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
  } kind = Kind::kReference;
  int write = 0, second_write = 0;  // Crashes and answers.
  int code = 0, times = 0;          // Errors.
  std::string request_class;        // Errors.
  std::string server;               // kStale, kReconnect: "host", a member, or "all".
  int64_t revisions = 0;            // kStale, kReconnect.
  std::vector<std::string> kinds;   // kMerged, kLate, kOrder.
  int first_step = 0, last_step = 0;
};
absl::StatusOr<Plan> ReadPlan(const std::string& name);

// "host update works.work.karmada.io/status", "member list pods".
std::string RequestClass(const sandbox::RequestFacts& request);

// Whether it is a write that says something about what was propagated: not of a lease or an event.
bool Counts(const sandbox::RequestFacts& request);

// Thread-safe.
class Perturbation : public sandbox::Interference {
 public:
  // When a request comes, as far as the judgement is concerned.
  enum class Phase { kWorkload, kQuiet, kRestart };

  explicit Perturbation(Plan plan) : plan_(std::move(plan)) {}

  const Plan& plan() const { return plan_; }
  // The process that crashes kill; 0 while there is none.
  void SetDaemon(pid_t daemon) { daemon_ = daemon; }
  void SetPhase(Phase phase) { phase_ = phase; }

  // Returns whether the daemon was killed since the last call.
  bool TakeCrash() { return crashed_.exchange(false); }
  // Whether the moment of the perturbation has come.
  bool perturbed() const { return perturbed_; }

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
  void BeginStep(int step) { step_ = step; }

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
  void Crash();

  const Plan plan_;
  std::atomic<pid_t> daemon_ = 0;
  std::atomic<Phase> phase_ = Phase::kWorkload;
  std::atomic<int> step_ = 0;
  std::atomic<bool> crashed_ = false, perturbed_ = false;
  mutable absl::Mutex mu_;
  int writes_begun_ ABSL_GUARDED_BY(mu_) = 0;
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
  std::map<int, std::set<std::string>> delivered_ ABSL_GUARDED_BY(mu_);  // By step.
};

}  // namespace prove

#endif  // TESTS_PROVE_PERTURBATION_H_
