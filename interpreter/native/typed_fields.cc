#include "interpreter/native/typed_fields.h"

#include "absl/strings/str_cat.h"

namespace interpreter::native {

namespace {

const json::Value& Null() {
  static const json::Value null;
  return null;
}

bool IsZero(const json::Value& v) {
  switch (v.type()) {
    case json::Value::Type::kNull:
      return true;
    case json::Value::Type::kBool:
      return !v.AsBool();
    case json::Value::Type::kInt:
      return v.AsInt() == 0;
    case json::Value::Type::kString:
      return v.AsString().empty();
    default:
      return false;
  }
}

bool SameMember(const json::Value& a, const json::Value& b);

// Whether each member of `a` that is not zero is the same in `b`.
bool CoveredBy(const json::Value& a, const json::Value& b) {
  for (const json::Member& member : a.members()) {
    if (!IsZero(member.value) && !SameMember(member.value, b[member.name()])) return false;
  }
  return true;
}

bool SameMember(const json::Value& a, const json::Value& b) {
  if (a.is_object() && b.is_object()) return CoveredBy(a, b) && CoveredBy(b, a);
  return a == b || (IsZero(a) && IsZero(b));
}

}  // namespace

std::optional<int64_t> Fields::OptionalInt(absl::string_view name) {
  const json::Value& v = object_[name];
  if (v.is_null()) return std::nullopt;
  if (v.is_int() && v.AsInt() == static_cast<int32_t>(v.AsInt())) return v.AsInt();
  Fail(name, v.is_int() ? "32-bit integer" : "integer");
  return std::nullopt;
}

int64_t Fields::Int64(absl::string_view name) {
  const json::Value& v = object_[name];
  if (!v.is_int() && !v.is_null()) Fail(name, "integer");
  return v.is_int() ? v.AsInt() : 0;
}

bool Fields::Bool(absl::string_view name) {
  const json::Value& v = object_[name];
  if (!v.is_bool() && !v.is_null()) Fail(name, "boolean");
  return v.AsBool();
}

absl::string_view Fields::String(absl::string_view name) {
  const json::Value& v = object_[name];
  if (!v.is_string() && !v.is_null()) Fail(name, "string");
  return v.AsString();
}

const json::Value& Fields::Object(absl::string_view name) {
  const json::Value& v = object_[name];
  if (v.is_object() || v.is_null()) return v;
  Fail(name, "object");
  return Null();
}

absl::Span<const json::Value> Fields::Array(absl::string_view name) {
  const json::Value& v = object_[name];
  if (!v.is_array() && !v.is_null()) Fail(name, "list");
  return v.items();
}

void Fields::Fail(absl::string_view name, absl::string_view expected) {
  if (!error_.ok()) return;
  const json::Value& v = name.empty() ? object_ : object_[name];
  error_ = absl::InvalidArgumentError(absl::StrCat(where_, name.empty() ? "" : ".", name, ": ",
                                                   json::Write(v), " is no ", expected));
}

void SetOrOmit(json::Value& object, absl::string_view name, int64_t value) {
  if (value != 0) {
    object.Set(name, value);
  } else if (object.Has(name)) {
    object.Erase(name);
  }
}

bool SameTyped(const json::Value& a, const json::Value& b) {
  return CoveredBy(a, b) && CoveredBy(b, a);
}

}  // namespace interpreter::native
