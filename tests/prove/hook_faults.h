// What is done to the calls of a run's webhook, and the record of them. Calls of a controller
// manager beside an agent are answered, and not recorded.
#ifndef TESTS_PROVE_HOOK_FAULTS_H_
#define TESTS_PROVE_HOOK_FAULTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tests/prove/hook_server.h"
#include "tests/prove/perturbation.h"

namespace prove {

// Whether a run's name may have this fault:
//   refused      the server goes away: connections are closed, and refused for AMOUNT seconds
//   lost, cut    the connection is closed without an answer, or in its middle
//   silent       there is no answer
//   late, tardy  the answer comes after half of the webhook's timeout; after the timeout
//   twice        it comes two times on the connection
//   page         instead of it comes a page of HTML
//   empty        ... a review without a response
//   uid          ... the answer to another question
//   rejected     ... "successful: false"; of the older dialect, which has no such word, an error
//   400 patch        ... a patch that does not apply; only for what is answered by a patch CODE ...
//   an error of the server, such as 500; 429 with Retry-After
bool IsHookFault(absl::string_view name);

// Whether calls that meet this fault get their right answers in time all the same.
bool IsBorne(const Plan& plan);

// Thread-safe.
class HookFaults {
 public:
  explicit HookFaults(std::shared_ptr<Perturbation> run) : run_(std::move(run)) {}

  HookVerdict OnCall(const HookCall& call, const base::HttpResponse& right);

  // Begins a step, whose plan is the run's from now on.
  void BeginStep(int step);
  // Whether the fault of this step has begun, and has calls left.
  bool IsUnderWay() const;
  // What is left of it does not happen any more.
  void End();

  // The operations of the calls of that step, in their order.
  std::vector<std::string> CallsOfStep(int step) const;
  // Those of the calls of that phase, each with how often it came.
  std::map<std::string, int> Calls(Perturbation::Phase phase) const;

 private:
  bool Strikes(const std::string& operation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<Perturbation> run_;
  mutable absl::Mutex mu_;
  int step_ ABSL_GUARDED_BY(mu_) = 0;
  int met_ ABSL_GUARDED_BY(mu_) = 0;   // Calls of the plan's operation in this step.
  int left_ ABSL_GUARDED_BY(mu_) = 0;  // How many calls the fault still strikes.
  std::map<int, std::vector<std::string>> calls_of_step_ ABSL_GUARDED_BY(mu_);
  std::map<Perturbation::Phase, std::map<std::string, int>> calls_ ABSL_GUARDED_BY(mu_);
};

}  // namespace prove

#endif  // TESTS_PROVE_HOOK_FAULTS_H_
