// Follows the rules of upstream's pkg/scheduler/core/spreadconstraint as of v1.18 and v1.19.
//
// A set of regions is tried only as far as it has enough clusters: regions are added in the order
// of how many clusters they have, the smallest first, and a set that suffices is not made larger.
// Of the sets that suffice the one with the highest sum of scores wins, then the one with more
// clusters, then the one that was found first. If another set is the beginning of the winner, with
// the best region first, that one is enough.

#include "sandbox/sim/region_spread.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sandbox {
namespace {

// Room weighs so much more than that the binding is there already.
constexpr int64_t kRoomWeight = 1000;
constexpr int64_t kTargetScore = 100;

int64_t TargetScore(const RankedCluster& cluster) { return cluster.is_target ? kTargetScore : 0; }

// Each cluster gets all replicas: those that have room for them count.
int64_t ScoreOfDuplicated(absl::Span<const RankedCluster> clusters, int64_t replicas) {
  int64_t roomy = 0, score = 0;
  for (const RankedCluster& cluster : clusters) {
    if (cluster.available < replicas) continue;
    ++roomy;
    score += TargetScore(cluster);
  }
  return roomy == 0 ? 0 : roomy * kRoomWeight + score / roomy;
}

using Set = std::vector<const Region*>;

struct RatedSet {
  Set regions;
  int64_t score = 0, clusters = 0;
};

class Search {
 public:
  Search(const std::vector<Region>& regions, const RegionSpread& wanted)
      : regions_(regions), wanted_(wanted) {}

  std::vector<RatedSet> Run() {
    Extend(0, 0);
    return std::move(found_);
  }

 private:
  void Extend(size_t begin, int64_t clusters) {
    const auto size = static_cast<int64_t>(set_.size());
    if (clusters >= wanted_.least_clusters && size >= wanted_.least_regions &&
        size <= wanted_.most_regions) {
      found_.push_back(Rate(set_));
      return;
    }
    if (size >= wanted_.most_regions) return;
    for (size_t i = begin; i < regions_.size(); ++i) {
      set_.push_back(&regions_[i]);
      Extend(i + 1, clusters + regions_[i].clusters);
      set_.pop_back();
      // Where all regions are needed, only the set of all has to be looked at.
      if (static_cast<int64_t>(regions_.size()) == wanted_.least_regions) break;
    }
  }

  static RatedSet Rate(Set regions) {
    std::sort(regions.begin(), regions.end(), [](const Region* a, const Region* b) {
      return std::tie(b->score, a->name) < std::tie(a->score, b->name);
    });
    RatedSet rated{std::move(regions)};
    for (const Region* region : rated.regions) {
      rated.score += region->score;
      rated.clusters += region->clusters;
    }
    return rated;
  }

  const std::vector<Region>& regions_;
  const RegionSpread& wanted_;
  Set set_;
  std::vector<RatedSet> found_;
};

bool IsBeginningOf(const Set& some, const Set& all) {
  return some.size() < all.size() && std::equal(some.begin(), some.end(), all.begin());
}

const Set& BestOf(std::vector<RatedSet>& sets) {
  // Sets that are equally good stay in the order in which they were found.
  std::stable_sort(sets.begin(), sets.end(), [](const RatedSet& a, const RatedSet& b) {
    return std::tie(a.score, a.clusters) > std::tie(b.score, b.clusters);
  });
  const Set* best = &sets.front().regions;
  for (const RatedSet& other : sets) {
    if (IsBeginningOf(other.regions, *best)) best = &other.regions;
  }
  return *best;
}

}  // namespace

int64_t ScoreOf(absl::Span<const RankedCluster> clusters, const RegionSpread& wanted) {
  if (!wanted.is_divided) return ScoreOfDuplicated(clusters, wanted.replicas);
  const int64_t regions = std::max<int64_t>(1, wanted.least_regions);
  const int64_t share = (wanted.replicas + regions - 1) / regions;
  const int64_t least = std::max(wanted.least_clusters, wanted.least_regions);
  int64_t available = 0, score = 0, counted = 0;
  for (const RankedCluster& cluster : clusters) {
    available += cluster.available;
    score += TargetScore(cluster);
    ++counted;
    if (counted >= least && available >= share) break;
  }
  if (counted == 0) return 0;
  // Where the room does not suffice, all clusters have been counted.
  return std::min(available, share) * kRoomWeight + score / counted;
}

std::vector<std::string> ChooseRegions(std::vector<Region> regions, const RegionSpread& wanted) {
  std::sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) {
    return std::tie(a.clusters, b.score, a.name) < std::tie(b.clusters, a.score, b.name);
  });
  std::vector<RatedSet> sets = Search(regions, wanted).Run();
  std::vector<std::string> names;
  if (sets.empty()) return names;
  for (const Region* region : BestOf(sets)) names.push_back(region->name);
  return names;
}

}  // namespace sandbox
