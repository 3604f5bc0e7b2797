// Makes the binding of a template and its policy (upstream's resource detector).
#ifndef DETECTOR_TEMPLATE_RECONCILER_H_
#define DETECTOR_TEMPLATE_RECONCILER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "detector/binding_builder.h"
#include "detector/lazy_activation.h"
#include "detector/pod_inquiry.h"
#include "detector/policy_index.h"
#include "detector/preemption.h"
#include "detector/template_memory.h"
#include "interpreter/interpreter.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/sync_timer.h"
#include "works/edit_times.h"
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
    works::EditTimes* edit_times = nullptr;
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

  // Reports once that finalizers keep a template which is being deleted. The Action asks for a pass
  // when that is due.
  kube::Action ReportBlockedDeletion(const Template& t);
  // The policy that a pass applies, if there is one.
  struct Match {
    kube::ObjectPtr policy;   // Null: the pass ends here.
    absl::Status preemption;  // The error of a preemption that was refused.
  };
  // Determines the policy of a template that has a claim: the one that has claimed it. None when
  // another one has preempted it just now, or the template was released.
  absl::StatusOr<Match> MatchOfClaimed(const Template& t, const base::StopToken& stop);
  // Returns the policy of that key, or null after having released the template, because the policy
  // is gone or does not match; also if the template is propagated in another API group.
  template <class PolicyScope>
  absl::StatusOr<kube::ObjectPtr> HolderOrRelease(const Template& t, const PolicyIndex& policies,
                                                  const kube::ObjectKey& key,
                                                  const base::StopToken& stop);
  // Determines the policy of a template without a claim: the best one that matches. When none
  // does, the template is put into the waiting set.
  Match MatchOfUnclaimed(const Template& t);
  kube::ObjectPtr BestPolicyFor(const kube::Object& object);
  // The present state of the template is not put into clusters, and no failure is the reason.
  void DoNotTime(const Template& t);
  // Asks the loops to look at the binding of a template that no policy matches, if other bindings
  // require it.
  void RecheckAttached(const kube::Object& object);
  // Returns whether the object is propagated in another API group or version than the request's.
  bool BelongsToAnotherView(const Template& t, const kube::Object& policy) const;
  // kAborted when the policy changed during the pass, or another one preempts it, so that the
  // template is tried again.
  absl::Status CheckStillMatches(const Template& t, const kube::ObjectPtr& policy);
  // Claims the template, writes its binding, and reports the attempt. While what the policy names
  // is missing (kFailedPrecondition) or wrong (kInvalidArgument), or the interpreter's error is
  // terminal (kInvalidArgument as well), the template counts as blocked.
  template <class PolicyScope>
  absl::Status Apply(const Template& t, const kube::Object& policy, const base::StopToken& stop);
  // Writes the claim. Returns the template as it is then, or null if the policy is lazy and waits
  // for an edit.
  template <class PolicyScope>
  absl::StatusOr<kube::ObjectPtr> Claim(const Template& t, const kube::Object& policy,
                                        const base::StopToken& stop);
  // Writes the binding of a template that is claimed; returns whether it changed.
  template <class PolicyScope>
  absl::StatusOr<bool> Bind(const Template& claimed, const kube::Object& policy,
                            const base::StopToken& stop);
  // Reports an attempt to apply the policy of that description in metrics and an event; returns its
  // result with what was tried.
  absl::Status Report(const Template& t, const std::string& policy,
                      const absl::StatusOr<bool>& changed, const kube::SyncTimer& timer);
  // Determines what the template's pods ask for. The template counts as uncounted from now on until
  // its binding has been written.
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
