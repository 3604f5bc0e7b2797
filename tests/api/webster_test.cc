#include "api/webster.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"

namespace {

using api::TargetCluster;

// Returns the shares of parties m1, m2, ... with these weights.
std::vector<int64_t> Divide(int64_t seats, std::vector<int64_t> weights,
                            absl::string_view uid = "") {
  std::vector<TargetCluster> parties;
  for (size_t i = 0; i < weights.size(); ++i) {
    parties.push_back({absl::StrCat("m", i + 1), weights[i]});
  }
  std::vector<int64_t> shares;
  for (const TargetCluster& share : api::DivideByWeight(seats, parties, uid)) {
    shares.push_back(share.replicas);
  }
  return shares;
}

// Divides seat by seat, to compare with the division that skips steps.
std::vector<int64_t> DivideSlowly(int64_t seats, const std::vector<int64_t>& weights) {
  std::vector<int64_t> held(weights.size());
  for (; seats > 0; --seats) {
    size_t best = 0;
    for (size_t i = 1; i < weights.size(); ++i) {
      const double mine = double(weights[i]) / double(2 * held[i] + 1);
      const double top = double(weights[best]) / double(2 * held[best] + 1);
      if (mine > top || (mine == top && held[i] < held[best])) best = i;
    }
    ++held[best];
  }
  return held;
}

using Shares = std::vector<int64_t>;

}  // namespace

TEST_CASE("replicas are divided in proportion to weights") {
  CHECK(Divide(10, {1, 2}) == Shares{3, 7});
  CHECK(Divide(9, {1, 2}) == Shares{3, 6});
  CHECK(Divide(9, {1, 3}) == Shares{2, 7});
  CHECK(Divide(7, {2, 1, 1}) == Shares{3, 2, 2});
  CHECK(Divide(12, {18, 12, 6}) == Shares{6, 4, 2});
  CHECK(Divide(0, {1, 1}) == Shares{0, 0});
}

TEST_CASE("the parity of the uid's hash decides between equals") {
  CHECK(Divide(5, {1, 1}) == Shares{3, 2});
  CHECK(Divide(5, {1, 1}, "uid-a") == Shares{2, 3});
  CHECK(Divide(10, {1, 1, 1}) == Shares{4, 3, 3});
  CHECK(Divide(10, {1, 1, 1}, "uid-a") == Shares{3, 3, 4});
}

TEST_CASE("without a positive weight nobody gets a seat") {
  CHECK(Divide(5, {0, 0}) == Shares{0, 0});
  CHECK(Divide(5, {-1, 1}) == Shares{0, 5});
  CHECK(Divide(5, {}).empty());
}

TEST_CASE("shares come sorted by name") {
  const std::vector<TargetCluster> parties = {{"b", 1}, {"a", 1}};
  const std::vector<TargetCluster> want = {{"a", 2}, {"b", 1}};
  CHECK(api::DivideByWeight(3, parties, "") == want);
}

TEST_CASE("skipping the clear seats does not change the result") {
  const std::vector<std::vector<int64_t>> weights = {
      {1, 2}, {7, 7, 7}, {1, 1000000}, {3, 5, 9, 0, 11}, {1, 1, 1, 1, 1, 1, 1, 1, 97}};
  for (const auto& w : weights) {
    for (const int64_t seats : {1, 2, 9, 10, 100, 997, 5000}) {
      INFO("seats " << seats << ", first weight " << w[0]);
      CHECK(Divide(seats, w) == DivideSlowly(seats, w));
    }
  }
}

TEST_CASE("two thousand million seats are divided at once") {
  CHECK(Divide(2147483647, {1, 2, 1}) == Shares{536870912, 1073741823, 536870912});
}
