// What objects of Karmada's own kinds do to others without saying so: templates that a
// FederatedResourceQuota refuses, and a MultiClusterService whose providers have no endpoints.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/multi_cluster_service.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "lens/why/own_kinds.h"
#include "lens/why/placement.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kTemplate;

// Returns whether the EndpointSlice has an endpoint that takes connections.
bool HasEndpoint(const kube::Object& slice) {
  const auto& endpoints = slice.root()["endpoints"].items();
  return std::any_of(endpoints.begin(), endpoints.end(), [](const json::Value& endpoint) {
    return endpoint["conditions"]["ready"].AsBool(true) && !endpoint["addresses"].empty();
  });
}

}  // namespace

Findings QuotaRefusesTemplates(const Chain& chain) {
  if (chain.object == nullptr || chain.asked.gvk != api::FederatedResourceQuotas().gvk) return {};
  std::vector<std::string> refused;
  for (const kube::ObjectPtr& binding : chain.own_bindings) {
    const json::Value* scheduled =
        kube::FindCondition(api::BindingView(*binding).Conditions(), api::kBindingScheduled);
    const bool is_refused = scheduled != nullptr && (*scheduled)["status"].AsString() == "False" &&
                            QuotaIn((*scheduled)["message"].AsString()) == chain.Name();
    if (is_refused) refused.push_back(api::BindingView(*binding).Resource().Describe());
  }
  if (refused.empty()) return {};
  return {
      {kStep, Grade::kStuck, absl::StrCat(chain.Name(), " leaves no room for ", Some(refused)),
       absl::StrCat("raise its spec.overall, or have ",
                    refused.size() == 1 ? "that template" : "these templates", " ask for less")}};
}

Findings ServiceHasNoEndpoints(const Chain& chain) {
  if (chain.object == nullptr || chain.asked.gvk != api::MultiClusterServices().gvk) return {};
  const api::MultiClusterServiceView view(*chain.object);
  const kube::ObjectKey works{"", ""};
  if (!view.IsCrossCluster() || chain.object->IsDeleting()) return {};
  // As long as nobody has looked at it, that is what is wrong.
  if (chain.object->status()["conditions"].empty()) return {};
  if (!chain.CouldRead(api::Works().gvk, works)) return {};
  for (const kube::ObjectPtr& work : chain.own_works) {
    const auto cluster = api::ClusterOfExecutionNamespace(work->ns());
    if (!cluster.ok() || !view.Means(api::ServiceRole::kProvider, *cluster)) continue;
    for (const json::Value& manifest : api::WorkView(*work).Manifests()) {
      if (HasEndpoint(kube::Object(manifest))) return {};
    }
  }
  const std::set<std::string> named = view.ClustersIn(api::ServiceRole::kProvider);
  return {
      {kStep, Grade::kStuck,
       absl::StrCat("no provider of ", chain.Name(), " has a ready endpoint of Service ",
                    chain.asked.key.ToString(),
                    named.empty() ? "" : absl::StrCat(" (", absl::StrJoin(named, ", "), ")"),
                    ", so its consumers reach nothing"),
       "have the Pods that the Service selects run in a provider, or name as provider a cluster "
       "in which they run (spec.providerClusters)"}};
}

}  // namespace lens::why
