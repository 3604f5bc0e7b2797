// An object with what a script changed in it.
#ifndef LUA_INTERNAL_OBJECT_CHANGES_H_
#define LUA_INTERNAL_OBJECT_CHANGES_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace lua::internal {

struct Field {
  absl::string_view name;
  json::Value value;
};

struct ObjectChanges {
  const json::Value* source = nullptr;  // Never nullptr.
  absl::Span<Field> changed;            // New or other than in the source; sorted by name.
  // The source's members that are still there, `changed` or not; sorted by address, which is their
  // order in the source. Nulls need not be there: they stay.
  absl::Span<const json::Value* const> kept;
};

// An object of these fields, in any order, whose values are moved away.
json::Value NewObject(absl::Span<Field> fields);

// How many items or members are not null.
size_t CountNonNull(const json::Value& container);

bool IsUnchanged(const ObjectChanges& changes);
// The object after the changes, whose values are moved away.
json::Value Apply(const ObjectChanges& changes);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_OBJECT_CHANGES_H_
