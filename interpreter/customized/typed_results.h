// Results that must have the shape of a typed struct, read as Go's encoding/json reads them.
//
// What the struct does not know is left out, names may be written in any case, numbers must be
// whole and fit, quantities may be numbers or strings and come out in canonical form, members that
// are empty are left out. A wrong type is kInvalidArgument that names the member.
#ifndef INTERPRETER_CUSTOMIZED_TYPED_RESULTS_H_
#define INTERPRETER_CUSTOMIZED_TYPED_RESULTS_H_

#include "absl/status/statusor.h"
#include "base/json.h"

namespace interpreter::customized {

// work/v1alpha2 ReplicaRequirements; `{}` stays an empty object.
absl::StatusOr<json::Value> ReadRequirements(const json::Value& value);
// An array of work/v1alpha2 Component.
absl::StatusOr<json::Value> ReadComponents(const json::Value& value);
// An array of config/v1alpha1 DependentObjectReference.
absl::StatusOr<json::Value> ReadDependencies(const json::Value& value);
// An array of work/v1alpha2 AggregatedStatusItem; null stays null. The statuses stay as they are.
absl::StatusOr<json::Value> ReadAggregatedItems(const json::Value& value);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_TYPED_RESULTS_H_
