// One copy of what is read again and again.
//
// The objects of a program that copies objects from server to server are mostly the same: a
// template, what is made of it for each cluster and what each cluster has hold the same
// specifications, and whatever is read anew differs from what was there in a few places. Before the
// reader builds an array or object, it looks in a table of those it built before for an equal one.
// As that is done from the inside out, equal parts are identical by the time what holds them is
// looked up: so it suffices to compare 16 bytes for each element, and, where it is one, a long
// string's text.
#ifndef BASE_INTERNAL_JSON_POOL_H_
#define BASE_INTERNAL_JSON_POOL_H_

#include "absl/types/span.h"
#include "base/json.h"

namespace json {

// The array of the elements' values, or the object of the elements: one that was built here before,
// or a new one, which takes the elements. The table is one for the process and of a fixed size; it
// lets go of what nobody else has. Thread-safe.
Value PooledArray(absl::Span<Member> elements);
// REQUIRES: sorted by name, names unique.
Value PooledObject(absl::Span<Member> elements);

}  // namespace json

#endif  // BASE_INTERNAL_JSON_POOL_H_
