// Preemption: a policy with spec.preemption Always takes templates over from other policies.
#ifndef DETECTOR_PREEMPTION_H_
#define DETECTOR_PREEMPTION_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "detector/policy_index.h"
#include "detector/template_memory.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/manager.h"

namespace detector {

class Preemption {
 public:
  struct Deps {
    kube::Manager& manager;
    const PolicyIndex& policies;
    const PolicyIndex& cluster_policies;
    TemplateMemory& memory;
    bool enabled = false;  // Feature gate PropagationPolicyPreemption.
  };
  // REQUIRES: everything in `deps` outlives this object.
  explicit Preemption(Deps deps) : deps_(deps) {}

  // Returns the policy that may take the template over from `holder`, a policy of either scope:
  // from a PropagationPolicy one of higher priority, from a ClusterPropagationPolicy any
  // PropagationPolicy, else one of higher priority. nullptr when there is none, also for a template
  // that is being deleted.
  kube::ObjectPtr PreemptorOf(const kube::Object& object, const kube::Object& holder) const;

  // If there is such a policy, moves the claim on the template from its present policy to that one,
  // with an event on the template. Returns whether the claim was moved; that is a change of the
  // template, so it will be queued again. kAborted when the template changed meanwhile.
  absl::StatusOr<bool> Try(const kube::Resource& resource, const kube::ObjectPtr& object,
                           const base::StopToken& stop);

 private:
  // Returns the policy whose claim the template has; nullptr when there is none, or when it is gone
  // or being deleted, because such a policy lets the template go anyway.
  kube::ObjectPtr HolderOf(const kube::Object& object) const;
  void Report(const kube::Object& object, const kube::Object& preemptor, const kube::Object& holder,
              const absl::Status& result);

  const Deps deps_;
};

}  // namespace detector

#endif  // DETECTOR_PREEMPTION_H_
