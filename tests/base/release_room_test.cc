#include "base/release_room.h"

#include <catch2/catch.hpp>

#include "absl/container/flat_hash_map.h"

namespace base {
namespace {

TEST_CASE("a table gives back the room of a burst when few entries are left") {
  absl::flat_hash_map<int, int> table;
  for (int i = 0; i < 10'000; ++i) table[i] = i;
  const size_t full = table.capacity();
  for (int i = 0; i < 9'000; ++i) {
    table.erase(i);
    ReleaseRoom(table);
  }
  CHECK(table.capacity() < full);
  CHECK(table.size() == 1'000);
  for (int i = 9'000; i < 10'000; ++i) CHECK(table.at(i) == i);
  for (int i = 9'000; i < 10'000; ++i) {
    table.erase(i);
    ReleaseRoom(table);
  }
  CHECK(table.capacity() == 0);
}

TEST_CASE("a table that is well filled stays where it is") {
  absl::flat_hash_map<int, int> table;
  for (int i = 0; i < 1'000; ++i) table[i] = i;
  const size_t full = table.capacity();
  for (int i = 0; i < 500; ++i) {
    table.erase(i);
    ReleaseRoom(table);
  }
  CHECK(table.capacity() == full);
}

}  // namespace
}  // namespace base
