// Reads results of scripts and webhooks that must have the shape of a typed struct, as Go's
// encoding/json does.
//
// Members that the struct does not have are left out, names may be written in any case, numbers
// must be whole and fit, quantities may be numbers or strings and get their canonical form, empty
// members are left out, null stands for the zero value. A wrong type is kInvalidArgument that names
// the member.
#ifndef INTERPRETER_TYPED_RESULTS_H_
#define INTERPRETER_TYPED_RESULTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace interpreter {

// work/v1alpha2 ReplicaRequirements; `{}` stays an empty object.
absl::StatusOr<json::Value> ReadRequirements(const json::Value& value);
// An array of work/v1alpha2 Component.
absl::StatusOr<json::Value> ReadComponents(const json::Value& value);
// An array of config/v1alpha1 DependentObjectReference.
absl::StatusOr<json::Value> ReadDependencies(const json::Value& value);
// An array of work/v1alpha2 AggregatedStatusItem; null stays null. The statuses are not changed.
absl::StatusOr<json::Value> ReadAggregatedItems(const json::Value& value);

// Removes nulls as upstream's Lua does: members that are null are left out, and so are items of
// lists, so that later items move up. A value without nulls is returned as it is.
json::Value WithoutNulls(const json::Value& value);

// A member that the struct does not have and that reading therefore left out.
struct UnknownMember {
  std::string path;                      // "[0].replicaRequirements.resourceRequst"
  std::string name;                      // "resourceRequst"
  std::vector<absl::string_view> known;  // All members of that struct, by name.
};
std::vector<UnknownMember> UnknownInRequirements(const json::Value& value);
std::vector<UnknownMember> UnknownInComponents(const json::Value& value);
std::vector<UnknownMember> UnknownInDependencies(const json::Value& value);

}  // namespace interpreter

#endif  // INTERPRETER_TYPED_RESULTS_H_
