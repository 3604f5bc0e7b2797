// Chooses regions for a spread constraint by region, as karmada-scheduler does: pure functions.
#ifndef SANDBOX_SIM_REGION_SPREAD_H_
#define SANDBOX_SIM_REGION_SPREAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace sandbox {

// A cluster that may be chosen, as its region is judged by it.
struct RankedCluster {
  bool is_target = false;  // It has the binding already.
  int64_t available = 0;   // Replicas for which there is room, with those that it has.
};

// What is asked of the regions that are chosen.
struct RegionSpread {
  int64_t least_regions = 1, most_regions = 0;
  int64_t least_clusters = 1;  // In all of them.
  int64_t replicas = 0;
  bool is_divided = false;  // The replicas are divided, and not the same in each cluster.
};

// How good a region is. `clusters` are its candidates, the best one first.
int64_t ScoreOf(absl::Span<const RankedCluster> clusters, const RegionSpread& wanted);

struct Region {
  std::string name;
  int64_t clusters = 0;  // How many candidates it has.
  int64_t score = 0;
};

// Returns the names of the chosen regions, the best one first: as few as have enough clusters, and
// of these those that score most together. Empty when no regions have enough.
std::vector<std::string> ChooseRegions(std::vector<Region> regions, const RegionSpread& wanted);

}  // namespace sandbox

#endif  // SANDBOX_SIM_REGION_SPREAD_H_
