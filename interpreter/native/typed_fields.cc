// Every reader returns the zero value for what is absent, null or of a wrong type, and reports the
// last of these to the outermost object, which keeps the first report. So a handler reads
// everything it needs without a look at errors and asks once at its end; results before that must
// not be used. Paths are built only for a report, by going up the parents, which live on the stack
// of the handler.

#include "interpreter/native/typed_fields.h"

#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"

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

// Returns whether `b` has each non-zero member of `a` with the same value.
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
  const json::Value& v = Held(name);
  if (v.is_null()) return std::nullopt;
  if (v.is_int() && v.AsInt() == static_cast<int32_t>(v.AsInt())) return v.AsInt();
  Fail(name, v, v.is_int() ? "a 32-bit integer" : "an integer");
  return std::nullopt;
}

int64_t Fields::Int64(absl::string_view name) {
  const json::Value& v = Held(name);
  if (!v.is_int() && !v.is_null()) Fail(name, v, "an integer");
  return v.is_int() ? v.AsInt() : 0;
}

bool Fields::Bool(absl::string_view name) {
  const json::Value& v = Held(name);
  if (!v.is_bool() && !v.is_null()) Fail(name, v, "a boolean");
  return v.AsBool();
}

absl::string_view Fields::String(absl::string_view name) {
  const json::Value& v = Held(name);
  if (!v.is_string() && !v.is_null()) Fail(name, v, "a string");
  return v.AsString();
}

absl::string_view Fields::Time(absl::string_view name) {
  const json::Value& v = Held(name);
  if (v.is_null()) return "";
  if (kube::ParseTime(v.AsString()).ok()) return v.AsString();
  Fail(name, v, "an RFC 3339 time");
  return "";
}

const json::Value& Fields::Object(absl::string_view name) {
  const json::Value& v = Held(name);
  if (IsObject(v)) return v;
  Fail(name, v, "an object");
  return Null();
}

absl::Span<const json::Value> Fields::Array(absl::string_view name) {
  const json::Value& v = Held(name);
  if (!v.is_array() && !v.is_null() && !(v.is_object() && IsShapeless(v))) Fail(name, v, "a list");
  return v.items();
}

const json::Value& Fields::StringMap(absl::string_view name) {
  const json::Value& map = Object(name);
  for (const json::Member& member : map.members()) {
    if (member.value.is_string() || member.value.is_null()) continue;
    // Made only for its path.
    Fields(map, *this, name, kNoIndex).Fail(member.name(), member.value, "a string");
    return Null();
  }
  return map;
}

const json::Value& Fields::StringList(absl::string_view name) {
  for (const json::Value& item : Array(name)) {
    if (item.is_string() || item.is_null()) continue;
    Fail(name, Held(name), "a list of strings");
    return Null();
  }
  return Held(name);
}

std::string Fields::Path() const {
  if (parent_ == nullptr) return std::string(name_);
  std::string path = parent_->Path();
  absl::StrAppend(&path, path.empty() ? "" : ".", name_);
  if (index_ != kNoIndex) absl::StrAppend(&path, "[", index_, "]");
  return path;
}

void Fields::AddError(absl::string_view name, const absl::Status& error) {
  if (!root_->error_.ok()) return;
  const std::string path = Path();
  root_->error_ = absl::Status(
      error.code(), absl::StrCat(path, path.empty() || name.empty() ? "" : ".", name,
                                 path.empty() && name.empty() ? "" : ": ", error.message()));
}

void Fields::Fail(absl::string_view name, const json::Value& held, absl::string_view expected) {
  AddError(name, absl::InvalidArgumentError(absl::StrCat(json::Write(held), " is not ", expected)));
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

void RetainFilledIn(const kube::Object& observed, absl::string_view field, kube::Object& retained) {
  const json::Value& filled_in = observed.spec()[field];
  if (filled_in.is_null() || !retained.spec()[field].is_null()) return;
  retained.Set({"spec", field}, filled_in);
}

}  // namespace interpreter::native
