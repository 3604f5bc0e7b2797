#include "binding/removal.h"

#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "api/names.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "api/work.h"
#include "kube/client/errors.h"

namespace binding {
namespace {

template <class PolicyScope>
bool PolicyPreserves(const kube::Object& binding, kube::ClusterClient& control_plane) {
  const kube::ObjectKey key = PolicyScope::ClaimOn(binding);
  if (key.name.empty()) return false;
  const kube::ObjectPtr policy = control_plane.Find(PolicyScope::Policies(), key);
  return policy != nullptr &&
         // A policy that was made again under the same name has not claimed this binding.
         policy->Label(PolicyScope::kIdLabel) == binding.Label(PolicyScope::kIdLabel) &&
         policy->spec()["preserveResourcesOnDeletion"].AsBool();
}

bool Preserves(const kube::Object& binding, kube::ClusterClient& control_plane) {
  using api::policy_scope::Cluster;
  using api::policy_scope::Namespaced;
  return api::BindingView(binding).PreserveResourcesOnDeletion().value_or(false) ||
         PolicyPreserves<Namespaced>(binding, control_plane) ||
         PolicyPreserves<Cluster>(binding, control_plane);
}

bool MustPreserve(const api::BindingView& binding, kube::ClusterClient& control_plane) {
  if (Preserves(binding.object(), control_plane)) return true;
  return absl::c_any_of(binding.RequiredBy(), [&](const api::BindingSnapshot& referrer) {
    // Nobody attaches a binding of another namespace, and nothing of that one may be learned here.
    if (referrer.ns != binding.object().ns()) return false;
    const kube::ObjectPtr found =
        control_plane.Find(api::ResourceBindings(), {referrer.ns, referrer.name});
    return found != nullptr && Preserves(*found, control_plane);
  });
}

}  // namespace

bool StaysSuspended(const api::BindingView& binding, const std::string& cluster,
                    kube::ClusterClient& control_plane) {
  if (!binding.IsDispatchingSuspended(cluster)) return false;
  const bool is_evicted =
      absl::c_any_of(binding.EvictionTasks(),
                     [&](const api::EvictionTask& task) { return task.from_cluster == cluster; });
  if (is_evicted) return false;
  const kube::ObjectPtr member = control_plane.Find(api::Clusters(), {"", cluster});
  return member != nullptr && !member->IsDeleting();
}

bool IsPurging(const api::BindingView& binding,
               absl::FunctionRef<std::vector<kube::ObjectPtr>()> works) {
  const std::set<std::string> purged = binding.ClustersPurgedAtOnce();
  if (purged.empty()) return false;
  return absl::c_any_of(works(), [&](const kube::ObjectPtr& work) {
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work->ns());
    return cluster.ok() && purged.contains(*cluster);
  });
}

absl::StatusOr<kube::ObjectPtr> Preserve(kube::ClusterClient& control_plane,
                                         const kube::ObjectPtr& work, const base::StopToken& stop) {
  if (api::WorkView(*work).PreservesResourcesOnDeletion()) return work;
  kube::Object after = *work;
  after.Set({"spec", "preserveResourcesOnDeletion"}, true);
  return control_plane.Update(api::Works(), work, after, {}, stop);
}

absl::Status KeepPreserved(const api::BindingView& binding,
                           const std::vector<kube::ObjectPtr>& works,
                           kube::ClusterClient& control_plane, kube::FanOut& fan_out,
                           const base::StopToken& stop) {
  if (works.empty() || !MustPreserve(binding, control_plane)) return absl::OkStatus();
  return fan_out.Run(works.size(), [&](size_t i) {
    // Its end has begun under what it said then.
    if (works[i]->IsDeleting()) return absl::OkStatus();
    return kube::IgnoreGone(Preserve(control_plane, works[i], stop).status());
  });
}

}  // namespace binding
