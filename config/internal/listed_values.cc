#include "config/internal/listed_values.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "config/feature_gates.h"
#include "config/support.h"

namespace config::internal {
namespace {

std::vector<std::string> ControllerNames() {
  std::vector<std::string> names;
  for (const ControllerSupport& controller : Controllers()) names.emplace_back(controller.name);
  return names;
}

std::vector<std::string> GateValues() {
  std::vector<std::string> values;
  for (const auto& [name, on] : FeatureGates().All()) {
    values.push_back(absl::StrCat(name, on ? "=false" : "=true"));
  }
  return values;
}

}  // namespace

std::vector<std::string> ListedValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (option.check_lname("controllers") && type == "NAMES") return ControllerNames();
  const bool has_pairs = type == "PAIRS" || type == "NAME=BOOL,...";
  return option.check_lname("feature-gates") && has_pairs ? GateValues()
                                                          : std::vector<std::string>();
}

}  // namespace config::internal
