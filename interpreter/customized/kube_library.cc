#include "interpreter/customized/kube_library.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status.h"
#include "interpreter/native/pod_dependencies.h"
#include "interpreter/native/replicas.h"
#include "kube/meta/quantity.h"

namespace interpreter::customized {

namespace {

using lua::Value;
using Arguments = absl::Span<const Value>;
using Results = absl::StatusOr<std::vector<Value>>;

Results One(Value value) { return std::vector<Value>{std::move(value)}; }

absl::Status BadArgument(size_t index, absl::string_view function, absl::string_view expected,
                         const Value& got) {
  return absl::InvalidArgumentError(absl::StrCat("bad argument #", index + 1, " to ", function,
                                                 " (", expected, " expected, got ",
                                                 lua::TypeName(got.type), ")"));
}

// Reads the text of a quantity; nil counts as 0.
absl::StatusOr<kube::Quantity> QuantityOf(Arguments arguments, size_t index,
                                          absl::string_view function) {
  const Value& argument = arguments[index];
  if (argument.is_nil()) return kube::Quantity();
  if (argument.type == Value::Type::kString) return kube::Quantity::Parse(argument.json.AsString());
  return BadArgument(index, function, "string", argument);
}

Results ResourceAdd(Arguments arguments) {
  kube::Quantity sum;
  for (size_t i = 0; i < arguments.size(); ++i) {
    ASSIGN_OR_RETURN(const kube::Quantity quantity, QuantityOf(arguments, i, "resourceAdd"));
    sum.Add(quantity);
  }
  return One(json::Value(sum.ToString()));
}

Results AccuratePodRequirements(Arguments arguments, const RequirementRules& rules) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError("getPodRequirements only accepts one argument");
  }
  if (arguments[0].type != Value::Type::kTable) {
    return BadArgument(0, "accuratePodRequirements", "table", arguments[0]);
  }
  // An empty Lua table is both a list and a map, so an empty field may have either shape.
  native::Fields spec(arguments[0].json["spec"], "spec", native::Empties::kAnyShape);
  json::Value requirements = native::RequirementsOf(spec, rules);
  RETURN_IF_ERROR(spec.error());
  return One(std::move(requirements));
}

// Accepts a number as well, as Lua's own functions do where they want a string.
absl::StatusOr<std::string> NamespaceOf(Arguments arguments) {
  const Value& argument = arguments[1];
  if (argument.is_nil()) return "default";
  if (argument.type == Value::Type::kString) return argument.json.ToString();
  if (argument.type == Value::Type::kNumber) return json::Write(argument.json);
  return BadArgument(1, "getPodDependencies", "string", argument);
}

Results GetPodDependencies(Arguments arguments) {
  if (arguments.size() != 2) {
    return absl::InvalidArgumentError("getPodDependencies only accepts two argument");
  }
  if (arguments[0].type != Value::Type::kTable) {
    return BadArgument(0, "getPodDependencies", "table", arguments[0]);
  }
  ASSIGN_OR_RETURN(const std::string ns, NamespaceOf(arguments));
  native::Fields spec(arguments[0].json["spec"], "spec", native::Empties::kAnyShape);
  json::Value found = native::DependenciesIn(ns, native::ReferencesOf(spec));
  RETURN_IF_ERROR(spec.error());
  if (found.is_null()) found = json::Value::Array();
  return One(std::move(found));
}

Results GetResourceQuantity(Arguments arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError("getResourceQuantity only accepts one argument");
  }
  ASSIGN_OR_RETURN(const kube::Quantity quantity, QuantityOf(arguments, 0, "getResourceQuantity"));
  const double value = quantity.AsApproximateFloat();
  if (quantity.Sign() >= 0 && std::isfinite(value)) return One(json::Value(value));
  return absl::InvalidArgumentError(
      absl::StrCat("getResourceQuantity: ", quantity.ToString(), " is negative or too large"));
}

}  // namespace

lua::Library KubeLibrary(const RequirementRules& rules) {
  return {.name = "kube",
          .functions = {
              {"resourceAdd", ResourceAdd},
              {"accuratePodRequirements",
               [rules](Arguments arguments) { return AccuratePodRequirements(arguments, rules); }},
              {"getPodDependencies", GetPodDependencies},
              {"getResourceQuantity", GetResourceQuantity}}};
}

}  // namespace interpreter::customized
