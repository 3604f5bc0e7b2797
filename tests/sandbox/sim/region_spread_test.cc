// Spread by region. The cases have been worked out by hand from upstream's rules; those of the
// scores are the examples in upstream's comments.
#include "sandbox/sim/region_spread.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_join.h"

namespace sandbox {
namespace {

std::vector<RankedCluster> Clusters(bool are_targets, const std::vector<int64_t>& available) {
  std::vector<RankedCluster> clusters;
  for (const int64_t replicas : available) clusters.push_back({are_targets, replicas});
  return clusters;
}

}  // namespace

TEST_CASE("a region in which each cluster gets all replicas scores by how many have room") {
  const RegionSpread wanted{.replicas = 50};
  CHECK(ScoreOf(Clusters(true, {60, 70, 40, 30, 10}), wanted) == 2 * 1000 + 100);
  CHECK(ScoreOf(Clusters(false, {60, 60, 60, 60}), wanted) == 4 * 1000);
  CHECK(ScoreOf(Clusters(true, {60, 70, 10, 10, 5}), wanted) == 2 * 1000 + 100);
  CHECK(ScoreOf(Clusters(false, {100, 100, 10, 10}), wanted) == 2 * 1000);
  CHECK(ScoreOf(Clusters(true, {49}), wanted) == 0);
  CHECK(ScoreOf({{true, 60}, {false, 60}}, wanted) == 2 * 1000 + 50);
}

TEST_CASE("a region among which replicas are divided scores by its room, up to its share") {
  RegionSpread wanted{.least_regions = 2, .least_clusters = 1, .replicas = 100, .is_divided = true};
  CHECK(ScoreOf(Clusters(true, {10, 10, 10, 10, 5}), wanted) == 45 * 1000 + 100);
  CHECK(ScoreOf(Clusters(false, {40, 30, 10, 10}), wanted) == 50 * 1000);
  CHECK(ScoreOf(Clusters(true, {40, 40, 10, 10, 5}), wanted) == 50 * 1000 + 100);
  CHECK(ScoreOf(Clusters(false, {100, 100, 10, 10}), wanted) == 50 * 1000);
  // The share is rounded up: 51 of 101.
  wanted.replicas = 101;
  CHECK(ScoreOf(Clusters(false, {50, 1}), wanted) == 51 * 1000);
  CHECK(ScoreOf(Clusters(false, {50}), wanted) == 50 * 1000);
  // Only the clusters that are needed count for what is there already: the first two.
  CHECK(ScoreOf({{true, 40}, {false, 40}, {true, 40}}, wanted) == 51 * 1000 + 50);
}

TEST_CASE("regions are chosen by their scores, as few as have enough clusters") {
  struct Case {
    const char* name;
    std::vector<Region> regions;
    int64_t least_regions, most_regions, least_clusters;
    const char* chosen;
  };
  const Case cases[] = {
      {"the best one", {{"a", 1, 10}, {"b", 1, 30}, {"c", 1, 20}}, 1, 1, 1, "b"},
      {"of equal ones the one with more clusters", {{"a", 1, 10}, {"b", 2, 10}}, 1, 1, 1, "b"},
      {"of equal ones the first name", {{"b", 1, 10}, {"a", 1, 10}}, 1, 1, 1, "a"},
      // {a, b} has two clusters only; of {a, c}, {a, d}, {b, c}, {b, d} and {c, d} the first one
      // has the highest sum.
      {"the best pair with enough clusters",
       {{"a", 1, 40}, {"b", 1, 30}, {"c", 2, 20}, {"d", 2, 10}},
       2,
       2,
       3,
       "a c"},
      {"more regions where few have not enough clusters",
       {{"a", 1, 10}, {"b", 1, 30}, {"c", 1, 20}},
       1,
       3,
       3,
       "b c a"},
      // {g1, g2} scores 50, but {g1} is its beginning and has two clusters.
      {"no more regions than are needed",
       {{"g1", 2, 30}, {"g2", 1, 20}, {"g3", 1, 10}},
       1,
       3,
       2,
       "g1"},
      // {g2, g3} and {g1} suffice; {g2, g1} begins with g2.
      {"but what is no beginning does not count",
       {{"g1", 2, 20}, {"g2", 1, 30}, {"g3", 1, 10}},
       1,
       3,
       2,
       "g2 g1"},
      {"all, where as many are needed", {{"a", 1, 10}, {"b", 1, 20}}, 2, 2, 2, "b a"},
      {"none, where all together have too few clusters", {{"a", 1, 10}, {"b", 1, 20}}, 1, 2, 3, ""},
      {"none, where too few regions may be taken", {{"a", 1, 10}, {"b", 1, 20}}, 1, 1, 2, ""},
      {"none, where the most was not written", {{"a", 1, 10}}, 1, 0, 1, ""},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const RegionSpread wanted{.least_regions = c.least_regions,
                              .most_regions = c.most_regions,
                              .least_clusters = c.least_clusters};
    CHECK(absl::StrJoin(ChooseRegions(c.regions, wanted), " ") == c.chosen);
  }
}

}  // namespace sandbox
