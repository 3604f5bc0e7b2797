// Shares equal arrays and objects, so that there is one copy of what is read again and again.
//
// The objects of a program that copies objects from server to server are mostly the same: a
// template, its manifests for each cluster and the objects in each cluster hold the same
// specifications, and an object that is read again differs from its last state in a few places.
// Before the reader builds an array or object, it looks for an equal one in a table of those it
// built before. As this is done from the inside out, equal parts are already identical when the
// container that holds them is looked up, so it suffices to compare 16 bytes for each element, and
// the text of a long string.
//
// The table holds what it has built until it needs the room, also when nobody else does. So that
// large values do not pile up there, it counts the bytes that it has taken since it has looked
// last, and frees what nobody uses when they are 8 MB (see also ForgetUnused in base/json_size.h).
#ifndef BASE_INTERNAL_JSON_POOL_H_
#define BASE_INTERNAL_JSON_POOL_H_

#include <cstddef>

#include "absl/types/span.h"
#include "base/json.h"

namespace json {

struct Pooled {
  Value value;
  bool is_in_table = false;
};

// Returns an array of the elements' values, or an object of the elements: an equal one that was
// built here before, or a new one, into which the elements are moved. `bytes` is what a new one
// takes, with everything in it that is in no table. The process has one table, which grows
// with the number of containers that are in use. Thread-safe.
Pooled PooledArray(absl::Span<Member> elements, size_t bytes);
// REQUIRES: the members are sorted by name, and names are unique.
Pooled PooledObject(absl::Span<Member> elements, size_t bytes);

}  // namespace json

#endif  // BASE_INTERNAL_JSON_POOL_H_
