// The lanes of a queue by themselves: which are known, and what a turn costs with many of them.
#include "kube/runtime/internal/queue_lanes.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "tests/support/cost_growth.h"

namespace kube::internal {
namespace {

// A lane for each item, as loops with a lane for each object have it.
std::string LaneOf(const Request& request) { return request.key.ToString(); }

struct Fixture {
  Lanes lanes{LaneOptions::For(5, LaneOf)};
  absl::node_hash_map<Request, QueueEntry> entries;
  base::SteadyTime now = base::SteadyTime::At(absl::Hours(1));

  QueueItem& Item(int number) {
    QueueItem& item = *entries.try_emplace({.key = {"ns", std::to_string(number)}}).first;
    item.second.sequence = static_cast<uint64_t>(number);
    return item;
  }
  // Holds the item for that long.
  void Hold(int number, absl::Duration time) {
    REQUIRE(lanes.Enter(Item(number), now));
    now = now + time;
    CHECK(lanes.Leave(Item(number), now).empty());
  }
};

TEST_CASE_METHOD(Fixture,
                 "a lane is known while it has items, and a slow one for ten minutes more") {
  for (int i = 0; i < 100; ++i) Hold(i, absl::Milliseconds(10));
  CHECK(lanes.size() == 0);
  Hold(0, absl::Seconds(2));
  CHECK(lanes.size() == 1);
  now = now + absl::Minutes(9);
  lanes.Pass(now);
  CHECK(lanes.size() == 1);
  REQUIRE(lanes.Enter(Item(0), now));
  CHECK_FALSE(Item(0).second.quick);  // It was remembered.
  now = now + absl::Minutes(20);
  lanes.Pass(now);
  CHECK(lanes.size() == 1);  // It is in use.
  CHECK(lanes.Leave(Item(0), now).empty());
  now = now + absl::Minutes(10);
  lanes.Pass(now);
  CHECK(lanes.size() == 0);
  REQUIRE(lanes.Enter(Item(0), now));
  CHECK(Item(0).second.quick);
}

TEST_CASE_METHOD(Fixture, "slow lanes share their places, and the most urgent item gets the next") {
  constexpr int kPlaces = LaneOptions::kSpareThreads;
  for (int i = 0; i < kPlaces + 3; ++i) Hold(i, absl::Seconds(2));
  for (int i = 0; i < kPlaces; ++i) REQUIRE(lanes.Enter(Item(i), now));
  for (int i = kPlaces; i < kPlaces + 3; ++i) REQUIRE_FALSE(lanes.Enter(Item(i), now));
  CHECK(lanes.parked() == 3);
  lanes.Raise(Item(kPlaces + 1), 10);
  std::vector<QueueItem*> ready = lanes.Leave(Item(0), now);  // Its lane is quick by now.
  REQUIRE(ready.size() == 1);
  CHECK(ready[0] == &Item(kPlaces + 1));
  REQUIRE(lanes.Enter(*ready[0], now));
  now = now + absl::Seconds(5);
  ready = lanes.Leave(Item(1), now);  // Slow once more: its place is free all the same.
  REQUIRE(ready.size() == 1);
  CHECK(ready[0] == &Item(kPlaces));
  CHECK(lanes.parked() == 1);
}

// Takes and gives back each of so many items, all of which are slow, with as many held as may be.
void Turns(int items) {
  Fixture f;
  std::deque<int> held;
  std::vector<QueueItem*> ready;
  for (int turn = 0; turn < 3 * items; ++turn) {
    const int number = turn % items;
    if (f.Item(number).second.lane == nullptr && f.lanes.Enter(f.Item(number), f.now)) {
      held.push_back(number);
    }
    f.now = f.now + absl::Milliseconds(150);
    if (held.size() < LaneOptions::kSpareThreads) continue;
    for (QueueItem* item : f.lanes.Leave(f.Item(held.front()), f.now)) {
      if (f.lanes.Enter(*item, f.now)) held.push_back(std::stoi(item->first.key.name));
    }
    held.pop_front();
  }
}

TEST_CASE("what a turn costs does not grow with the number of lanes") {
  CHECK(tests::CostOfFourfold(2000, Turns) < tests::kBarelyLinear);
}

}  // namespace
}  // namespace kube::internal
