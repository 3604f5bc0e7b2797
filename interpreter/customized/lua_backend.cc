// A question takes these steps: it takes the present set, and keeps it to the end, while Replace
// may put another one in its place; it finds the rules for kind and operation; a rule whose script
// cannot answer gives its error; the probation admits the run or refuses it (Begin), and gets its
// outcome (End); the runner runs the script within the budget; and the results are read into the
// type of the answer. All rules answer for dependencies, and all rules of the set retain, each what
// the one before has returned (a set has several when customizations are combined); an error of one
// of them fails the whole answer. Otherwise the first rule answers alone. Nothing is locked while a
// script runs.
#include "interpreter/customized/lua_backend.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "interpreter/customized/script_libraries.h"
#include "interpreter/customized/script_results.h"

namespace interpreter::customized {

namespace {

lua::ScriptRunner::Options RunnerOptions(const LuaBackendOptions& options) {
  lua::ScriptRunner::Options runner;
  runner.libraries = ScriptLibraries(options.requirements);
  runner.budget = options.budget;
  runner.clock = options.clock;
  runner.metrics = options.metrics;
  return runner;
}

// Returns how many results the function of a script may have; further ones are ignored.
int NumberOfResults(Operation op) {
  return op == Operation::kInterpretReplica || op == Operation::kInterpretHealth ? 2 : 1;
}

}  // namespace

std::string PlaceOf(const lua::Script& script, Operation op) {
  const absl::string_view function = ScriptFieldOf(op)->function;
  int line = 0;
  if (const absl::StatusOr<lua::ScriptFacts> facts = lua::Inspect(script); facts.ok()) {
    for (const auto& defined : facts->functions) {
      if (defined.name == function) line = defined.line;
    }
  }
  return absl::StrCat(script.name(), line == 0 ? "" : absl::StrCat(":", line), ": in ", function);
}

LuaBackend::LuaBackend(const LuaBackendOptions& options)
    : layer_(options.layer),
      runner_(RunnerOptions(options)),
      on_run_(options.on_run),
      on_results_(options.on_results),
      probation_(options.clock == nullptr ? base::RealClock() : *options.clock, options.metrics),
      timed_(options.layer == kCustomizationLayer ? options.metrics : nullptr) {}

void LuaBackend::Replace(std::shared_ptr<const CustomizationSet> set) {
  probation_.KeepOnly(*set);
  if (timed_ != nullptr) {
    timings_.Set(std::make_shared<const ScriptTimings>(*timed_, *set, timings_.Get().get()));
  }
  // Last: a run that begins with the new set finds probation and timings ready for it.
  set_.Set(std::move(set));
}

bool LuaBackend::Has(const kube::Gvk& gvk, Operation op) const {
  if (ScriptFieldOf(op) == nullptr) return false;
  const auto set = this->set();
  // Before the first set is known any kind may have a rule; the question then fails, and is asked
  // again, instead of falling to a lower layer.
  return set == nullptr || !set->RulesFor(gvk, op).empty();
}

std::string LuaBackend::RuleOf(const kube::Gvk& gvk, Operation op) const {
  const auto set = this->set();
  if (set == nullptr) return "";
  return absl::StrJoin(set->RulesFor(gvk, op), ",", [](std::string* out, const ScriptRule& rule) {
    out->append(rule.customization);
  });
}

absl::StatusOr<LuaBackend::Rules> LuaBackend::Find(const kube::Gvk& gvk, Operation op) const {
  // The set is kept with its rules, because another thread may replace it during the run.
  Rules rules{set(), {}};
  if (rules.set == nullptr) return absl::UnavailableError("not yet ready to handle request");
  rules.list = rules.set->RulesFor(gvk, op);
  if (!rules.list.empty()) return rules;
  return absl::UnavailableError(absl::StrCat("the customization of ", OperationName(op), " for \"",
                                             gvk.ToString(), "\" has just gone"));
}

absl::StatusOr<LuaBackend::Results> LuaBackend::Run(const ScriptRule& rule,
                                                    const ScriptCall& call) const {
  const Operation op = call.operation;
  RETURN_IF_ERROR(rule.script.status());
  const lua::Script& script = **rule.script;
  const ScriptProbation::Run probed{script, rule.customization, op, call.arguments};
  ASSIGN_OR_RETURN(const auto ticket, probation_.Begin(probed));
  lua::Call run;
  run.function = std::string(ScriptFieldOf(op)->function);
  run.arguments = call.arguments;
  run.results = NumberOfResults(op);
  run.arguments_are_references = op == Operation::kRetain || op == Operation::kReviseReplica;
  absl::StatusOr<lua::Outcome> outcome = runner_.Run(script, run);
  probation_.End(probed, ticket, outcome.status());
  RETURN_IF_ERROR(outcome.status());
  if (on_run_) on_run_(outcome->usage);
  if (on_results_) on_results_(script, op, outcome->results);
  return std::move(outcome->results);
}

template <class Read>
auto LuaBackend::AnswerOf(const ScriptRule& rule, const ScriptCall& call, Read read) const
    -> decltype(read(Results())) {
  const auto timings = timings_.Get();
  const absl::Time begin = timings == nullptr ? absl::Time() : absl::Now();
  const auto observe = [&](bool ok) {
    if (timings != nullptr) timings->Observe(rule, call.operation, ok, absl::Now() - begin);
  };
  const absl::StatusOr<Results> results = Run(rule, call);
  if (!results.ok()) {
    observe(false);
    return results.status();
  }
  auto answer = read(*results);
  observe(answer.ok());
  if (answer.ok()) return answer;
  return base::Annotate(answer.status(), PlaceOf(**rule.script, call.operation));
}

template <class Read>
auto LuaBackend::Answer(const kube::Object& object, const ScriptCall& call, Read read) const
    -> decltype(read(Results())) {
  ASSIGN_OR_RETURN(const Rules rules, Find(object.gvk(), call.operation));
  return AnswerOf(rules.list.front(), call, read);
}

absl::StatusOr<Replicas> LuaBackend::GetReplicas(const kube::Object& object) const {
  return Answer(object, {Operation::kInterpretReplica, {object.root()}}, ReplicasIn);
}

absl::StatusOr<json::Value> LuaBackend::GetComponents(const kube::Object& object) const {
  return Answer(object, {Operation::kInterpretComponent, {object.root()}}, ComponentsIn);
}

absl::StatusOr<kube::Object> LuaBackend::ReviseReplica(const kube::Object& object,
                                                       int64_t replicas) const {
  return Answer(object, {Operation::kReviseReplica, {object.root(), replicas}}, ObjectIn);
}

absl::StatusOr<kube::Object> LuaBackend::Retain(const kube::Object& desired,
                                                const kube::Object& observed) const {
  const auto ask = [&](const ScriptRule& rule, const kube::Object& wanted) {
    return AnswerOf(rule, {Operation::kRetain, {wanted.root(), observed.root()}}, ObjectIn);
  };
  ASSIGN_OR_RETURN(const Rules rules, Find(desired.gvk(), Operation::kRetain));
  absl::StatusOr<kube::Object> retained = ask(rules.list.front(), desired);
  for (const ScriptRule& rule : rules.list.subspan(1)) {
    if (!retained.ok()) break;
    retained = ask(rule, *retained);
  }
  return retained;
}

absl::StatusOr<kube::Object> LuaBackend::AggregateStatus(const kube::Object& object,
                                                         const AggregatedItems& items) const {
  ASSIGN_OR_RETURN(const kube::Object result,
                   Answer(object, {Operation::kAggregateStatus, {object.root(), items}}, ObjectIn));
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
  const ScriptCall call{Operation::kInterpretDependency, {object.root()}};
  ASSIGN_OR_RETURN(const Rules rules, Find(object.gvk(), call.operation));
  std::vector<json::Value> lists;
  for (const ScriptRule& rule : rules.list) {
    // An error fails the whole list: without the references of this script, objects that were
    // propagated because of them would be removed from the members.
    if (!rule.script.ok()) {
      return base::Annotate(
          rule.script.status(), "customization ", rule.customization,
          " customizes the dependencies of this kind, but its script cannot be used");
    }
    ASSIGN_OR_RETURN(json::Value list, AnswerOf(rule, call, DependenciesIn));
    lists.push_back(std::move(list));
  }
  return UnionOfDependencies(lists);
}

absl::StatusOr<json::Value> LuaBackend::ReflectStatus(const kube::Object& object) const {
  return Answer(object, {Operation::kInterpretStatus, {object.root()}}, StatusIn);
}

absl::StatusOr<Health> LuaBackend::InterpretHealth(const kube::Object& object) const {
  return Answer(object, {Operation::kInterpretHealth, {object.root()}}, HealthIn);
}

absl::StatusOr<kube::Object> LuaBackend::Prune(const kube::Object&) const {
  return absl::UnimplementedError("customizations do not prune");
}

}  // namespace interpreter::customized
