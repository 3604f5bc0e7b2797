// What a write changes, field by field: it identifies the write among those of its object, and
// shows whether somebody else has changed the same fields.
#ifndef KUBE_SHADOW_INTERNAL_SHADOW_CHANGES_H_
#define KUBE_SHADOW_INTERNAL_SHADOW_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/http/transport.h"

namespace kube::internal {

// A field that differs, as digests of its path and of its value before the change.
struct ChangedField {
  uint64_t path = 0;
  uint64_t before = 0;
  friend auto operator<=>(const ChangedField&, const ChangedField&) = default;
};

struct ShadowedChanges {
  // Equal for writes that change the same fields, whatever their values are; "" for no field.
  std::string identity;
  std::vector<ChangedField> fields;  // Sorted; each path once.

  // Keeps at most this many of the fields; the identity stays.
  void Limit(size_t most);
  // Returns whether all these fields are among those of `now` and had the same values before.
  bool AreAmong(const ShadowedChanges& now) const;
};

// Returns how `after` differs from `before`. The items of lists whose items have names (a type, a
// key, a name, a cluster) are fields of their own, because several loops write such a list, each
// its own items: conditions, tasks, taints, finalizers. Another list is one field.
ShadowedChanges ChangesOf(const json::Value& before, const json::Value& after);

// Returns what is equal for requests that are about the same fields, by their bodies alone: what is
// known of a write whose object cannot be read.
std::string FieldsOfRequest(const HttpRequest& request);

}  // namespace kube::internal

#endif  // KUBE_SHADOW_INTERNAL_SHADOW_CHANGES_H_
