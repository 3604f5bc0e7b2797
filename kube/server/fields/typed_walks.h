// What server-side apply does with values, following their types: the functions of
// structured-merge-diff, with its rules for lists whose items have keys, sets, and values that have
// one owner.
#ifndef KUBE_SERVER_FIELDS_TYPED_WALKS_H_
#define KUBE_SERVER_FIELDS_TYPED_WALKS_H_

#include "absl/status/status.h"
#include "base/json.h"
#include "kube/server/fields/field_set.h"
#include "kube/server/fields/field_type.h"

namespace kube::server {

// The fields in which two states differ; none is in two of the sets.
struct FieldChanges {
  FieldSet removed, modified, added;
};

// In each function `type` is that of the value or values.

// Compares two objects. What a list cannot tell apart is ignored.
FieldChanges ChangesBetween(const json::Value& before, const json::Value& after,
                            const FieldType& type);

// Returns the fields that a value sets: scalars, what has one owner, items of lists, members of
// maps, and objects that are empty.
FieldSet FieldsOf(const json::Value& value, const FieldType& type);

// Checks what somebody applies: kInvalidArgument for a field that the type does not have, a value
// of another form, an item without keys, and two items with the same ones.
absl::Status CheckApplicable(const json::Value& value, const FieldType& type);

// Returns `live` with everything that `config` sets. Items of a list are in the order of `config`
// where it has them. REQUIRES: CheckApplicable(config).
json::Value Merged(const json::Value& live, const json::Value& config, const FieldType& type);

// Returns the value without the fields of the set, and without what that leaves empty.
json::Value WithoutFields(const json::Value& value, const FieldSet& fields, const FieldType& type);

// Returns the set with the fields that the type names and that contain fields of the set.
FieldSet WithNamedFields(const FieldSet& fields, const FieldType& type);

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELDS_TYPED_WALKS_H_
