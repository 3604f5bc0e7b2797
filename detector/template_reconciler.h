// Makes the binding of a template and its policy (upstream's resource detector).
#ifndef DETECTOR_TEMPLATE_RECONCILER_H_
#define DETECTOR_TEMPLATE_RECONCILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "detector/binding_builder.h"
#include "detector/lazy_activation.h"
#include "detector/pod_demand.h"
#include "detector/policy_index.h"
#include "detector/preemption.h"
#include "detector/template_memory.h"
#include "interpreter/interpreter.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/rechecks.h"

namespace detector {

// The feature gates that the detector depends on.
struct DetectorGates {
  bool components = false;         // MultiplePodTemplatesScheduling
  bool quota_estimate = false;     // ResourceQuotaEstimate
  bool schedule_priority = false;  // PriorityBasedScheduling
  bool workload_affinity = false;  // WorkloadAffinity
  bool preemption = false;         // PropagationPolicyPreemption
};

class TemplateReconciler : public kube::Reconciler {
 public:
  struct Deps {
    kube::Manager& manager;
    const interpreter::Interpreter& interpreter;
    const PolicyIndex& policies;
    const PolicyIndex& cluster_policies;
    TemplateMemory& memory;
    const works::Rechecks& rechecks;
    DetectorGates gates;
  };
  // REQUIRES: everything in `deps` outlives the reconciler.
  explicit TemplateReconciler(Deps deps)
      : deps_(deps),
        preemption_({deps.manager, deps.policies, deps.cluster_policies, deps.memory,
                     deps.gates.preemption}),
        lazy_(deps.manager.cluster(), deps.interpreter, deps.memory),
        pods_({deps.interpreter, deps.memory.outcomes, deps.gates.components,
               deps.gates.quota_estimate}) {}

  // The request names a template: gvk and key.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  struct Template {
    const kube::Request& request;
    kube::Resource resource;
    kube::ObjectPtr object;
  };

  // Reports once that finalizers keep a template which is being deleted. The Action comes back when
  // that is due.
  kube::Action ReportBlockedDeletion(const Template& t);
  // Lets another policy preempt the one that has claimed the template, or applies that one, or
  // releases the template.
  absl::Status FollowClaim(const Template& t, const base::StopToken& stop);
  // Applies the policy that has claimed the template, or releases the template.
  template <class PolicyScope>
  absl::Status ApplyHolderOrRelease(const Template& t, const PolicyIndex& policies,
                                    const kube::ObjectKey& key, const base::StopToken& stop);
  // Applies the best policy that matches. When none does, the template is put into the waiting set.
  absl::Status MatchAndApply(const Template& t, const base::StopToken& stop);
  // Asks the loops to look at the binding of a template that no policy matches, if other bindings
  // require it.
  void RecheckAttached(const kube::Object& object);
  // Returns whether the object is propagated in another API group or version than the request's.
  bool BelongsToAnotherView(const Template& t, const kube::Object& policy) const;
  // Applies the policy. kAborted when the policy changed meanwhile, or one came that preempts it,
  // so that the template is tried again.
  template <class PolicyScope>
  absl::Status ApplyAndLookAgain(const Template& t, const PolicyIndex& policies,
                                 const kube::ObjectPtr& policy, const base::StopToken& stop);
  // Applies the policy as it was seen, and reports the attempt in metrics and events.
  template <class PolicyScope>
  absl::Status ApplyAndReport(const Template& t, const kube::Object& policy,
                              const base::StopToken& stop);
  // Writes claim and binding; returns whether the binding changed. While what the policy names is
  // missing (kFailedPrecondition) or wrong (kInvalidArgument) the template counts as blocked.
  template <class PolicyScope>
  absl::StatusOr<bool> ClaimAndBindOrBlock(const Template& t, const kube::Object& policy,
                                           const base::StopToken& stop);
  template <class PolicyScope>
  absl::StatusOr<bool> ClaimAndBind(const Template& t, const kube::Object& policy,
                                    const base::StopToken& stop);
  // Determines what the template's pods ask for. While that fails the template counts as uncounted.
  absl::StatusOr<PodDemand> DemandOf(const Template& t);
  // Determines what the scheduler is asked to consider.
  absl::StatusOr<SchedulingHints> HintsFor(const Template& t, const kube::Object& policy,
                                           const base::StopToken& stop);
  // Returns whether the binding is to record the template's version: an edit is known, or the
  // template's state is not the one that has passed.
  bool MayRecord(const Template& t, const kube::Object& existing);
  // Returns whether the binding changed. When only the template's version differs, and that is not
  // to be recorded, the binding stays as it is and the loops that render the template are asked to
  // look.
  template <class PolicyScope>
  absl::StatusOr<bool> WriteBinding(const Template& t, const kube::Object& built,
                                    const base::StopToken& stop);
  // The error is kFailedPrecondition and names the first override that the policy waits for.
  absl::Status CheckDependentOverrides(const kube::Object& policy,
                                       const base::StopToken& stop) const;

  const Deps deps_;
  Preemption preemption_;
  const LazyActivation lazy_;
  const PodInquiry pods_;
};

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_RECONCILER_H_
