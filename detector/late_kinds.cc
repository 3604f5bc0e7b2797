#include "detector/late_kinds.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/keys.h"
#include "api/policy_scope.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"

namespace detector {
namespace {

// The scheduler's reason for a binding that fits no cluster; it is not tried again.
constexpr char kNoClusterFit[] = "NoClusterFit";

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

// Returns the kinds that the cluster serves after the update and did not serve before.
std::set<kube::Gvk> KindsBegun(const kube::Object& before, const kube::Object& after) {
  if (before.status()["apiEnablements"] == after.status()["apiEnablements"]) return {};
  const std::set<kube::Gvk> known = KindsOf(before);
  std::set<kube::Gvk> begun = KindsOf(after);
  std::erase_if(begun, [&](const kube::Gvk& gvk) { return known.contains(gvk); });
  return begun;
}

bool FitsNoCluster(const api::BindingView& binding) {
  const json::Value* scheduled = kube::FindCondition(binding.Conditions(), api::kBindingScheduled);
  return scheduled != nullptr && (*scheduled)["status"].AsString() == "False" &&
         (*scheduled)["reason"].AsString() == kNoClusterFit && binding.Clusters().empty();
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
      recorder_(manager.events(), api::kDetectorSource) {}

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
  for (const auto* bindings : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    const std::shared_ptr<kube::Informer> informer = manager_.cluster().informers().Find(*bindings);
    if (informer == nullptr) continue;
    for (const kube::ObjectPtr& object : informer->store().List()) {
      const api::BindingView binding(*object);
      if (object->IsDeleting() || !FitsNoCluster(binding)) continue;
      kube::Gvk kind = binding.Resource().gvk();
      if (!begun.contains(kind) || !MayChoose(binding, cluster)) continue;
      concerned.insert({PolicyOf(*object), std::move(kind)});
    }
  }
  return concerned;
}

}  // namespace detector
