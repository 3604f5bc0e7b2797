// Applies to an object the changes that a script made to it.
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
  absl::Span<Field> changed;            // New or different from the source; sorted by name.
  // The members that the source and the table still have in common, changed or not; sorted by
  // address, which is their order in the source. Null members of the source stay even if they are
  // missing here.
  absl::Span<const json::Value* const> kept;
};

// Returns an object with these fields, in any order; their values are moved away.
json::Value NewObject(absl::Span<Field> fields);

// Returns how many items or members are not null.
size_t CountNonNull(const json::Value& container);

bool IsUnchanged(const ObjectChanges& changes);
// Returns the object after the changes, whose values are moved away.
json::Value Apply(const ObjectChanges& changes);

}  // namespace lua::internal

#endif  // LUA_INTERNAL_OBJECT_CHANGES_H_
