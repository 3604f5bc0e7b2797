#include "interpreter/dependency_validation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/selector.h"

namespace interpreter {

namespace {

absl::Status Invalid(absl::string_view where, absl::string_view value, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": Invalid value: ", value, ": ", why));
}

void Validate(const json::Value& dependency, const std::string& where, base::ErrorList& errors) {
  if (dependency["apiVersion"].AsString().empty()) {
    errors.Add(Invalid(where + ".apiVersion", "\"\"", "missing required apiVersion"));
  }
  if (dependency["kind"].AsString().empty()) {
    errors.Add(Invalid(where + ".kind", "\"\"", "missing required kind"));
  }
  const json::Value& selector = dependency["labelSelector"];
  if (!selector.is_null()) {
    const absl::Status parsed = kube::LabelSelector::FromJson(selector).status();
    if (!parsed.ok()) {
      errors.Add(Invalid(where + ".labelSelector", json::Write(selector), parsed.message()));
    }
    return;
  }
  if (dependency["name"].AsString().empty()) {
    errors.Add(Invalid(where, json::Write(dependency),
                       "dependency can not leave name and labelSelector all empty"));
  }
}

}  // namespace

absl::Status ValidateDependencies(const json::Value& dependencies) {
  base::ErrorList errors;
  size_t index = 0;
  for (const json::Value& dependency : dependencies.items()) {
    const bool plain =
        !dependency["name"].AsString().empty() && !dependency["apiVersion"].AsString().empty() &&
        !dependency["kind"].AsString().empty() && dependency["labelSelector"].is_null();
    if (!plain) Validate(dependency, absl::StrCat("dependencies[", index, "]"), errors);
    ++index;
  }
  return errors.Join();
}

}  // namespace interpreter
