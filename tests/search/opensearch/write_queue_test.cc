#include "search/opensearch/write_queue.h"

#include <catch2/catch.hpp>

namespace tests {
namespace {

using search::PendingWrite;
using search::WriteQueue;

base::SteadyTime At(int seconds) { return base::SteadyTime::At(absl::Seconds(seconds)); }

std::vector<std::pair<std::string, int64_t>> Taken(WriteQueue& queue, size_t max, int seconds) {
  std::vector<std::pair<std::string, int64_t>> out;
  for (const WriteQueue::Item& item : queue.Take(max, At(seconds))) {
    out.emplace_back(item.first.uid, item.second.resource_version);
  }
  return out;
}

TEST_CASE("The newest state of a document keeps the first one's place") {
  WriteQueue queue;
  queue.Put({1, "a"}, {.resource_version = 1}, At(1));
  queue.Put({1, "b"}, {.resource_version = 2}, At(2));
  queue.Put({1, "a"}, {.resource_version = 3}, At(3));
  queue.PutIfAbsent({1, "b"}, {.resource_version = 9}, At(3));
  queue.PutIfAbsent({2, "a"}, {.resource_version = 4}, At(3));
  CHECK(queue.size() == 3);
  CHECK(queue.oldest() == At(1));
  using Pairs = std::vector<std::pair<std::string, int64_t>>;
  CHECK(Taken(queue, 2, 3) == Pairs{{"a", 3}, {"b", 2}});
  CHECK(Taken(queue, 2, 3) == Pairs{{"a", 4}});
  CHECK(queue.size() == 0);
  CHECK(queue.oldest() == base::SteadyTime::InfiniteFuture());
}

TEST_CASE("What failed waits for its time, and gives way to what came in meanwhile") {
  WriteQueue queue;
  queue.Put({1, "a"}, {.resource_version = 1}, At(1));
  queue.Put({1, "b"}, {.resource_version = 2}, At(1));
  std::vector<WriteQueue::Item> items = queue.Take(9, At(1));
  queue.Put({1, "b"}, {.resource_version = 3}, At(2));
  items[0].second.attempts = 1;
  for (WriteQueue::Item& item : items) queue.PutBack(std::move(item), At(5));
  CHECK(queue.size() == 2);
  CHECK(queue.next_retry() == At(5));
  using Pairs = std::vector<std::pair<std::string, int64_t>>;
  CHECK(Taken(queue, 9, 4) == Pairs{{"b", 3}});
  // A newer state waits as the failed one did, and knows how often it failed.
  queue.Put({1, "a"}, {.resource_version = 4}, At(4));
  CHECK(Taken(queue, 9, 4).empty());
  items = queue.Take(9, At(5));
  REQUIRE(items.size() == 1);
  CHECK(items[0].second.resource_version == 4);
  CHECK(items[0].second.attempts == 1);
}

TEST_CASE("What a comparison has found counts until it is written, in whatever state") {
  WriteQueue queue;
  queue.Put({1, "a"}, {.resource_version = 1}, At(1));
  queue.PutIfAbsent({1, "a"}, {.compared = true}, At(1));
  queue.PutIfAbsent({1, "b"}, {.compared = true}, At(1));
  CHECK(queue.compared() == 1);
  queue.Put({1, "b"}, {.resource_version = 2}, At(1));
  CHECK(queue.compared() == 1);
  std::vector<WriteQueue::Item> items = queue.Take(9, At(1));
  CHECK(queue.compared() == 0);
  queue.Put({1, "b"}, {.resource_version = 3}, At(2));
  for (WriteQueue::Item& item : items) queue.PutBack(std::move(item), At(3));
  CHECK(queue.compared() == 1);
  queue.EraseSlice(1);
  CHECK(queue.compared() == 0);
}

TEST_CASE("A slice that leaves takes its entries along") {
  WriteQueue queue;
  queue.Put({1, "a"}, {}, At(1));
  queue.Put({2, "a"}, {}, At(1));
  queue.PutBack({{1, "b"}, {}}, At(2));
  queue.EraseSlice(1);
  CHECK(queue.size() == 1);
  CHECK(queue.next_retry() == base::SteadyTime::InfiniteFuture());
  CHECK(queue.Take(9, At(9)).size() == 1);
}

}  // namespace
}  // namespace tests
