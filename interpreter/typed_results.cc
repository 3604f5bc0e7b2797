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

namespace interpreter {

namespace {

// Types of members. A struct is described by the list of its members.
enum class Shape {
  kString,
  kBool,
  kInt32,
  kInt64,
  kStrings,
  kStringMap,
  kQuantityMap,
  kStruct,
  kStructs,
  kAnything
};

// What happens to a member whose value is the zero value.
enum class Zero {
  kOmitted,  // The field has omitempty: it is left out.
  kWritten,  // The field has no omitempty: it is written even if absent.
  kKept,     // The field is a pointer: it is written if present.
};

struct Field {
  absl::string_view name;
  Shape shape;
  absl::Span<const Field> members = {};  // For kStruct and kStructs.
  Zero zero = Zero::kOmitted;
};

constexpr Field kNodeSelectorRequirement[] = {{"key", Shape::kString, {}, Zero::kWritten},
                                              {"operator", Shape::kString, {}, Zero::kWritten},
                                              {"values", Shape::kStrings}};
constexpr Field kNodeSelectorTerm[] = {
    {"matchExpressions", Shape::kStructs, kNodeSelectorRequirement},
    {"matchFields", Shape::kStructs, kNodeSelectorRequirement}};
constexpr Field kNodeSelector[] = {
    {"nodeSelectorTerms", Shape::kStructs, kNodeSelectorTerm, Zero::kWritten}};
constexpr Field kToleration[] = {{"key", Shape::kString},
                                 {"operator", Shape::kString},
                                 {"value", Shape::kString},
                                 {"effect", Shape::kString},
                                 {"tolerationSeconds", Shape::kInt64, {}, Zero::kKept}};
constexpr Field kNodeClaim[] = {{"hardNodeAffinity", Shape::kStruct, kNodeSelector, Zero::kKept},
                                {"nodeSelector", Shape::kStringMap},
                                {"tolerations", Shape::kStructs, kToleration}};
constexpr Field kReplicaRequirements[] = {{"nodeClaim", Shape::kStruct, kNodeClaim, Zero::kKept},
                                          {"resourceRequest", Shape::kQuantityMap},
                                          {"namespace", Shape::kString},
                                          {"priorityClassName", Shape::kString}};
constexpr Field kComponentRequirements[] = {{"nodeClaim", Shape::kStruct, kNodeClaim, Zero::kKept},
                                            {"resourceRequest", Shape::kQuantityMap},
                                            {"priorityClassName", Shape::kString}};
constexpr Field kComponent[] = {
    {"name", Shape::kString, {}, Zero::kWritten},
    {"replicas", Shape::kInt32, {}, Zero::kWritten},
    {"replicaRequirements", Shape::kStruct, kComponentRequirements, Zero::kKept}};
constexpr Field kLabelSelectorRequirement[] = {{"key", Shape::kString, {}, Zero::kWritten},
                                               {"operator", Shape::kString, {}, Zero::kWritten},
                                               {"values", Shape::kStrings}};
constexpr Field kLabelSelector[] = {
    {"matchLabels", Shape::kStringMap},
    {"matchExpressions", Shape::kStructs, kLabelSelectorRequirement}};
constexpr Field kDependency[] = {{"apiVersion", Shape::kString, {}, Zero::kWritten},
                                 {"kind", Shape::kString, {}, Zero::kWritten},
                                 {"namespace", Shape::kString},
                                 {"name", Shape::kString},
                                 {"labelSelector", Shape::kStruct, kLabelSelector, Zero::kKept}};
constexpr Field kAggregatedItem[] = {{"clusterName", Shape::kString, {}, Zero::kWritten},
                                     {"status", Shape::kAnything, {}, Zero::kKept},
                                     {"applied", Shape::kBool},
                                     {"appliedMessage", Shape::kString},
                                     {"health", Shape::kString}};

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

absl::StatusOr<json::Value> ReadStruct(const json::Value& v, absl::Span<const Field> members);

absl::StatusOr<json::Value> ReadField(const json::Value& v, const Field& field) {
  const auto read_struct = [&](const json::Value& one) { return ReadStruct(one, field.members); };
  switch (field.shape) {
    case Shape::kString:
      return ReadString(v);
    case Shape::kBool:
      if (v.type() != json::Value::Type::kBool) return Mismatch("a boolean", v);
      return v;
    case Shape::kInt32:
      return ReadInt(v, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    case Shape::kInt64:
      return ReadInt(v, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
    case Shape::kStrings:
      return ReadItems(v, "", ReadString);
    case Shape::kStringMap:
      return ReadMembers(v, "", ReadString);
    case Shape::kQuantityMap:
      return ReadMembers(v, 0, ReadQuantity);
    case Shape::kStruct:
      return read_struct(v);
    case Shape::kStructs:
      return ReadItems(v, json::Value::Object(), read_struct);
    case Shape::kAnything:
      return v;
  }
  return v;
}

// Returns the member of that name, else a member whose name differs only in case, else nullptr.
const json::Value* FindAnyCase(const json::Value& object, absl::string_view name) {
  if (const json::Value* exact = object.Find(name); exact != nullptr) return exact;
  for (const json::Member& member : object.members()) {
    if (absl::EqualsIgnoreCase(member.name(), name)) return &member.value;
  }
  return nullptr;
}

bool IsZero(const json::Value& v, Shape shape) {
  switch (shape) {
    case Shape::kString:
      return v.AsString().empty();
    case Shape::kBool:
      return !v.AsBool();
    case Shape::kInt32:
    case Shape::kInt64:
      return v.AsInt() == 0;
    default:
      return v.empty();
  }
}

json::Value ZeroOf(Shape shape) {
  if (shape == Shape::kString) return "";
  if (shape == Shape::kInt32 || shape == Shape::kInt64) return 0;
  return nullptr;  // A nil list.
}

bool ReadsAsItIs(const json::Value& v, const Field& field);

bool StructReadsAsItIs(const json::Value& v, absl::Span<const Field> members) {
  size_t met = 0;
  for (const Field& field : members) {
    const json::Value* held = v.Find(field.name);
    if (held == nullptr && field.zero != Zero::kWritten) continue;
    if (held == nullptr || !ReadsAsItIs(*held, field)) return false;
    ++met;
  }
  return v.is_object() && met == v.size();
}

// Returns whether reading changes nothing, as with most results of scripts: then the value itself
// is the answer, which is much cheaper. May return false for a value that reading does not change.
bool ReadsAsItIs(const json::Value& v, const Field& field) {
  const auto is_string = [](const json::Value& one) { return one.is_string(); };
  const auto is_struct = [&](const json::Value& one) {
    return StructReadsAsItIs(one, field.members);
  };
  if (field.zero == Zero::kOmitted && IsZero(v, field.shape)) return false;
  switch (field.shape) {
    case Shape::kString:
      return v.is_string();
    case Shape::kStrings:
      return v.is_array() && absl::c_all_of(v.items(), is_string);
    case Shape::kStringMap:
      return v.is_object() && absl::c_all_of(v.members(), [](const json::Member& member) {
               return member.value.is_string();
             });
    case Shape::kStruct:
      return is_struct(v);
    case Shape::kStructs:
      return v.is_array() && absl::c_all_of(v.items(), is_struct);
    default:
      return false;
  }
}

absl::StatusOr<json::Value> ReadStruct(const json::Value& v, absl::Span<const Field> members) {
  if (!v.is_object()) return Mismatch("an object", v);
  if (StructReadsAsItIs(v, members)) return v;
  json::Value out = json::Value::Object();
  for (const Field& field : members) {
    const json::Value* held = FindAnyCase(v, field.name);
    if (held == nullptr || held->is_null()) {
      if (field.zero == Zero::kWritten) out.Set(field.name, ZeroOf(field.shape));
      continue;
    }
    absl::StatusOr<json::Value> value = ReadField(*held, field);
    if (!value.ok()) return base::Annotate(value.status(), field.name);
    if (field.zero == Zero::kOmitted && IsZero(*value, field.shape)) continue;
    out.Set(field.name, *std::move(value));
  }
  return out;
}

absl::StatusOr<json::Value> ReadStructs(const json::Value& v, absl::Span<const Field> members) {
  const auto is_read = [&](const json::Value& one) { return StructReadsAsItIs(one, members); };
  if (v.is_array() && absl::c_all_of(v.items(), is_read)) return v;
  return ReadItems(v, json::Value::Object(),
                   [&](const json::Value& one) { return ReadStruct(one, members); });
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
  std::vector<UnknownMember> InStruct(const json::Value& v, absl::Span<const Field> members) {
    Look(v, {"", Shape::kStruct, members}, "");
    return std::move(found_);
  }
  std::vector<UnknownMember> InStructs(const json::Value& v, absl::Span<const Field> members) {
    Look(v, {"", Shape::kStructs, members}, "");
    return std::move(found_);
  }

 private:
  void Look(const json::Value& v, const Field& field, const std::string& path) {
    if (field.shape == Shape::kStruct) LookAtMembers(v, field.members, path);
    if (field.shape != Shape::kStructs) return;
    size_t i = 0;
    for (const json::Value& item : v.items()) {
      LookAtMembers(item, field.members, absl::StrCat(path, "[", i++, "]"));
    }
  }

  void LookAtMembers(const json::Value& v, absl::Span<const Field> fields,
                     const std::string& path) {
    for (const json::Member& member : v.members()) {
      const auto* field = absl::c_find_if(fields, [&](const Field& known) {
        return absl::EqualsIgnoreCase(known.name, member.name());
      });
      const std::string below = absl::StrCat(path, path.empty() ? "" : ".", member.name());
      if (field != fields.end()) {
        Look(member.value, *field, below);
        continue;
      }
      UnknownMember& unknown = found_.emplace_back();
      unknown.path = below;
      unknown.name = std::string(member.name());
      for (const Field& known : fields) unknown.known.push_back(known.name);
    }
  }

  std::vector<UnknownMember> found_;
};

}  // namespace

absl::StatusOr<json::Value> ReadRequirements(const json::Value& value) {
  return ReadStruct(value, kReplicaRequirements);
}

absl::StatusOr<json::Value> ReadComponents(const json::Value& value) {
  return ReadStructs(value, kComponent);
}

absl::StatusOr<json::Value> ReadDependencies(const json::Value& value) {
  return ReadStructs(value, kDependency);
}

absl::StatusOr<json::Value> ReadAggregatedItems(const json::Value& value) {
  if (value.is_null()) return json::Value();
  return ReadStructs(value, kAggregatedItem);
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
  return UnknownMembers().InStruct(value, kReplicaRequirements);
}

std::vector<UnknownMember> UnknownInComponents(const json::Value& value) {
  return UnknownMembers().InStructs(value, kComponent);
}

std::vector<UnknownMember> UnknownInDependencies(const json::Value& value) {
  return UnknownMembers().InStructs(value, kDependency);
}

}  // namespace interpreter
