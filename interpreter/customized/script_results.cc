// One function for each type of result, called after the script has ended with as many results as
// its operation has (absent ones are nil). First the Lua type is checked, in Lua's words, then the
// members by typed_results.h in Go's. Lua has one empty table for lists and objects, so every
// reader says which of them it means. Dependencies are validated here as well, so that the error
// names the script. No state.

#include "interpreter/customized/script_results.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/dependency_validation.h"
#include "interpreter/typed_results.h"

namespace interpreter::customized {

namespace {

using lua::Value;
using Results = absl::Span<const Value>;

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

// Returns as much of the value as is needed to recognize it in a message.
std::string Excerpt(const json::Value& value) {
  constexpr size_t kMostBytes = 200;
  std::string text = json::Write(value);
  if (text.size() <= kMostBytes) return text;
  size_t end = kMostBytes;
  while ((text[end] & 0xC0) == 0x80) --end;  // Do not cut a UTF-8 character.
  text.resize(end);
  return text + "...";
}

// Returns the error "returned the string "yes", not a boolean", which names the value in Lua's
// words.
absl::Status Returned(const Value& value, absl::string_view expected) {
  std::string what(lua::TypeName(value.type));
  switch (value.type) {
    case Value::Type::kBoolean:
    case Value::Type::kNumber:
    case Value::Type::kString:
      what = absl::StrCat("the ", what, " ", Excerpt(value.json));
      break;
    case Value::Type::kTable:
    case Value::Type::kFunction:
      what = absl::StrCat("a ", what);
      break;
    case Value::Type::kNil:
      break;
  }
  return Invalid(absl::StrCat("returned ", what, ", not ", expected));
}

// Returns a table as upstream's conversion to Go does. A table without items, which may be an
// object or a list, becomes `empty`.
absl::StatusOr<json::Value> TableOf(const Value& value, const json::Value& empty,
                                    absl::string_view expected) {
  if (value.type != Value::Type::kTable) return Returned(value, expected);
  return value.shapeless ? empty : value.json;
}

absl::StatusOr<int64_t> ReplicasOf(const Value& value) {
  if (value.type != Value::Type::kNumber) return Returned(value, "a number of replicas");
  const double whole = std::trunc(value.json.AsDouble());
  if (whole >= std::numeric_limits<int32_t>::min() &&
      whole <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int64_t>(whole);
  }
  return Invalid(
      absl::StrCat("returned ", json::Write(value.json), " replicas, more than 32 bits hold"));
}

// Applies a reader of typed_results.h to a table; `what` is what the table should have been.
absl::StatusOr<json::Value> Typed(const json::Value& table, absl::string_view what,
                                  absl::StatusOr<json::Value> (*read)(const json::Value&)) {
  absl::StatusOr<json::Value> typed = read(WithoutNulls(table));
  if (typed.ok()) return typed;
  return base::Annotate(typed.status(), "returned bad ", what);
}

// A dependency and its sort keys, which are looked up once.
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

// Returns a negative number when `a` comes before `b`, 0 when they are equal, else a positive one.
int Compare(const Reference& a, const Reference& b) {
  if (const int order = a.api_version.compare(b.api_version); order != 0) return order;
  if (const int order = a.kind.compare(b.kind); order != 0) return order;
  if (const int order = a.ns.compare(b.ns); order != 0) return order;
  if (const int order = a.name.compare(b.name); order != 0) return order;
  return SelectorOf(a).compare(SelectorOf(b));
}

absl::StatusOr<Replicas> ReplicasIn(Results results) {
  Replicas out;
  ASSIGN_OR_RETURN(out.replicas, ReplicasOf(results[0]));
  if (results[1].is_nil()) return out;
  ASSIGN_OR_RETURN(const json::Value table,
                   TableOf(results[1], json::Value::Object(), "a table of requirements, or nil"));
  ASSIGN_OR_RETURN(out.requirements, Typed(table, "requirements", &ReadRequirements));
  return out;
}

absl::StatusOr<json::Value> ComponentsIn(Results results) {
  const Value& result = results[0];
  if (result.is_nil()) return json::Value();
  ASSIGN_OR_RETURN(const json::Value table,
                   TableOf(result, json::Value::Array(), "a table of components, or nil"));
  return Typed(table, "components", &ReadComponents);
}

absl::StatusOr<kube::Object> ObjectIn(Results results) {
  ASSIGN_OR_RETURN(json::Value table,
                   TableOf(results[0], json::Value::Object(), "the table of an object"));
  if (!table["kind"].AsString().empty()) return kube::Object(std::move(table));
  return Invalid(
      absl::StrCat("returned a table that is not an object, it has no kind: ", Excerpt(table)));
}

absl::StatusOr<json::Value> StatusIn(Results results) {
  ASSIGN_OR_RETURN(json::Value table,
                   TableOf(results[0], json::Value::Object(), "the table of a status"));
  if (table.is_object()) return table;
  if (table.empty()) return json::Value::Object();
  return Invalid(absl::StrCat("returned a list, not the table of a status: ", Excerpt(table)));
}

absl::StatusOr<Health> HealthIn(Results results) {
  const Value& healthy = results[0];
  if (healthy.type != Value::Type::kBoolean) return Returned(healthy, "a boolean");
  const Value& message = results[1];
  if (message.is_nil()) return Health(healthy.json.AsBool());
  if (message.type == Value::Type::kString) {
    return Health(healthy.json.AsBool(), message.json.ToString());
  }
  return Returned(message, "a message (a string, or nothing), as its second result");
}

absl::StatusOr<json::Value> DependenciesIn(Results results) {
  ASSIGN_OR_RETURN(const json::Value table,
                   TableOf(results[0], json::Value::Array(), "a table of dependencies"));
  ASSIGN_OR_RETURN(json::Value dependencies, Typed(table, "dependencies", &ReadDependencies));
  const absl::Status valid = ValidateDependencies(dependencies);
  if (!valid.ok()) return base::Annotate(valid, "returned bad dependencies");
  return dependencies;
}

}  // namespace

absl::StatusOr<Answer> AnswerIn(Operation op, absl::Span<const lua::Value> results) {
  if (ReturnsObject(op)) return ObjectIn(results);
  switch (op) {
    case Operation::kInterpretReplica:
      return ReplicasIn(results);
    case Operation::kInterpretComponent:
      return ComponentsIn(results);
    case Operation::kInterpretDependency:
      return DependenciesIn(results);
    case Operation::kInterpretHealth:
      return HealthIn(results);
    default:
      return StatusIn(results);
  }
}

json::Value UnionOfDependencies(const std::vector<json::Value>& lists) {
  std::vector<Reference> all;
  if (!lists.empty()) all.reserve(lists.front().size());  // Mostly there is only one list.
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
