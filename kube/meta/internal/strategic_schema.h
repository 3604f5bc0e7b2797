// Describes which lists of the built-in kinds strategic merge patch merges, and by which key: the
// patchStrategy and patchMergeKey tags of the Go types in k8s.io/api.
#ifndef KUBE_META_INTERNAL_STRATEGIC_SCHEMA_H_
#define KUBE_META_INTERNAL_STRATEGIC_SCHEMA_H_

#include "absl/strings/string_view.h"

namespace kube::internal {

enum class FieldStrategy {
  kDefault,  // Objects merge, lists are replaced.
  kMerge,    // Lists merge too.
  kReplace,  // Objects are replaced as well.
};

struct FieldRule {
  FieldStrategy strategy = FieldStrategy::kDefault;
  absl::string_view
      merge_key;  // The member that names the list's objects; "" for lists of scalars.
  absl::string_view
      type;  // The type of the object, or of the list's objects; "" when nothing is known.
};

// Returns the type of a whole object. Kinds that are not built in get a type that only has
// metadata.
absl::string_view RootType(absl::string_view group, absl::string_view kind);

// Returns the rule for a field of an object of that type; the default rule when the field is not
// known.
FieldRule FindFieldRule(absl::string_view type, absl::string_view field);

// Returns whether a change of an object of that type removes every member that it does not name
// (the strategy retainKeys): its members exclude one another.
bool RetainsOnlyNamed(absl::string_view type);

}  // namespace kube::internal

#endif  // KUBE_META_INTERNAL_STRATEGIC_SCHEMA_H_
