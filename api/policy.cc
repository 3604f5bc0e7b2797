#include "api/policy.h"

namespace api {

std::vector<std::string> PolicyView::DependentOverrides() const {
  std::vector<std::string> names;
  for (const json::Value& name : spec()["dependentOverrides"].items()) {
    names.push_back(name.ToString());
  }
  return names;
}

}  // namespace api
