#include "sandbox/sim/cluster_room.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "absl/strings/string_view.h"
#include "kube/meta/quantity.h"

namespace sandbox {
namespace {

// As many pods as upstream believes that a node holds.
constexpr int64_t kPodsOnNode = 110;

// Returns the amount in the unit in which upstream's estimator counts: CPU in thousandths,
// everything else in whole units.
int64_t AmountOf(absl::string_view resource, const kube::Quantity& quantity) {
  return resource == "cpu" ? quantity.MilliValue() : quantity.Value();
}

// Returns how many replicas fit a node that has the minima of a model's ranges, and nothing of what
// the model does not name.
int64_t RoomOnNode(const json::Value& ranges, const json::Value& request) {
  int64_t room = kPodsOnNode;
  for (const json::Member& member : request.members()) {
    const auto needed = kube::Quantity::FromJson(member.value);
    if (!needed.ok() || needed->Sign() <= 0) continue;
    int64_t have = 0;
    for (const json::Value& range : ranges.items()) {
      if (range["name"].AsString() != member.name()) continue;
      have = AmountOf(member.name(),
                      kube::Quantity::FromJson(range["min"]).value_or(kube::Quantity()));
    }
    room = std::min(room, have / AmountOf(member.name(), *needed));
  }
  return room;
}

// Follows upstream's getMaximumReplicasBasedOnResourceModels of v1.18 and v1.19. Returns nothing
// when the Cluster has no models, or has not counted its nodes by them.
std::optional<int64_t> RoomByModels(const kube::Object& cluster, const json::Value& request) {
  const json::Value& models = cluster.spec()["resourceModels"];
  const json::Value& counts = cluster.status()["resourceSummary"]["allocatableModelings"];
  if (models.empty() || counts.empty()) return std::nullopt;
  std::map<int64_t, int64_t> nodes, room_on_node;  // By grade.
  for (const json::Value& count : counts.items()) {
    if (count["count"].AsInt() < 0) return std::nullopt;
    nodes[count["grade"].AsInt()] += count["count"].AsInt();
  }
  for (const json::Value& model : models.items()) {
    room_on_node[model["grade"].AsInt()] = RoomOnNode(model["ranges"], request);
  }
  int64_t room = 0;
  for (const auto& [grade, on_node] : room_on_node) room += on_node * nodes[grade];
  return room;
}

// Returns how much of the resource is in use by nobody, and reserved for nobody.
kube::Quantity FreeOf(const json::Value& summary, absl::string_view resource) {
  const auto amount = [&](absl::string_view part) {
    return kube::Quantity::FromJson(summary[part][resource]).value_or(kube::Quantity());
  };
  kube::Quantity left = amount("allocatable");
  left.Sub(amount("allocated"));
  left.Sub(amount("allocating"));
  return left;
}

int64_t RoomBySums(const json::Value& summary, const json::Value& request) {
  int64_t room = std::numeric_limits<int64_t>::max();
  for (const json::Member& member : request.members()) {
    const auto needed = kube::Quantity::FromJson(member.value);
    if (!needed.ok() || needed->Sign() <= 0) continue;
    const int64_t have = AmountOf(member.name(), FreeOf(summary, member.name()));
    room = std::min(room, std::max<int64_t>(0, have) / AmountOf(member.name(), *needed));
  }
  return room;
}

}  // namespace

int64_t RoomIn(const kube::Object& cluster, const json::Value& replica_requirements,
               bool by_models) {
  const json::Value& summary = cluster.status()["resourceSummary"];
  if (summary.is_null()) return 0;
  const int64_t pods = std::max<int64_t>(0, FreeOf(summary, "pods").Value());
  // As upstream: models are not looked at for what asks for nothing at all.
  if (pods == 0 || replica_requirements.is_null()) return pods;
  const json::Value& request = replica_requirements["resourceRequest"];
  const auto room = by_models ? RoomByModels(cluster, request) : std::nullopt;
  return std::min(pods, room.has_value() ? *room : RoomBySums(summary, request));
}

}  // namespace sandbox
