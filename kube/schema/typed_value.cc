// One walk over a value and the struct that describes it. In both, fields are sorted by name, so
// that an object is read by going through the two lists side by side: a member that is passed over
// is unknown, a field that is passed over is absent. The first error is kept; the walk goes on to
// its end, and its result is dropped.

#include "kube/schema/typed_value.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"
#include "kube/schema/internal/quantity_text.h"

namespace kube::schema {
namespace {

using Fields = TypedForm::Fields;

absl::string_view JsonType(const json::Value& v) {
  if (v.is_null()) return "null";
  if (v.is_string()) return "string";
  if (v.is_bool()) return "bool";
  if (v.is_number()) return "number";
  return v.is_array() ? "array" : "object";
}

bool IsWhole(const json::Value& value) {
  if (value.is_int()) return true;
  constexpr double kBound = 9223372036854775808.0;  // 2^63.
  const double number = value.AsDouble();
  return value.is_number() && std::trunc(number) == number && number >= -kBound && number < kBound;
}

// Whether Go's encoder takes the value of a field for empty. It never does with a struct.
bool IsEmpty(const json::Value& v, Type type) {
  switch (type) {
    case Type::kString:
    case Type::kBytes:
      return v.AsString().empty();
    case Type::kBool:
      return !v.AsBool();
    case Type::kInt32:
    case Type::kInt64:
      return v.AsInt() == 0;
    default:
      return false;
  }
}

class Walk {
 public:
  explicit Walk(const TypedForm& form) : form_(form) {}

  const absl::Status& error() const { return error_; }

  json::Value Object(const Struct& type, const json::Value& value) {
    if (!value.is_null() && !value.is_object()) return Wrong(value, type.name);
    const Struct* const outer = std::exchange(owner_, &type);
    std::vector<json::Member> out;
    out.reserve(full() ? type.fields.size() : value.size());
    const absl::Span<const json::Member> members = value.members();
    const auto* given = members.begin();
    for (const Field& field : type.fields) {
      for (; given != members.end() && given->name() < field.name; ++given) Unknown(*given);
      if (given != members.end() && given->name() == field.name) {
        PutGiven(field, *given++, out);
      } else if (full()) {
        PutAbsent(field, out);
      }
    }
    for (; given != members.end(); ++given) Unknown(*given);
    owner_ = outer;
    return json::Value::OfMembers(std::move(out));
  }

 private:
  // The name of a member, or the index of an item.
  struct Step {
    absl::string_view name;
    size_t index = 0;
  };

  bool full() const { return form_.fields == Fields::kFull; }

