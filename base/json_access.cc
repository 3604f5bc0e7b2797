// Look-ups whose errors a user can act on, in Kubernetes' wording (unstructured.NestedFieldNoCopy).

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "base/status.h"

namespace json {
namespace {

// Returns Go's name of the type into which JSON is decoded.
absl::string_view GoType(const Value& v) {
  switch (v.type()) {
    case Value::Type::kNull:
      return "<nil>";
    case Value::Type::kBool:
      return "bool";
    case Value::Type::kInt:
      return "int64";
    case Value::Type::kDouble:
      return "float64";
    case Value::Type::kString:
      return "string";
    case Value::Type::kArray:
      return "[]interface {}";
    default:
      return "map[string]interface {}";
  }
}

std::string GoText(const Value& v) {
  if (v.is_null()) return "<nil>";
  return v.is_string() ? v.ToString() : Write(v);
}

absl::Status WrongType(Path path, const Value& found, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(".", absl::StrJoin(path, "."), " accessor error: ", GoText(found),
                   " is of the type ", GoType(found), ", expected ", expected));
}

// Returns the value at `path`, nullptr when absent; an error when a value on the way is not an
// object.
absl::StatusOr<const Value*> Walk(const Value& v, Path path) {
  const Value* at = &v;
  for (size_t i = 0; i < path.size(); ++i) {
    if (!at->is_object()) return WrongType(path.subspan(0, i), *at, "map[string]interface{}");
    at = at->Find(path[i]);
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace

absl::StatusOr<std::optional<int64_t>> FindInt(const Value& v, Path path) {
  ASSIGN_OR_RETURN(const Value* found, Walk(v, path));
  if (found == nullptr) return std::optional<int64_t>();
  if (!found->is_int()) return WrongType(path, *found, "int64");
  return std::optional<int64_t>(found->AsInt());
}

absl::StatusOr<std::optional<std::string>> FindString(const Value& v, Path path) {
  ASSIGN_OR_RETURN(const Value* found, Walk(v, path));
  if (found == nullptr) return std::optional<std::string>();
  if (!found->is_string()) return WrongType(path, *found, "string");
  return std::optional<std::string>(found->ToString());
}

absl::StatusOr<const Value*> FindObject(const Value& v, Path path) {
  ASSIGN_OR_RETURN(const Value* found, Walk(v, path));
  if (found != nullptr && !found->is_object()) {
    return WrongType(path, *found, "map[string]interface{}");
  }
  return found;
}

absl::StatusOr<const Value*> FindArray(const Value& v, Path path) {
  ASSIGN_OR_RETURN(const Value* found, Walk(v, path));
  if (found != nullptr && !found->is_array()) return WrongType(path, *found, "[]interface{}");
  return found;
}

}  // namespace json
