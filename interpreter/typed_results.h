// Results of scripts and webhooks that must have the shape of a typed struct, read as Go's
// encoding/json reads them.
//
// What the struct does not know is left out, names may be written in any case, numbers must be
// whole and fit, quantities may be numbers or strings and come out in canonical form, members that
// are empty are left out, null stands for the zero value. A wrong type is kInvalidArgument that
// names the member.
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
// An array of work/v1alpha2 AggregatedStatusItem; null stays null. The statuses stay as they are.
absl::StatusOr<json::Value> ReadAggregatedItems(const json::Value& value);

// What upstream's Lua makes of the nulls in a value: members that are null are left out, and so are
// items, behind which the rest move up. A value without any comes back as it is.
json::Value WithoutNulls(const json::Value& value);

// A member that the struct does not have, which reading leaves out without a word.
struct UnknownMember {
  std::string path;                      // "[0].replicaRequirements.resourceRequst"
  std::string name;                      // "resourceRequst"
  std::vector<absl::string_view> known;  // The members of that struct.
};
std::vector<UnknownMember> UnknownInRequirements(const json::Value& value);
std::vector<UnknownMember> UnknownInComponents(const json::Value& value);
std::vector<UnknownMember> UnknownInDependencies(const json::Value& value);

}  // namespace interpreter

#endif  // INTERPRETER_TYPED_RESULTS_H_
