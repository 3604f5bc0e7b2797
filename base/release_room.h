// Gives back the room that a hash table has kept of a burst.
//
// Abseil's tables grow and never shrink by themselves: one that had 100,000 entries once keeps room
// for as many for ever. Call this where entries are erased:
//
//   pending_.erase(key);
//   base::ReleaseRoom(pending_);
#ifndef BASE_RELEASE_ROOM_H_
#define BASE_RELEASE_ROOM_H_

#include <cstddef>

namespace base {

// Moves the entries of an Abseil hash table to a smaller one if the present one has room for eight
// times as many; an empty one keeps nothing. Invalidates iterators. Tables of a few entries are
// left alone, and a table is moved so seldom that an erasure costs the same on average.
template <class Table>
void ReleaseRoom(Table& table) {
  constexpr size_t kFew = 64;
  if (table.empty() ? table.capacity() > 0
                    : table.capacity() > kFew && table.size() < table.capacity() / 8) {
    table.rehash(0);
  }
}

}  // namespace base

#endif  // BASE_RELEASE_ROOM_H_
