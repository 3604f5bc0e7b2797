// Upstream preempts in the pass over the policy. Here it is the template's own pass that determines
// which policy may have it, from the policies as they are: whatever brings a template to the queue
// (an edit, a restart, either policy) leads to the same result, and so does a policy whose priority
// is lowered, since its pass queues its templates. The pass over a policy that preempts only queues
// the templates that it names and that others have claimed.

#include "detector/preemption.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "api/reasons.h"
#include "base/status.h"
#include "detector/claims.h"
#include "kube/client/errors.h"
#include "kube/runtime/events.h"

namespace detector {

kube::ObjectPtr Preemption::PreemptorOf(const kube::Object& object,
                                        const kube::Object& holder) const {
  if (!deps_.enabled || object.IsDeleting()) return nullptr;
  if (!object.ns().empty()) {
    const kube::ObjectPtr preemptor =
        deps_.policies.PreemptorFor(object.ns(), object, PriorityToExceed(object.ns(), holder));
    if (preemptor != nullptr || !holder.ns().empty()) return preemptor;
  }
  return deps_.cluster_policies.PreemptorFor("", object, PriorityToExceed("", holder));
}

kube::ObjectPtr Preemption::HolderOf(const kube::Object& object) const {
  const kube::ObjectKey key = api::policy_scope::Namespaced::ClaimOn(object);
  const kube::ObjectPtr holder =
      key.name.empty() ? deps_.cluster_policies.Find(api::policy_scope::Cluster::ClaimOn(object))
                       : deps_.policies.Find(key);
  return holder == nullptr || holder->IsDeleting() ? nullptr : holder;
}

absl::StatusOr<bool> Preemption::Try(const kube::Resource& resource, const kube::ObjectPtr& object,
                                     const base::StopToken& stop) {
  if (!deps_.enabled) return false;
  const kube::ObjectPtr holder = HolderOf(*object);
  if (holder == nullptr) return false;
  const kube::ObjectPtr preemptor = PreemptorOf(*object, *holder);
  // The index may lag behind the cache for a moment, and know an earlier priority of the holder.
  if (preemptor == nullptr || preemptor->uid() == holder->uid()) return false;
  const ClaimRequest claim{object, preemptor.get()};
  kube::ClusterClient& client = deps_.manager.cluster();
  const absl::Status written =
      (preemptor->ns().empty()
           ? Claim<api::policy_scope::Cluster>(client, resource, claim, stop)
           : Claim<api::policy_scope::Namespaced>(client, resource, claim, stop))
          .status();
  const absl::Status result =
      deps_.memory.outcomes.Judge(OutcomesOf(*object), kPreempting, written);
  if (kube::IsNoOutcome(result)) return result;
  Report(*object, *preemptor, *holder, result);
  RETURN_IF_ERROR(
      base::Annotate(result, "claiming ", object->Describe(), " for ", preemptor->Describe()));
  return true;
}

void Preemption::Report(const kube::Object& object, const kube::Object& preemptor,
                        const kube::Object& holder, const absl::Status& result) {
  deps_.manager.registry()
      .GetCounter("policy_preemption_total",
                  "Number of attempts of a policy to take a resource template over from another "
                  "one.",
                  {{"result", result.ok() ? "success" : "error"}})
      .Increment();
  deps_.memory.outcomes.Outcome(
      {.of = OutcomesOf(object),
       .part = kPreempting,
       .about = {kube::InvolvedObject::Of(object)},
       .success = {api::reason::kPreemptPolicySucceed,
                   api::message::PolicyPreempted(preemptor.key(), holder.key())},
       .failure = {api::reason::kPreemptPolicyFailed,
                   api::message::PolicyNotPreempted(preemptor.key(), holder.key(), result)},
       .changed = true},
      result);
}

}  // namespace detector
