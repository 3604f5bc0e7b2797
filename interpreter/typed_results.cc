// Tables of the structs' fields, one walk that reads a value by them, and one that finds members
// they lack. ReadStruct goes over the fields of the struct, not over the members of the value, so
// that unknown members drop out and the order is Go's. Most results are already in the form in
// which they would be written; StructReadsAsItIs recognises these first, and they are returned
// without a copy. Errors name the path. The functions have no state and may be called on any
// thread.

#include "interpreter/typed_results.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status.h"
#include "kube/meta/quantity.h"
#include "kube/schema/types.h"

namespace interpreter {

namespace {

using kube::schema::Field;
using kube::schema::Shape;
using kube::schema::Struct;
using kube::schema::Type;

// Whether a zero value is left out, as with omitempty. A pointer to one is written.
bool OmitsZero(const Field& field) { return field.omits_empty() && !field.pointer(); }

absl::string_view TypeOf(const json::Value& v) {
  switch (v.type()) {
    case json::Value::Type::kNull:
      return "null";
    case json::Value::Type::kBool:
      return "a boolean";
    case json::Value::Type::kInt:
    case json::Value::Type::kDouble:
      return "a number";
    case json::Value::Type::kString:
      return "a string";
    case json::Value::Type::kArray:
      return "an array";
    case json::Value::Type::kObject:
      return "an object";
  }
  return "";
}

absl::Status Mismatch(absl::string_view expected, const json::Value& v) {
  return absl::InvalidArgumentError(absl::StrCat("expected ", expected, ", got ", TypeOf(v)));
}

absl::StatusOr<json::Value> ReadString(const json::Value& v) {
  if (v.is_string()) return v;
  return Mismatch("a string", v);
}

absl::StatusOr<json::Value> ReadInt(const json::Value& v, int64_t least, int64_t most) {
  if (!v.is_number()) return Mismatch("an integer", v);
  const int64_t read = v.AsInt(0);
  // A number that AsInt has cut off, or that is no whole one, differs from what was read.
  const bool whole = v == json::Value(read);
  if (whole && read >= least && read <= most) return json::Value(read);
  return absl::InvalidArgumentError(absl::StrCat(
      json::Write(v), whole ? " does not fit in 32 bits" : " is not a whole number of 64 bits"));
}

absl::StatusOr<json::Value> ReadQuantity(const json::Value& v) {
  if (!v.is_string() && !v.is_number()) return Mismatch("a quantity", v);
  ASSIGN_OR_RETURN(const kube::Quantity quantity, kube::Quantity::FromJson(v));
  return json::Value(quantity.ToString());
}

// Reads each item with `read` and each null as `zero`; errors name the item.
template <class Read>
absl::StatusOr<json::Value> ReadItems(const json::Value& v, const json::Value& zero, Read read) {
  if (!v.is_array()) return Mismatch("an array", v);
  std::vector<json::Value> out;
  out.reserve(v.size());
  for (const json::Value& item : v.items()) {
    absl::StatusOr<json::Value> one = read(item.is_null() ? zero : item);
    if (!one.ok()) return base::Annotate(one.status(), "[", out.size(), "]");
    out.push_back(*std::move(one));
  }
  return json::Value::OfItems(std::move(out));
}

template <class Read>
absl::StatusOr<json::Value> ReadMembers(const json::Value& v, const json::Value& zero, Read read) {
  if (!v.is_object()) return Mismatch("an object", v);
  json::Value out = json::Value::Object();
  for (const json::Member& member : v.members()) {
    absl::StatusOr<json::Value> one = read(member.value.is_null() ? zero : member.value);
    if (!one.ok()) return base::Annotate(one.status(), member.name());
    out.Set(member.name(), *std::move(one));
  }
  return out;
}

absl::StatusOr<json::Value> ReadStruct(const json::Value& v, const Struct& type);

// Returns what Go writes for one value of the type that is null.
json::Value ZeroOfType(Type type) {
  if (type == Type::kStruct) return json::Value::Object();
  if (type == Type::kString) return "";
  return 0;
}

absl::StatusOr<json::Value> ReadOne(const json::Value& v, const Field& field) {
  switch (field.type) {
    case Type::kString:
      return ReadString(v);
    case Type::kBool:
      if (v.type() != json::Value::Type::kBool) return Mismatch("a boolean", v);
      return v;
    case Type::kInt32:
      return ReadInt(v, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    case Type::kInt64:
      return ReadInt(v, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
    case Type::kQuantity:
      return ReadQuantity(v);
    case Type::kStruct:
      return ReadStruct(v, *field.of);
    default:
      return v;
  }
}

absl::StatusOr<json::Value> ReadField(const json::Value& v, const Field& field) {
  const auto read_one = [&](const json::Value& one) { return ReadOne(one, field); };
  switch (field.shape) {
    case Shape::kOne:
      return read_one(v);
    case Shape::kList:
      return ReadItems(v, ZeroOfType(field.type), read_one);
    case Shape::kMap:
      break;
  }
  return ReadMembers(v, ZeroOfType(field.type), read_one);
}

// Returns the member of that name, else a member whose name differs only in case, else nullptr.
const json::Value* FindAnyCase(const json::Value& object, absl::string_view name) {
  if (const json::Value* exact = object.Find(name); exact != nullptr) return exact;
  for (const json::Member& member : object.members()) {
    if (absl::EqualsIgnoreCase(member.name(), name)) return &member.value;
  }
  return nullptr;
}

bool IsZero(const json::Value& v, const Field& field) {
  if (field.shape != Shape::kOne) return v.empty();
  switch (field.type) {
    case Type::kString:
      return v.AsString().empty();
    case Type::kBool:
      return !v.AsBool();
    case Type::kInt32:
    case Type::kInt64:
      return v.AsInt() == 0;
    default:
      return v.empty();
  }
}

json::Value ZeroOf(const Field& field) {
  if (field.shape != Shape::kOne) return nullptr;  // A nil list.
  return ZeroOfType(field.type);
}

bool ReadsAsItIs(const json::Value& v, const Field& field);

bool StructReadsAsItIs(const json::Value& v, const Struct& type) {
  size_t met = 0;
  for (const Field& field : type.fields) {
    const json::Value* held = v.Find(field.name);
    if (held == nullptr && field.omits_empty()) continue;
    if (held == nullptr || !ReadsAsItIs(*held, field)) return false;
    ++met;
  }
  return v.is_object() && met == v.size();
}

// Returns whether reading changes nothing, as with most results of scripts: then the value itself
// is the answer, which is much cheaper. May return false for a value that reading does not change.
bool ReadsAsItIs(const json::Value& v, const Field& field) {
  const auto is_string = [](const json::Value& one) { return one.is_string(); };
  const auto is_struct = [&](const json::Value& one) { return StructReadsAsItIs(one, *field.of); };
  if (OmitsZero(field) && IsZero(v, field)) return false;
  const bool strings = field.type == Type::kString;
  if (!strings && field.type != Type::kStruct) return false;
  switch (field.shape) {
    case Shape::kOne:
      return strings ? v.is_string() : is_struct(v);
    case Shape::kList:
      return v.is_array() && (strings ? absl::c_all_of(v.items(), is_string)
                                      : absl::c_all_of(v.items(), is_struct));
    case Shape::kMap:
      break;
  }
  return strings && v.is_object() && absl::c_all_of(v.members(), [](const json::Member& member) {
           return member.value.is_string();
         });
}

absl::StatusOr<json::Value> ReadStruct(const json::Value& v, const Struct& type) {
  if (!v.is_object()) return Mismatch("an object", v);
  if (StructReadsAsItIs(v, type)) return v;
  json::Value out = json::Value::Object();
  for (const Field& field : type.fields) {
    const json::Value* held = FindAnyCase(v, field.name);
    if (held == nullptr || held->is_null()) {
      if (!field.omits_empty()) out.Set(field.name, ZeroOf(field));
      continue;
    }
    absl::StatusOr<json::Value> value = ReadField(*held, field);
    if (!value.ok()) return base::Annotate(value.status(), field.name);
    if (OmitsZero(field) && IsZero(*value, field)) continue;
    out.Set(field.name, *std::move(value));
  }
  return out;
}

absl::StatusOr<json::Value> ReadStructs(const json::Value& v, const Struct& type) {
  const auto is_read = [&](const json::Value& one) { return StructReadsAsItIs(one, type); };
  if (v.is_array() && absl::c_all_of(v.items(), is_read)) return v;
  return ReadItems(v, json::Value::Object(),
                   [&](const json::Value& one) { return ReadStruct(one, type); });
}

bool HasNull(const json::Value& v) {
  if (v.is_array()) return absl::c_any_of(v.items(), HasNull);
  if (!v.is_object()) return v.is_null();
  return absl::c_any_of(v.members(),
                        [](const json::Member& member) { return HasNull(member.value); });
}

// Finds members of a value that its type does not have. REQUIRES: the value was read without an
// error.
class UnknownMembers {
 public:
  std::vector<UnknownMember> InStruct(const json::Value& v, const Struct& type) {
    LookAtMembers(v, type, "");
    return std::move(found_);
  }
  std::vector<UnknownMember> InStructs(const json::Value& v, const Struct& type) {
    LookAtItems(v, type, "");
    return std::move(found_);
  }

 private:
  void Look(const json::Value& v, const Field& field, const std::string& path) {
    if (field.of == nullptr) return;
    if (field.shape == Shape::kOne) LookAtMembers(v, *field.of, path);
    if (field.shape == Shape::kList) LookAtItems(v, *field.of, path);
  }

  void LookAtItems(const json::Value& v, const Struct& type, const std::string& path) {
    size_t i = 0;
    for (const json::Value& item : v.items()) {
      LookAtMembers(item, type, absl::StrCat(path, "[", i++, "]"));
    }
  }

  void LookAtMembers(const json::Value& v, const Struct& type, const std::string& path) {
    for (const json::Member& member : v.members()) {
      const auto* field = absl::c_find_if(type.fields, [&](const Field& known) {
        return absl::EqualsIgnoreCase(known.name, member.name());
      });
      const std::string below = absl::StrCat(path, path.empty() ? "" : ".", member.name());
      if (field != type.fields.end()) {
        Look(member.value, *field, below);
        continue;
      }
      UnknownMember& unknown = found_.emplace_back();
      unknown.path = below;
      unknown.name = std::string(member.name());
      for (const Field& known : type.fields) unknown.known.push_back(known.name);
    }
  }

  std::vector<UnknownMember> found_;
};

}  // namespace

absl::StatusOr<json::Value> ReadRequirements(const json::Value& value) {
  return ReadStruct(value, kube::schema::ReplicaRequirements());
}

absl::StatusOr<json::Value> ReadComponents(const json::Value& value) {
  return ReadStructs(value, kube::schema::Component());
}

absl::StatusOr<json::Value> ReadDependencies(const json::Value& value) {
  return ReadStructs(value, kube::schema::DependentObjectReference());
}

absl::StatusOr<json::Value> ReadAggregatedItems(const json::Value& value) {
  if (value.is_null()) return json::Value();
  return ReadStructs(value, kube::schema::AggregatedStatusItem());
}

json::Value WithoutNulls(const json::Value& value) {
  if (!HasNull(value)) return value;
  json::Value out = value.is_array() ? json::Value::Array() : json::Value::Object();
  for (const json::Value& item : value.items()) {
    if (!item.is_null()) out.Append(WithoutNulls(item));
  }
  for (const json::Member& member : value.members()) {
    if (!member.value.is_null()) out.Set(member.name(), WithoutNulls(member.value));
  }
  return value.is_null() ? value : out;
}

std::vector<UnknownMember> UnknownInRequirements(const json::Value& value) {
  return UnknownMembers().InStruct(value, kube::schema::ReplicaRequirements());
}

std::vector<UnknownMember> UnknownInComponents(const json::Value& value) {
  return UnknownMembers().InStructs(value, kube::schema::Component());
}

std::vector<UnknownMember> UnknownInDependencies(const json::Value& value) {
  return UnknownMembers().InStructs(value, kube::schema::DependentObjectReference());
}

}  // namespace interpreter
