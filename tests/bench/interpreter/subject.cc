#include "tests/bench/interpreter/subject.h"

#include <utility>

#include "base/files.h"
#include "base/status.h"

namespace bench {

absl::StatusOr<json::Value> ReadJson(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  absl::StatusOr<json::Value> value = json::Parse(text);
  if (value.ok()) return value;
  return base::Annotate(value.status(), path);
}

absl::StatusOr<Subject> ReadSubject(const std::string& folder, const std::string& name) {
  ASSIGN_OR_RETURN(json::Value object, ReadJson(folder + "/" + name + ".json"));
  ASSIGN_OR_RETURN(json::Value items, ReadJson(folder + "/" + name + ".items.json"));
  return Subject{name, kube::Object(std::move(object)), std::move(items)};
}

}  // namespace bench
