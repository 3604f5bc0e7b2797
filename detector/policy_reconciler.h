// Handles the creation, change and deletion of policies: it queues or releases their templates
// (upstream's detector, policy half).
#ifndef DETECTOR_POLICY_RECONCILER_H_
#define DETECTOR_POLICY_RECONCILER_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "detector/policy_selectors.h"
#include "detector/template_memory.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"

namespace detector {

// Returns requests for the templates of the bindings that carry the policy's claim. REQUIRES: the
// bindings of both kinds are indexed by PolicyScope::kIdLabel.
template <class PolicyScope>
std::vector<kube::Request> TemplatesBoundBy(kube::ClusterClient& client,
                                            const kube::Object& policy);

template <class PolicyScope>
class PolicyReconciler : public kube::Reconciler {
 public:
  // Returns whether a lazy policy has claimed the template.
  using IsLazilyClaimedFn = std::function<bool(const kube::Object& object)>;

  // `memory` has the templates without a policy, and those whose policy cannot be applied; keys of
  // templates to be looked at again go into `templates`. Policies preempt one another if
  // `is_lazily_claimed` is not empty. REQUIRES: all of them outlive the reconciler.
  PolicyReconciler(kube::Manager& manager, const TemplateMemory& memory, kube::WorkQueue& templates,
                   IsLazilyClaimedFn is_lazily_claimed)
      : manager_(manager),
        memory_(memory),
        templates_(templates),
        is_lazily_claimed_(std::move(is_lazily_claimed)) {}

  // The request's key names a policy of this scope.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::StatusOr<kube::Action> Finalize(const kube::ObjectPtr& policy, const base::StopToken& stop);
  // Takes the claim from the templates of the kinds that the policy selects now.
  absl::Status ReleaseTemplates(const kube::Object& policy, const base::StopToken& stop);
  // Queues the templates of the policy's bindings.
  void QueueBound(const kube::Object& policy);
  // Queues the templates that wait for a policy and that this one selects.
  absl::Status QueueWaiting(const kube::Object& policy, const PolicySelectors& selectors,
                            const base::StopToken& stop);
  // Queues the templates whose policy cannot be applied: it may have been mended.
  void QueueBlocked();
  // Queues the templates that the policy names and other policies have claimed.
  void QueueClaimed(const kube::Object& policy, const PolicySelectors& selectors);

  kube::Manager& manager_;
  const TemplateMemory& memory_;
  kube::WorkQueue& templates_;
  const IsLazilyClaimedFn is_lazily_claimed_;
};

}  // namespace detector

#endif  // DETECTOR_POLICY_RECONCILER_H_
