#include "api/binding_usage.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace api {
namespace {

constexpr char kRequest[] = "resourceRequest";

int64_t NotNegative(int64_t count) { return std::max<int64_t>(count, 0); }

absl::StatusOr<ResourceList> UsageOfComponents(const BindingView& binding, int64_t clusters) {
  ResourceList set;
  const auto components = binding.Components().items();
  for (size_t i = 0; i < components.size(); ++i) {
    const auto request = ResourceList::FromLimits(components[i]["replicaRequirements"][kRequest]);
    RETURN_IF_ERROR(base::Annotate(
        request.status(), absl::StrCat("spec.components[", i, "].replicaRequirements.", kRequest)));
    set.Add(*request, NotNegative(components[i]["replicas"].AsInt()));
  }
  ResourceList all;
  all.Add(set, clusters);
  return all;
}

}  // namespace

absl::StatusOr<ResourceList> UsageOf(const BindingView& binding) {
  const std::vector<TargetCluster> clusters = binding.Clusters();
  ResourceList usage;
  if (!binding.Components().empty()) {
    ASSIGN_OR_RETURN(usage, UsageOfComponents(binding, static_cast<int64_t>(clusters.size())));
  } else {
    const auto request = ResourceList::FromLimits(binding.ReplicaRequirements()[kRequest]);
    RETURN_IF_ERROR(base::Annotate(request.status(), "spec.replicaRequirements.", kRequest));
    int64_t replicas = 0;
    for (const TargetCluster& cluster : clusters) replicas += NotNegative(cluster.replicas);
    usage.Add(*request, replicas);
  }
  usage.DropZeros();
  return usage;
}

bool MayUseOther(const kube::Object& before, const kube::Object& after) {
  for (const char* field : {"clusters", "components", "replicaRequirements"}) {
    if (before.spec()[field] != after.spec()[field]) return true;
  }
  return false;
}

}  // namespace api
