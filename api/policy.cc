#include "api/policy.h"

#include "api/keys.h"

namespace api {

absl::string_view PolicyView::PermanentId() const {
  return object_.Label(object_.ns().empty() ? kClusterPropagationPolicyIdLabel
                                            : kPropagationPolicyIdLabel);
}

std::vector<std::string> PolicyView::DependentOverrides() const {
  std::vector<std::string> names;
  for (const json::Value& name : spec()["dependentOverrides"].items()) {
    names.push_back(name.ToString());
  }
  return names;
}

std::optional<bool> PolicyView::PreserveResourcesOnDeletion() const {
  const json::Value& preserve = spec()["preserveResourcesOnDeletion"];
  if (!preserve.is_bool()) return std::nullopt;
  return preserve.AsBool();
}

}  // namespace api
