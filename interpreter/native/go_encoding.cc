#include "interpreter/native/go_encoding.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "interpreter/native/quantity_text.h"
#include "kube/meta/object.h"

namespace interpreter::native {

namespace {

using Form = Type::Form;

bool IsWhole(const json::Value& value) {
  if (value.is_int()) return true;
  constexpr double kBound = 9223372036854775808.0;  // 2^63.
  const double number = value.AsDouble();
  return value.is_number() && std::trunc(number) == number && number >= -kBound && number < kBound;
}

// Encodes one value. The first error is kept; once there is an error, results are meaningless.
class Encoder {
 public:
  explicit Encoder(EmptyLists empty_lists) : empty_lists_(empty_lists) {}

  const absl::Status& error() const { return error_; }

  json::Value Encode(const Type& type, const json::Value& value) {
    switch (type.form) {
      case Form::kString:
        return value.is_null() || value.is_string() ? value.AsString() : Wrong(value, "a string");
      case Form::kBool:
        return value.is_null() || value.is_bool() ? value.AsBool() : Wrong(value, "a boolean");
      case Form::kInt32:
      case Form::kInt64:
        return Integer(type, value);
      case Form::kQuantity:
        return Quantity(value);
      case Form::kTime:
        return Time(value);
      case Form::kIntOrString:
        return IntOrString(value);
      case Form::kRaw:
        return value;
      case Form::kPointer:
        return value.is_null() ? value : Encode(*type.element, value);
      case Form::kList:
        return List(type, value);
      case Form::kMap:
        return Map(type, value);
      case Form::kStruct:
        return Struct(type, value);
    }
    return json::Value();
  }

 private:
  json::Value Wrong(const json::Value& value, absl::string_view wanted) {
    if (error_.ok()) {
      error_ = absl::InvalidArgumentError(
          absl::StrCat(absl::StrJoin(path_, "."), ": ", json::Write(value), " is not ", wanted));
    }
    return json::Value();
  }

  json::Value At(absl::string_view name, const Type& type, const json::Value& value) {
    path_.push_back(name);
    json::Value out = Encode(type, value);
    path_.pop_back();
    return out;
  }

  // An integer too large for an int32 loses its upper half, as in Go.
  json::Value Integer(const Type& type, const json::Value& value) {
    if (!value.is_null() && !IsWhole(value)) return Wrong(value, "an integer");
    return type.form == Form::kInt32 ? static_cast<int32_t>(value.AsInt()) : value.AsInt();
  }

  json::Value Quantity(const json::Value& value) {
    if (value.is_null()) return "0";
    if (!value.is_string() && !value.is_number()) return Wrong(value, "a quantity");
    const std::string text = value.is_string() ? value.ToString() : json::Write(value);
    const auto rewritten = RewrittenQuantity(absl::StripAsciiWhitespace(text));
    return rewritten.ok() ? json::Value(*rewritten) : Wrong(value, "a quantity");
  }

  json::Value Time(const json::Value& value) {
    if (value.is_null()) return value;
    const auto time = kube::ParseTime(value.AsString());
    if (!time.ok()) return Wrong(value, "a time");
    const std::string text = kube::FormatTime(*time);
    return text == "0001-01-01T00:00:00Z" ? json::Value() : json::Value(text);  // Go's zero time.
  }

  json::Value IntOrString(const json::Value& value) {
    if (value.is_null()) return 0;
    if (value.is_string()) return value;
    const int64_t number = value.AsInt();
    const bool fits = IsWhole(value) && number == static_cast<int32_t>(number);
    return fits ? json::Value(number) : Wrong(value, "an integer of 32 bits or a string");
  }

  json::Value List(const Type& type, const json::Value& value) {
    if (value.is_null()) return value;
    if (!value.is_array()) return Wrong(value, "a list");
    json::Value out = json::Value::Array();
    for (const json::Value& item : value.items()) out.Append(Encode(*type.element, item));
    return out;
  }

  json::Value Map(const Type& type, const json::Value& value) {
    if (value.is_null()) return value;
    if (!value.is_object()) return Wrong(value, "an object");
    std::vector<json::Member> out;
    out.reserve(value.size());
    for (const json::Member& member : value.members()) {
      out.push_back(member);  // Shares the text of the name.
      out.back().value = At(member.name(), *type.element, member.value);
    }
    return json::Value::OfMembers(std::move(out));
  }

  json::Value Struct(const Type& type, const json::Value& value) {
    if (!value.is_null() && !value.is_object()) return Wrong(value, "an object");
    std::vector<json::Member> out;
    for (const Field& field : type.fields) {
      const absl::string_view name = field.name.AsString();
      const json::Value& given = value[name];
      json::Value encoded = At(name, *field.type, given);
      if (!IsLeftOut(field, given, encoded)) out.emplace_back(field.name, std::move(encoded));
    }
    return json::Value::OfMembers(std::move(out));
  }

  bool IsLeftOut(const Field& field, const json::Value& given, const json::Value& encoded) const {
    if (field.omit_zero && encoded.is_null()) return true;
    if (!field.omit_empty) return false;
    switch (field.type->form) {
      case Form::kString:
        return encoded.AsString().empty();
      case Form::kBool:
        return !encoded.AsBool();
      case Form::kInt32:
      case Form::kInt64:
        return encoded.AsInt() == 0;
      case Form::kPointer:
        return given.is_null();  // Go writes a pointer to the zero time as null.
      case Form::kList:
      case Form::kMap:
        return empty_lists_ == EmptyLists::kOmitted ? encoded.empty() : encoded.is_null();
      default:  // Go's encoder never takes a struct for empty.
        return false;
    }
  }

  const EmptyLists empty_lists_;
  std::vector<absl::string_view> path_;
  absl::Status error_;
};

}  // namespace

absl::StatusOr<json::Value> EncodeAsGo(const Type& type, const json::Value& value,
                                       EmptyLists empty_lists) {
  Encoder encoder(empty_lists);
  json::Value out = encoder.Encode(type, value);
  if (!encoder.error().ok()) return encoder.error();
  return out;
}

}  // namespace interpreter::native
