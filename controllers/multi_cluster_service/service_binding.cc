#include "controllers/multi_cluster_service/service_binding.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/binding_address.h"
#include "api/keys.h"
#include "api/known_fields.h"
#include "api/multi_cluster_service.h"
#include "api/object_reference.h"

namespace controllers {
namespace {

json::Value OwnerReferenceTo(const kube::Object& target) {
  return json::Value::Array({json::Value::Object({{"apiVersion", target.api_version()},
                                                  {"kind", target.kind()},
                                                  {"name", target.name()},
                                                  {"uid", target.uid()}})});
}

// The detector and the dependencies distributor make the Service the controlling owner; that is no
// reason for a write.
bool BelongsTo(const kube::Object& binding, const kube::Object& target) {
  const std::vector<kube::OwnerRef> owners = binding.OwnerRefs();
  return std::any_of(owners.begin(), owners.end(),
                     [&](const kube::OwnerRef& owner) { return owner.uid == target.uid(); });
}

json::Value PlacementWith(json::Value names, const json::Value& before) {
  static const auto& field = *new api::KnownField{
      "placement",
      {{"clusterAffinity", {{"labelSelector"}, {"fieldSelector"}, {"clusterNames"}, {"exclude"}}},
       {"clusterAffinities"},
       {"clusterTolerations"},
       {"spreadConstraints"},
       {"replicaScheduling"},
       {"workloadAffinity"}}};
  json::Value placement = json::Value::Object();
  placement.Set({"clusterAffinity", "clusterNames"}, std::move(names));
  return api::WithUnknown(std::move(placement), before, field);
}

// Returns the placement in these clusters. Upstream writes them in a random order: if `before` has
// the same ones in another order, it stays, because a write would have them scheduled again.
json::Value PlacementIn(const std::set<std::string>& clusters, const json::Value& before) {
  const json::Value& before_names = before.Get({"clusterAffinity", "clusterNames"});
  std::set<std::string> known;
  for (const json::Value& name : before_names.items()) known.insert(name.ToString());
  const bool has_same = known == clusters && before_names.size() == clusters.size() &&
                        before == PlacementWith(before_names, before);
  if (has_same) return before;
  json::Value names = json::Value::Array();
  for (const std::string& cluster : clusters) names.Append(cluster);
  return PlacementWith(std::move(names), before);
}

}  // namespace

kube::Object ServiceBinding(const ServiceBindingParts& parts, const kube::Object* existing) {
  const api::BindingAddress at = api::BindingOf(parts.target.kind(), parts.target.key());
  kube::Object binding =
      existing != nullptr ? *existing : kube::Object::Make(at.resource.gvk, at.key);
  api::ClaimBinding(parts.service, binding);
  binding.AddFinalizer(api::kBindingFinalizer);
  if (!BelongsTo(binding, parts.target)) {
    binding.Set({"metadata", "ownerReferences"}, OwnerReferenceTo(parts.target));
  }
  binding.Set({"spec", "resource"},
              api::ObjectReference::Of(parts.target).ToJson(binding.spec()["resource"]));
  binding.Set({"spec", "placement"}, PlacementIn(parts.clusters, binding.spec()["placement"]));
  binding.Set({"spec", "conflictResolution"}, api::kResolveOverwrite);
  return binding;
}

bool DifferOnlyInServiceVersion(const kube::Object& a, const kube::Object& b) {
  constexpr absl::string_view kVersion[] = {"spec", "resource", "resourceVersion"};
  kube::Object same = a;
  same.Set(kVersion, b.Get(kVersion));
  return same == b;
}

bool OwnedPartChanged(const kube::Object& before, const kube::Object& after) {
  if (before.labels() != after.labels() || before.annotations() != after.annotations()) return true;
  for (const char* field : {"ownerReferences", "finalizers", "deletionTimestamp"}) {
    if (before.metadata()[field] != after.metadata()[field]) return true;
  }
  for (const char* field : {"resource", "placement", "conflictResolution"}) {
    if (before.spec()[field] != after.spec()[field]) return true;
  }
  return false;
}

}  // namespace controllers
