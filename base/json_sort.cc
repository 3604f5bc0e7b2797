// Sorts the members of objects. API servers send those of built-in kinds in the order of Go's
// structs, so most objects that are read have to be sorted: with std::stable_sort that took a third
// of the time of reading a Deployment.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/internal/json_nodes.h"
#include "base/json.h"

namespace json {
namespace {

// Up to this many members are sorted by insertion, without memory of its own.
constexpr size_t kMostInserted = 32;
// Names of up to this size are stored in place, and filled up with zeros.
constexpr size_t kInPlace = 15;

// Returns eight bytes as a number of which the first byte is the highest.
uint64_t NumberAt(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

// Compares as strings are compared.
bool Precedes(const Member& left, const Member& right) {
  const absl::string_view a = left.name();
  const absl::string_view b = right.name();
  if (a.size() > kInPlace || b.size() > kInPlace) return a < b;
  constexpr size_t kTail = kInPlace - sizeof(uint64_t);
  const uint64_t a_head = NumberAt(a.data()), b_head = NumberAt(b.data());
  if (a_head != b_head) return a_head < b_head;
  const uint64_t a_tail = NumberAt(a.data() + kTail), b_tail = NumberAt(b.data() + kTail);
  return a_tail != b_tail ? a_tail < b_tail : a.size() < b.size();
}

// Inserts each member into the sorted ones before it, behind those of the same name.
void InsertionSort(absl::Span<Member> members) {
  alignas(Member) std::byte moved[sizeof(Member)];
  for (size_t i = 1; i < members.size(); ++i) {
    size_t place = i;
    while (place > 0 && Precedes(members[i], members[place - 1])) --place;
    if (place == i) continue;
    Member* const to = &members[place];
    std::memcpy(moved, static_cast<void*>(&members[i]), sizeof(Member));
    std::memmove(static_cast<void*>(to + 1), to, (i - place) * sizeof(Member));
    std::memcpy(static_cast<void*>(to), moved, sizeof(Member));
  }
}

}  // namespace

size_t Builder::Sort(absl::Span<Member> members) {
  const auto out_of_order = [](const Member& a, const Member& b) { return !Precedes(a, b); };
  if (std::adjacent_find(members.begin(), members.end(), out_of_order) == members.end()) {
    return members.size();  // Servers send the members of custom resources sorted.
  }
  if (members.size() <= kMostInserted) {
    InsertionSort(members);
  } else {
    std::stable_sort(members.begin(), members.end(), Precedes);
  }
  size_t kept = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (i + 1 < members.size() && members[i].name() == members[i + 1].name()) continue;
    if (kept != i) members[kept] = std::move(members[i]);
    ++kept;
  }
  return kept;
}

}  // namespace json
