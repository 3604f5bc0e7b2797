// Handles the creation, change and deletion of policies: it queues or releases their templates
// (upstream's detector, policy half).
#ifndef DETECTOR_POLICY_RECONCILER_H_
#define DETECTOR_POLICY_RECONCILER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "api/policy_selectors.h"
#include "base/stop_token.h"
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
  // Remembers the policy as it is now. Returns whether templates that it has claimed may lack a
  // binding and wait for a pass: it is lazy or was when it was seen last, and was edited since or
  // is being deleted.
  bool NoteAndMayHaveUnbound(const kube::Object& policy);
  // Queues the templates of all watched kinds that have the policy's claim and no binding of it.
  void QueueUnbound(const kube::Object& policy);
  // Queues the templates that wait for a policy and that this one selects.
  absl::Status QueueWaiting(const kube::Object& policy, const api::PolicySelectors& selectors,
                            const base::StopToken& stop);
  // Queues the templates that could not follow their policy, if that is this one, which may have
  // been corrected, or if this one may select them.
  void QueueBlocked(const kube::Object& policy, const api::PolicySelectors& selectors);
  // Queues the templates that the policy names and other policies have claimed.
  void QueueClaimed(const kube::Object& policy, const api::PolicySelectors& selectors);

  // A policy when it was seen last.
  struct Seen {
    std::string uid;
    int64_t generation = 0;
    bool is_lazy = false;
  };

  kube::Manager& manager_;
  const TemplateMemory& memory_;
  kube::WorkQueue& templates_;
  const IsLazilyClaimedFn is_lazily_claimed_;
  absl::Mutex mu_;
  absl::flat_hash_map<kube::ObjectKey, Seen> seen_ ABSL_GUARDED_BY(mu_);
};

}  // namespace detector

#endif  // DETECTOR_POLICY_RECONCILER_H_
