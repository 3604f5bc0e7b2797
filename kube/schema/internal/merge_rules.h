// Which fields strategic merges look at: those of the table, or nothing where it ends.
#ifndef KUBE_SCHEMA_INTERNAL_MERGE_RULES_H_
#define KUBE_SCHEMA_INTERNAL_MERGE_RULES_H_

#include "absl/strings/string_view.h"
#include "kube/meta/names.h"
#include "kube/schema/types.h"

namespace kube::schema::internal {

// Returns the type of a whole object. Kinds that the table does not have get one that has nothing
// but metadata.
const Struct& RootOf(const Gvk& gvk);

// Returns the field of an object; one without any rule when the type, which may be null, does not
// have it.
const Field& FieldOf(const Struct* type, absl::string_view name);

// Returns what describes the object in a field, or the objects of its list; null when nothing does.
const Struct* Inside(const Field& field);

}  // namespace kube::schema::internal

#endif  // KUBE_SCHEMA_INTERNAL_MERGE_RULES_H_
