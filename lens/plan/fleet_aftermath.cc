#include "lens/plan/fleet_aftermath.h"

#include <algorithm>

#include "controllers/taint_manager/eviction_pace.h"
#include "controllers/taint_manager/eviction_queue.h"

namespace lens::plan {

const Departure* FleetAftermath::DepartureOf(const ObjectId& id, const std::string& cluster) const {
  const auto found = departures.find({id, cluster});
  return found == departures.end() ? nullptr : &found->second.front();
}

absl::Duration FleetAftermath::EvictionsTake(const config::Options& options) const {
  if (departures.empty()) return absl::ZeroDuration();
  size_t namespaced = 0, cluster_wide = 0;
  const auto count = [&](const Departure& departure) {
    ++(departure.id.ns.empty() ? cluster_wide : namespaced);
  };
  for (const auto& [from, of_one] : departures) {
    for (const Departure& departure : of_one) count(departure);
  }
  // What is tolerated for a time yet is put into the queue later.
  for (const Departure& departure : earlier) {
    if (departure.stay <= absl::ZeroDuration()) count(departure);
  }
  const size_t most = std::max(namespaced, cluster_wide);
  const double rate = options.taint_eviction.rate;
  const absl::Duration rest =
      rate > 0 ? absl::Seconds(1) / rate : controllers::EvictionPace::kLongestPause;
  return rest * static_cast<int64_t>((most - 1) / controllers::EvictionQueue::kWorkers);
}

}  // namespace lens::plan
