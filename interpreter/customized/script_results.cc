#include "interpreter/customized/script_results.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/status.h"
#include "interpreter/customized/typed_results.h"
#include "interpreter/dependency_validation.h"

namespace interpreter::customized {

namespace {

using lua::Value;
using Results = absl::Span<const Value>;

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

// What upstream's messages call a Lua type (gopher-lua's LValueType).
int NumberOfType(Value::Type type) {
  switch (type) {
    case Value::Type::kNil:
      return 0;
    case Value::Type::kBoolean:
      return 1;
    case Value::Type::kNumber:
      return 2;
    case Value::Type::kString:
      return 3;
    case Value::Type::kFunction:
      return 4;
    case Value::Type::kTable:
      return 7;
  }
  return 0;
}

// A table, with what an empty one means where it is used; `otherwise` is the message for anything
// else, with the type in place of $0.
absl::StatusOr<json::Value> TableOf(const Value& value, const json::Value& empty,
                                    absl::string_view otherwise) {
  if (value.type != Value::Type::kTable) {
    return Invalid(absl::Substitute(otherwise, lua::TypeName(value.type)));
  }
  return value.shapeless ? empty : value.json;
}

constexpr absl::string_view kNoRequirements =
    "expect the returned requires type is table but got $0";

absl::StatusOr<int64_t> ReplicasOf(const Value& value) {
  if (value.type != Value::Type::kNumber) {
    return Invalid(absl::StrCat("result type ", NumberOfType(value.type), " is not number"));
  }
  const double whole = std::trunc(value.json.AsDouble());
  if (whole >= std::numeric_limits<int32_t>::min() &&
      whole <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int64_t>(whole);
  }
  return Invalid(absl::StrCat("replicas ", json::Write(value.json), " do not fit in 32 bits"));
}

// Enough of a value to be recognized in a message.
std::string Excerpt(const json::Value& value) {
  constexpr size_t kMostBytes = 200;
  std::string text = json::Write(value);
  if (text.size() <= kMostBytes) return text;
  size_t end = kMostBytes;
  while ((text[end] & 0xC0) == 0x80) --end;  // Not half a character (of UTF-8).
  text.resize(end);
  return text + "...";
}

// A dependency with what it is sorted by, looked up once.
struct Reference {
  const json::Value* dependency;
  absl::string_view api_version, kind, ns, name;
};

Reference ReferenceTo(const json::Value& dependency) {
  return {&dependency, dependency["apiVersion"].AsString(), dependency["kind"].AsString(),
          dependency["namespace"].AsString(), dependency["name"].AsString()};
}

std::string SelectorOf(const Reference& reference) {
  const json::Value& selector = (*reference.dependency)["labelSelector"];
  return selector.is_null() ? "" : json::Write(selector);
}

// Below, at or above 0 as `a` belongs before `b`, is the same, or belongs behind it.
int Compare(const Reference& a, const Reference& b) {
  if (const int order = a.api_version.compare(b.api_version); order != 0) return order;
  if (const int order = a.kind.compare(b.kind); order != 0) return order;
  if (const int order = a.ns.compare(b.ns); order != 0) return order;
  if (const int order = a.name.compare(b.name); order != 0) return order;
  return SelectorOf(a).compare(SelectorOf(b));
}

}  // namespace

absl::StatusOr<Replicas> ReplicasIn(Results results) {
  Replicas out;
  ASSIGN_OR_RETURN(out.replicas, ReplicasOf(results[0]));
  if (results[1].is_nil()) return out;
  ASSIGN_OR_RETURN(const json::Value table,
                   TableOf(results[1], json::Value::Object(), kNoRequirements));
  ASSIGN_OR_RETURN(out.requirements, ReadRequirements(table));
  return out;
}

absl::StatusOr<json::Value> ComponentsIn(Results results) {
  const Value& result = results[0];
  if (result.is_nil()) return json::Value();
  ASSIGN_OR_RETURN(
      const json::Value table,
      TableOf(result, json::Value::Array(),
              "expected result type 'table' or 'nil' from GetComponents, but got '$0'"));
  absl::StatusOr<json::Value> components = ReadComponents(table);
  if (components.ok()) return components;
  return base::Annotate(components.status(), "failed to convert lua table for components");
}

absl::StatusOr<kube::Object> ObjectIn(Results results) {
  ASSIGN_OR_RETURN(json::Value table, TableOf(results[0], json::Value::Object(), kNoRequirements));
  if (!table["kind"].AsString().empty()) return kube::Object(std::move(table));
  return Invalid(absl::StrCat("json unmarshal obj failed: Object 'Kind' is missing in '",
                              Excerpt(table), "'"));
}

absl::StatusOr<json::Value> StatusIn(Results results) {
  return TableOf(results[0], json::Value::Object(),
                 "expect the returned replica type is table but got $0");
}

absl::StatusOr<bool> HealthIn(Results results) {
  const Value& result = results[0];
  if (result.type == Value::Type::kBoolean) return result.json.AsBool();
  return Invalid(absl::StrCat("result type ", NumberOfType(result.type), " is not bool"));
}

absl::StatusOr<json::Value> DependenciesIn(Results results) {
  ASSIGN_OR_RETURN(const json::Value table,
                   TableOf(results[0], json::Value::Array(), kNoRequirements));
  ASSIGN_OR_RETURN(json::Value dependencies, ReadDependencies(table));
  RETURN_IF_ERROR(ValidateDependencies(dependencies));
  return dependencies;
}

json::Value UnionOfDependencies(const std::vector<json::Value>& lists) {
  std::vector<Reference> all;
  if (!lists.empty()) all.reserve(lists.front().size());  // Mostly there is but one.
  for (const json::Value& list : lists) {
    for (const json::Value& one : list.items()) all.push_back(ReferenceTo(one));
  }
  const auto before = [](const auto& a, const auto& b) { return Compare(a, b) < 0; };
  const auto same = [](const auto& a, const auto& b) { return Compare(a, b) == 0; };
  std::sort(all.begin(), all.end(), before);
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  std::vector<json::Value> out;
  out.reserve(all.size());
  for (const Reference& reference : all) out.push_back(*reference.dependency);
  return json::Value::OfItems(std::move(out));
}

}  // namespace interpreter::customized
