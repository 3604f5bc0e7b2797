#include "controllers/cluster_status/new_definitions.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/names.h"
#include "api/work.h"

namespace controllers {
namespace {

// A member's discovery lists a new kind a moment after its definition is established.
constexpr absl::Duration kUntilDiscovered = absl::Seconds(1);

bool HasDefinition(const kube::Object& work) {
  const absl::Span<const json::Value> manifests = api::WorkView(work).Manifests();
  return std::any_of(manifests.begin(), manifests.end(), [](const json::Value& manifest) {
    return manifest["kind"].AsString() == "CustomResourceDefinition";
  });
}

std::vector<kube::Request> ClusterOf(const kube::Object& work) {
  absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work.ns());
  if (!cluster.ok()) return {};
  return {{.key = {"", *std::move(cluster)}}};
}

}  // namespace

kube::Enqueue AfterNewDefinitions() {
  return {.when = {.add = kube::Never,
                   .update =
                       [](const kube::Object& before, const kube::Object& after) {
                         return HasDefinition(after) && before.status() != after.status();
                       },
                   .remove = kube::Never},
          .map = ClusterOf,
          .delay = kUntilDiscovered};
}

}  // namespace controllers