  std::string Path() const {
    std::string path;
    for (const Step& step : path_) {
      if (step.name.data() == nullptr) {
        absl::StrAppend(&path, "[", step.index, "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".", step.name);
      }
    }
    return path;
  }

  json::Value Fail(absl::string_view why) {
    if (error_.ok()) error_ = absl::InvalidArgumentError(why);
    return json::Value();
  }

  json::Value Wrong(const json::Value& value, absl::string_view wanted) {
    if (!error_.ok()) return json::Value();
    const std::string place =
        owner_ == nullptr ? "value" : absl::StrCat("struct field ", owner_->name, ".", Path());
    return Fail(absl::StrCat("json: cannot unmarshal ", JsonType(value), " into Go ", place,
                             " of type ", wanted));
  }

  void Unknown(const json::Member& member) {
    if (form_.unknown == nullptr) return;
    path_.push_back({member.name()});
    form_.unknown->push_back(Path());
    path_.pop_back();
  }

  bool StaysAsItIs(const Field& field) const {
    return !full() && path_.empty() &&
           (field.name == "metadata" || field.name == "kind" || field.name == "apiVersion");
  }

  void PutGiven(const Field& field, const json::Member& given, std::vector<json::Member>& out) {
    if (StaysAsItIs(field)) {
      out.push_back(given);
      return;
    }
    if (given.value.is_null() && !full()) return;
    path_.push_back({field.name});
    json::Value value = Whole(field, given.value);
    path_.pop_back();
    if (IsLeftOut(field, given.value, value)) return;
    out.push_back(given);  // Shares the text of the name.
    out.back().value = std::move(value);
  }

  void PutAbsent(const Field& field, std::vector<json::Member>& out) {
    path_.push_back({field.name});
    json::Value value = Whole(field, json::Value());
    path_.pop_back();
    if (!IsLeftOut(field, json::Value(), value)) out.emplace_back(field.name, std::move(value));
  }

  bool IsLeftOut(const Field& field, const json::Value& given, const json::Value& value) const {
    if (!full()) {
      if (field.shape != Shape::kOne) return value.empty();
      return value.is_null() ||
             (field.omits_empty() && !field.pointer() && IsEmpty(value, field.type));
    }
    if (field.omits_zero_time() && value.is_null()) return true;
    if (!field.omits_empty()) return false;
    if (field.pointer()) return given.is_null();  // Go writes a pointer to the zero time as null.
    if (field.shape != Shape::kOne) {
      return form_.keeps_empty_lists ? value.is_null() : value.empty();
    }
    return IsEmpty(value, field.type);
  }

  json::Value Whole(const Field& field, const json::Value& value) {
    switch (field.shape) {
      case Shape::kOne:
        return field.pointer() && value.is_null() ? value : One(field, value);
      case Shape::kList:
        return List(field, value);
      case Shape::kMap:
        break;
    }
    return Map(field, value);
  }

  json::Value List(const Field& field, const json::Value& value) {
    if (value.is_null()) return value;
    if (!value.is_array()) return Wrong(value, "[]");
    std::vector<json::Value> out;
    out.reserve(value.size());
    path_.push_back({});
    for (const json::Value& item : value.items()) {
      path_.back().index = out.size();
      out.push_back(One(field, item));
    }
    path_.pop_back();
    return json::Value::OfItems(std::move(out));
  }

  json::Value Map(const Field& field, const json::Value& value) {
    if (value.is_null()) return value;
    if (!value.is_object()) return Wrong(value, "map[string]");
    std::vector<json::Member> out;
    out.reserve(value.size());
    for (const json::Member& member : value.members()) {
      path_.push_back({member.name()});
      out.push_back(member);  // Shares the text of the name.
      out.back().value = One(field, member.value);
      path_.pop_back();
    }
    return json::Value::OfMembers(std::move(out));
  }

  json::Value One(const Field& field, const json::Value& value) {
    switch (field.type) {
      case Type::kString:
        return Text(value);
      case Type::kBool:
        if (value.is_null()) return false;
        return value.is_bool() ? value : Wrong(value, "bool");
      case Type::kInt32:
        return Integer(value, "int32", /*cut=*/full());
      case Type::kInt64:
        return Integer(value, "int64", /*cut=*/false);
      case Type::kBytes:
        return Bytes(value);
      case Type::kQuantity:
        return Quantity(value);
      case Type::kTime:
      case Type::kMicroTime:
        return Time(value, field.type == Type::kMicroTime);
      case Type::kIntOrString:
        return IntOrString(value);
      case Type::kRaw:
        return value;
      case Type::kStrings: {
        constexpr Field kItems = {.name = "", .type = Type::kString, .shape = Shape::kList};
        return List(kItems, value);
      }
      case Type::kStruct:
        break;
    }
    return Object(*field.of, value);
  }

  json::Value Text(const json::Value& value) {
    if (value.is_null()) return "";
    return value.is_string() ? value : Wrong(value, "string");
  }

  json::Value Integer(const json::Value& value, absl::string_view wanted, bool cut) {
    if (!value.is_null() && !IsWhole(value)) return Wrong(value, wanted);
    return cut ? static_cast<int32_t>(value.AsInt()) : value.AsInt();
  }

  json::Value Bytes(const json::Value& value) {
    if (value.is_null()) return value;
    if (!value.is_string()) return Wrong(value, "[]byte");
    std::string unused;
    if (absl::Base64Unescape(value.AsString(), &unused)) return value;
    return Fail("illegal base64 data at input byte 0");
  }

  json::Value Quantity(const json::Value& value) {
    if (value.is_null()) return "0";
    if (!value.is_string() && !value.is_number()) return Wrong(value, "resource.Quantity");
    const std::string text = value.is_string() ? value.ToString() : json::Write(value);
    const auto written = internal::QuantityText(absl::StripAsciiWhitespace(text));
    return written.ok() ? json::Value(*written) : Fail(written.status().message());
  }

  json::Value Time(const json::Value& value, bool micro) {
    if (value.is_null()) return value;
    if (!value.is_string()) return Wrong(value, "string");
    const auto time = kube::ParseTime(value.AsString());
    if (!time.ok()) {
      const std::string text = json::Write(value);
      return Fail(absl::StrCat("parsing time ", text, " as ",
                               "\"2006-01-02T15:04:05Z07:00\": cannot parse ", text));
    }
    constexpr absl::Time kZero = absl::FromUnixSeconds(-62135596800);  // Go's: the year 1.
    if (*time == kZero) return json::Value();
    return micro ? kube::FormatMicroTime(*time) : kube::FormatTime(*time);
  }

  json::Value IntOrString(const json::Value& value) {
    if (value.is_null()) return 0;
    if (value.is_string()) return value;
    const int64_t number = value.AsInt();
    const bool fits = IsWhole(value) && number == static_cast<int32_t>(number);
    return fits ? json::Value(number) : Wrong(value, "intstr.IntOrString");
  }

  const TypedForm& form_;
  std::vector<Step> path_;
  const Struct* owner_ = nullptr;  // The struct that the current field belongs to.
  absl::Status error_;
};

}  // namespace

absl::StatusOr<json::Value> TypedValue(const Struct& type, const json::Value& value,
                                       const TypedForm& form) {
  Walk walk(form);
  json::Value out = walk.Object(type, value);
  if (!walk.error().ok()) return walk.error();
  return out;
}

}  // namespace kube::schema
