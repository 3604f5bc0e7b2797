#include "interpreter/customized/lua_backend.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "base/status.h"
#include "interpreter/customized/kube_library.h"
#include "interpreter/customized/typed_results.h"
#include "interpreter/dependency_validation.h"

namespace interpreter::customized {

namespace {

using lua::Value;

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

absl::StatusOr<Replicas> ReadReplicas(const std::vector<Value>& results) {
  Replicas out;
  ASSIGN_OR_RETURN(out.replicas, ReplicasOf(results[0]));
  if (results[1].is_nil()) return out;
  ASSIGN_OR_RETURN(const json::Value table,
                   TableOf(results[1], json::Value::Object(), kNoRequirements));
  ASSIGN_OR_RETURN(out.requirements, ReadRequirements(table));
  return out;
}

absl::StatusOr<json::Value> ReadComponentResult(const std::vector<Value>& results) {
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

absl::StatusOr<kube::Object> ReadObject(const std::vector<Value>& results) {
  ASSIGN_OR_RETURN(json::Value table, TableOf(results[0], json::Value::Object(), kNoRequirements));
  if (!table["kind"].AsString().empty()) return kube::Object(std::move(table));
  return Invalid(absl::StrCat("json unmarshal obj failed: Object 'Kind' is missing in '",
                              Excerpt(table), "'"));
}

absl::StatusOr<json::Value> ReadStatus(const std::vector<Value>& results) {
  return TableOf(results[0], json::Value::Object(),
                 "expect the returned replica type is table but got $0");
}

absl::StatusOr<bool> ReadHealth(const std::vector<Value>& results) {
  const Value& result = results[0];
  if (result.type == Value::Type::kBoolean) return result.json.AsBool();
  return Invalid(absl::StrCat("result type ", NumberOfType(result.type), " is not bool"));
}

absl::StatusOr<json::Value> ReadDependencyResult(const std::vector<Value>& results) {
  ASSIGN_OR_RETURN(const json::Value table,
                   TableOf(results[0], json::Value::Array(), kNoRequirements));
  ASSIGN_OR_RETURN(json::Value dependencies, ReadDependencies(table));
  RETURN_IF_ERROR(ValidateDependencies(dependencies));
  return dependencies;
}

// Sorted, each once; selectors are compared by value.
json::Value UnionOf(const std::vector<json::Value>& lists) {
  std::vector<std::pair<json::Value, std::string>> all;  // With the selector as text.
  for (const json::Value& list : lists) {
    for (const json::Value& one : list.items()) {
      all.emplace_back(one, one.Has("labelSelector") ? json::Write(one["labelSelector"]) : "");
    }
  }
  const auto key = [](const auto& entry) {
    const json::Value& reference = entry.first;
    return std::tuple(reference["apiVersion"].AsString(), reference["kind"].AsString(),
                      reference["namespace"].AsString(), reference["name"].AsString(),
                      absl::string_view(entry.second));
  };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto same = [&](const auto& a, const auto& b) { return key(a) == key(b); };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  json::Value out = json::Value::Array();
  for (auto& [reference, selector] : all) out.Append(std::move(reference));
  return out;
}

lua::ScriptRunner::Options RunnerOptions(const LuaBackendOptions& options) {
  lua::ScriptRunner::Options runner;
  runner.libraries.push_back(KubeLibrary());
  runner.budget = options.budget;
  runner.clock = options.clock;
  return runner;
}

}  // namespace

LuaBackend::LuaBackend(const LuaBackendOptions& options)
    : layer_(options.layer),
      runner_(RunnerOptions(options)),
      on_run_(options.on_run),
      probation_(options.clock == nullptr ? base::RealClock() : *options.clock, options.metrics) {}

void LuaBackend::Replace(std::shared_ptr<const CustomizationSet> set) {
  probation_.KeepOnly(*set);
  absl::MutexLock lock(&mu_);
  set_.swap(set);  // The old set dies after the lock is gone, if nobody else uses it.
}

std::shared_ptr<const CustomizationSet> LuaBackend::set() const {
  absl::ReaderMutexLock lock(&mu_);
  return set_;
}

bool LuaBackend::Has(const kube::Gvk& gvk, Operation op) const {
  if (ScriptFieldOf(op) == nullptr) return false;
  const auto set = this->set();
  return set == nullptr || !set->RulesFor(gvk, op).empty();
}

std::string LuaBackend::RuleOf(const kube::Gvk& gvk, Operation op) const {
  const auto set = this->set();
  if (set == nullptr) return "";
  return absl::StrJoin(set->RulesFor(gvk, op), ",", [](std::string* out, const ScriptRule& rule) {
    out->append(rule.customization);
  });
}

absl::StatusOr<std::shared_ptr<const CustomizationSet>> LuaBackend::LoadedSet() const {
  auto set = this->set();
  if (set == nullptr) return absl::UnavailableError("not yet ready to handle request");
  return set;
}

absl::StatusOr<LuaBackend::Results> LuaBackend::Run(const ScriptRule& rule,
                                                    const ScriptCall& call) const {
  const Operation op = call.operation;
  RETURN_IF_ERROR(rule.script.status());
  const lua::Script& script = **rule.script;
  ASSIGN_OR_RETURN(const auto ticket, probation_.Begin(script, rule.customization, op));
  lua::Call run;
  run.function = std::string(ScriptFieldOf(op)->function);
  run.arguments = call.arguments;
  run.results = op == Operation::kInterpretReplica ? 2 : 1;
  run.arguments_are_references = op == Operation::kRetain || op == Operation::kReviseReplica;
  absl::StatusOr<lua::Outcome> outcome = runner_.Run(script, run);
  probation_.End(ticket, outcome.status());
  RETURN_IF_ERROR(outcome.status());
  if (on_run_) on_run_(outcome->usage);
  return std::move(outcome->results);
}

template <class Read>
auto LuaBackend::AnswerOf(const ScriptRule& rule, const ScriptCall& call, Read read) const
    -> decltype(read(Results())) {
  ASSIGN_OR_RETURN(const Results results, Run(rule, call));
  auto answer = read(results);
  if (answer.ok()) return answer;
  return base::Annotate(answer.status(), (*rule.script)->name());
}

template <class Read>
auto LuaBackend::Answer(const kube::Object& object, const ScriptCall& call, Read read) const
    -> decltype(read(Results())) {
  ASSIGN_OR_RETURN(const auto set, LoadedSet());
  const kube::Gvk gvk = object.gvk();
  const absl::Span<const ScriptRule> rules = set->RulesFor(gvk, call.operation);
  if (!rules.empty()) return AnswerOf(rules.front(), call, read);
  return absl::UnavailableError(absl::StrCat("the customization of ", OperationName(call.operation),
                                             " for \"", gvk.ToString(), "\" has just gone"));
}

absl::StatusOr<Replicas> LuaBackend::GetReplicas(const kube::Object& object) const {
  return Answer(object, {Operation::kInterpretReplica, {object.root()}}, ReadReplicas);
}

absl::StatusOr<json::Value> LuaBackend::GetComponents(const kube::Object& object) const {
  return Answer(object, {Operation::kInterpretComponent, {object.root()}}, ReadComponentResult);
}

absl::StatusOr<kube::Object> LuaBackend::ReviseReplica(const kube::Object& object,
                                                       int64_t replicas) const {
  return Answer(object, {Operation::kReviseReplica, {object.root(), replicas}}, ReadObject);
}

absl::StatusOr<kube::Object> LuaBackend::Retain(const kube::Object& desired,
                                                const kube::Object& observed) const {
  return Answer(desired, {Operation::kRetain, {desired.root(), observed.root()}}, ReadObject);
}

absl::StatusOr<kube::Object> LuaBackend::AggregateStatus(const kube::Object& object,
                                                         const AggregatedItems& items) const {
  ASSIGN_OR_RETURN(
      const kube::Object result,
      Answer(object, {Operation::kAggregateStatus, {object.root(), items}}, ReadObject));
  if (result.status() == object.status()) return object;
  kube::Object out = object;
  if (result.root().Has("status")) {
    out.Set({"status"}, result.status());
  } else {
    out.Erase({"status"});
  }
  return out;
}

absl::StatusOr<json::Value> LuaBackend::GetDependencies(const kube::Object& object) const {
  ASSIGN_OR_RETURN(const auto set, LoadedSet());
  const ScriptCall call{Operation::kInterpretDependency, {object.root()}};
  std::vector<json::Value> lists;
  for (const ScriptRule& rule : set->RulesFor(object.gvk(), call.operation)) {
    ASSIGN_OR_RETURN(json::Value list, AnswerOf(rule, call, ReadDependencyResult));
    lists.push_back(std::move(list));
  }
  return UnionOf(lists);
}

absl::StatusOr<json::Value> LuaBackend::ReflectStatus(const kube::Object& object) const {
  return Answer(object, {Operation::kInterpretStatus, {object.root()}}, ReadStatus);
}

absl::StatusOr<bool> LuaBackend::InterpretHealth(const kube::Object& object) const {
  return Answer(object, {Operation::kInterpretHealth, {object.root()}}, ReadHealth);
}

absl::StatusOr<kube::Object> LuaBackend::Prune(const kube::Object&) const {
  return absl::UnimplementedError("customizations do not prune");
}

}  // namespace interpreter::customized
