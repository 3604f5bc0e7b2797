#include "sandbox/sim/replica_division.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/webster.h"
#include "base/status.h"

namespace sandbox {
namespace {

using Targets = std::vector<api::TargetCluster>;

int64_t AssignedTotal(const std::vector<Capacity>& clusters) {
  int64_t sum = 0;
  for (const Capacity& cluster : clusters) sum += cluster.assigned;
  return sum;
}

Targets AssignedNow(const std::vector<Capacity>& clusters) {
  Targets out;
  for (const Capacity& cluster : clusters) {
    if (cluster.assigned > 0) out.push_back({cluster.name, cluster.assigned});
  }
  return out;
}

// Keeps clusters that already have replicas first, then as many as are needed to reach `seats`.
void KeepFewest(std::vector<Party>& parties, const std::vector<Capacity>& clusters, int64_t seats) {
  std::stable_partition(parties.begin(), parties.end(), [&](const Party& party) {
    return std::any_of(clusters.begin(), clusters.end(), [&](const Capacity& cluster) {
      return cluster.name == party.name && cluster.assigned > 0;
    });
  });
  int64_t sum = 0;
  size_t kept = 0;
  while (kept < parties.size() && sum < seats) sum += parties[kept++].weight;
  parties.resize(kept);
}

Targets Sum(const Targets& a, const Targets& b) {
  std::map<std::string, int64_t> total;
  for (const api::TargetCluster& target : a) total[target.name] += target.replicas;
  for (const api::TargetCluster& target : b) total[target.name] += target.replicas;
  Targets out;
  for (const auto& [name, replicas] : total) out.push_back({name, replicas});
  return out;
}

}  // namespace

Targets DivideByWeight(int64_t seats, absl::Span<const Party> parties,
                       absl::string_view tie_break) {
  Targets weights;
  for (const Party& party : parties) weights.push_back({party.name, party.weight});
  Targets out;
  for (api::TargetCluster& share : api::DivideByWeight(seats, weights, tie_break)) {
    if (share.replicas > 0) out.push_back(std::move(share));
  }
  return out;
}

absl::StatusOr<Targets> DivideByRoom(std::vector<Capacity> clusters, const DynamicDivision& how) {
  const int64_t assigned = AssignedTotal(clusters);
  if (!how.fresh && assigned == how.replicas) return AssignedNow(clusters);
  const bool shrink = !how.fresh && assigned > how.replicas;
  const bool grow = !how.fresh && !shrink;
  // Growing divides only what is new, by room; shrinking divides all, by what each has now; a fresh
  // division ignores what each has, but counts it as room.
  const int64_t seats = grow ? how.replicas - assigned : how.replicas;
  std::vector<Party> parties;
  int64_t sum = 0;
  for (const Capacity& cluster : clusters) {
    int64_t weight = cluster.room;
    if (shrink) weight = cluster.assigned;
    if (how.fresh) weight = cluster.room + cluster.assigned;
    parties.push_back({cluster.name, weight});
    sum += weight;
  }
  if (sum < seats) {
    return absl::ResourceExhaustedError(
        absl::StrCat("Clusters available replicas ", sum, " are not enough to schedule."));
  }
  std::stable_sort(parties.begin(), parties.end(),
                   [](const Party& a, const Party& b) { return a.weight > b.weight; });
  if (how.fresh) {
    for (Capacity& cluster : clusters) cluster.assigned = 0;
  }
  if (how.aggregated) KeepFewest(parties, clusters, seats);
  const Targets divided = DivideByWeight(seats, parties, how.tie_break);
  return grow ? Sum(AssignedNow(clusters), divided) : divided;
}

}  // namespace sandbox
