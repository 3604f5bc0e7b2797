// When a Cluster is updated: the kinds that it serves now and did not serve before are determined;
// an index finds the bindings that the scheduler refused because of such a kind; of these, the
// policies whose placement may choose this cluster get a warning each, however many objects they
// have. The scheduler does not look at such bindings again by itself, and this program is not the
// scheduler, so a warning that says what to do is all. It runs in the informer's handler and asks
// no server; what happens while this process does not work is not reported later.

#include "detector/late_kinds.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_resource.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/keys.h"
#include "api/policy_scope.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"

namespace detector {
namespace {

// The scheduler's reason for a binding that fits no cluster; it is not tried again. The message has
// this text when the kind is why at least one of the clusters does not fit.
constexpr char kNoClusterFit[] = "NoClusterFit";
constexpr char kNotServed[] = "did not have the API resource";

// The index of bindings that are in no cluster because of their kind, by that kind.
constexpr char kUnplacedByKind[] = "unplaced-by-kind";

std::set<kube::Gvk> KindsOf(const kube::Object& cluster) {
  std::set<kube::Gvk> kinds;
  for (const json::Value& enablement : cluster.status()["apiEnablements"].items()) {
    for (const json::Value& resource : enablement["resources"].items()) {
      absl::StatusOr<kube::Gvk> gvk =
          kube::ParseGvk(enablement["groupVersion"].AsString(), resource["kind"].AsString());
      if (gvk.ok()) kinds.insert(*std::move(gvk));
    }
  }
  return kinds;
}

// Returns whether the cluster has one of the taints that are removed when it becomes ready.
bool IsTaintedNotReady(const kube::Object& cluster) {
  const std::vector<api::Taint> taints = api::ClusterView(cluster).Taints();
  return std::any_of(taints.begin(), taints.end(), [](const api::Taint& taint) {
    return taint.key == api::kNotReadyTaint || taint.key == api::kUnreachableTaint;
  });
}

// Returns the kinds that the cluster serves after the update and did not serve before. There are
// none in a cluster that is about to become ready (one that joins, above all): the scheduler looks
// at all bindings when the taint is removed.
std::set<kube::Gvk> KindsBegun(const kube::Object& before, const kube::Object& after) {
  if (before.status()["apiEnablements"] == after.status()["apiEnablements"]) return {};
  const std::set<kube::Gvk> known = KindsOf(before);
  if (known.empty() || IsTaintedNotReady(after)) return {};
  std::set<kube::Gvk> begun = KindsOf(after);
  std::erase_if(begun, [&](const kube::Gvk& gvk) { return known.contains(gvk); });
  return begun;
}

bool IsUnplacedBecauseOfKind(const api::BindingView& binding) {
  const json::Value* scheduled = kube::FindCondition(binding.Conditions(), api::kBindingScheduled);
  return scheduled != nullptr && (*scheduled)["status"].AsString() == "False" &&
         (*scheduled)["reason"].AsString() == kNoClusterFit &&
         absl::StrContains((*scheduled)["message"].AsString(), kNotServed) &&
         binding.Clusters().empty();
}

std::vector<std::string> UnplacedKind(const kube::Object& object) {
  const api::BindingView binding(object);
  if (object.IsDeleting() || !api::MayStandForResource(object) || !IsUnplacedBecauseOfKind(binding))
    return {};
  return {binding.Resource().gvk().ToString()};
}

bool MayChoose(const api::BindingView& binding, const kube::Object& cluster) {
  const std::vector<api::ClusterAffinity> affinities = api::AffinitiesOf(binding.Placement());
  const api::ClusterView view(cluster);
  return std::any_of(affinities.begin(), affinities.end(),
                     [&](const api::ClusterAffinity& affinity) { return affinity.Matches(view); });
}

kube::ObjectKey PolicyOf(const kube::Object& binding) {
  kube::ObjectKey policy = api::policy_scope::Namespaced::ClaimOn(binding);
  return policy.name.empty() ? api::policy_scope::Cluster::ClaimOn(binding) : policy;
}

}  // namespace

LateKinds::LateKinds(kube::Manager& manager, const PolicyIndex& policies,
                     const PolicyIndex& cluster_policies)
    : manager_(manager),
      policies_(policies),
      cluster_policies_(cluster_policies),
      recorder_(manager.events(), api::kDetectorSource) {
  for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    manager.cluster().informers().Get(*bindings)->AddIndex(kUnplacedByKind, UnplacedKind);
  }
}

void LateKinds::OnClusterUpdated(const kube::Object& before, const kube::Object& after) {
  const std::set<kube::Gvk> begun = KindsBegun(before, after);
  if (begun.empty()) return;
  for (const Concerned& concerned : ConcernedBy(begun, after)) {
    const PolicyIndex& index = concerned.policy.ns.empty() ? cluster_policies_ : policies_;
    const kube::ObjectPtr policy = index.Find(concerned.policy);
    if (policy == nullptr || policy->IsDeleting()) continue;
    const std::string kind = absl::StrCat(concerned.kind.ApiVersion(), " ", concerned.kind.kind);
    base::LogInfo("a cluster begins to serve the kind of objects that are in no cluster",
                  {{"cluster", after.name()}, {"kind", kind}, {"policy", policy->Describe()}});
    recorder_.Warning(
        kube::InvolvedObject::Of(*policy), api::reason::kKindServedLate,
        absl::StrCat("clusters serve ", kind,
                     " now, but objects of it that were bound before are in no cluster, and the "
                     "scheduler does not look at them again: change them, or name them in a "
                     "WorkloadRebalancer"));
  }
}

std::set<LateKinds::Concerned> LateKinds::ConcernedBy(const std::set<kube::Gvk>& begun,
                                                      const kube::Object& cluster) const {
  std::set<Concerned> concerned;
  const auto consider = [&](const kube::Object& binding, const kube::Gvk& kind) {
    Concerned one{PolicyOf(binding), kind};
    if (concerned.contains(one) || !MayChoose(api::BindingView(binding), cluster)) return;
    concerned.insert(std::move(one));
  };
  for (const kube::Gvk& kind : begun) {
    for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
      for (const kube::ObjectPtr& binding :
           manager_.cluster().ByIndex(*bindings, kUnplacedByKind, kind.ToString())) {
        consider(*binding, kind);
      }
    }
  }
  return concerned;
}

}  // namespace detector
