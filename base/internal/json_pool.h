// Shares equal arrays and objects, so that there is one copy of what is read again and again.
//
// The objects of a program that copies objects from server to server are mostly the same: a
// template, its manifests for each cluster and the objects in each cluster hold the same
// specifications, and an object that is read anew differs from its last state in a few places.
// Before the reader builds an array or object, it looks for an equal one in a table of those it
// built before. As this is done from the inside out, equal parts are already identical when the
// container that holds them is looked up, so it suffices to compare 16 bytes for each element, and
// the text of a long string.
#ifndef BASE_INTERNAL_JSON_POOL_H_
#define BASE_INTERNAL_JSON_POOL_H_

#include "absl/types/span.h"
#include "base/json.h"

namespace json {

// Returns an array of the elements' values, or an object of the elements: an equal one that was
// built here before, or a new one, into which the elements are moved. The process has one table of
// a fixed size; it frees containers that nobody else uses. Thread-safe.
Value PooledArray(absl::Span<Member> elements);
// REQUIRES: the members are sorted by name, and names are unique.
Value PooledObject(absl::Span<Member> elements);

}  // namespace json

#endif  // BASE_INTERNAL_JSON_POOL_H_
