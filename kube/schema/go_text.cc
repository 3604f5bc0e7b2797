#include "kube/schema/go_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kube::schema {
namespace {

std::string Json(const json::Value& value) { return json::Write(value, {.html_escape = true}); }

std::string OneText(const Field& field, const json::Value& value) {
  switch (field.type) {
    case Type::kStruct:
      return GoText(*field.of, value);
    case Type::kString:
      return Json(value.AsString());
    case Type::kBool:
      return Json(value.AsBool());
    case Type::kInt32:
    case Type::kInt64:
      return Json(value.AsInt());
    default:
      return Json(value);
  }
}

std::string FieldText(const Field& field, const json::Value& value) {
  if (field.shape == Shape::kOne && !field.pointer()) return OneText(field, value);
  if (value.is_null()) return "null";
  if (field.shape == Shape::kOne) return OneText(field, value);
  if (field.shape == Shape::kMap) return Json(value);  // Go sorts the names, too.
  const auto append = [&](std::string* out, const json::Value& item) {
    absl::StrAppend(out, OneText(field, item));
  };
  return absl::StrCat("[", absl::StrJoin(value.items(), ",", append), "]");
}

bool IsLeftOut(const Field& field, const json::Value& value) {
  if (!field.omits_empty()) return false;
  if (field.pointer()) return value.is_null();
  if (field.shape != Shape::kOne) return value.empty();
  switch (field.type) {
    case Type::kString:
    case Type::kBytes:
      return value.AsString().empty();
    case Type::kBool:
      return !value.AsBool();
    case Type::kInt32:
    case Type::kInt64:
      return value.AsInt() == 0;
    default:
      return false;
  }
}

}  // namespace

std::string GoText(const Struct& type, const json::Value& value) {
  std::vector<const Field*> declared(type.fields.size());
  for (const Field& field : type.fields) declared[field.place] = &field;
  std::string text = "{";
  for (const Field* field : declared) {
    const json::Value& held = value[field->name];
    if (IsLeftOut(*field, held)) continue;
    absl::StrAppend(&text, text.size() > 1 ? "," : "", "\"", field->name,
                    "\":", FieldText(*field, held));
  }
  return text + "}";
}

}  // namespace kube::schema
