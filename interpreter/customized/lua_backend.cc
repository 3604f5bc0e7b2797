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
#include "base/clock.h"
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

// Returns the arguments of the script's function.
std::vector<json::Value> ArgumentsOf(const Question& question) {
  std::vector<json::Value> arguments;
  arguments.reserve(2);
  arguments.push_back(question.object.root());
  if (question.operation == Operation::kReviseReplica) arguments.emplace_back(question.replicas);
  if (question.operation == Operation::kRetain) arguments.push_back(question.observed.root());
  if (question.operation == Operation::kAggregateStatus) arguments.push_back(question.items);
  return arguments;
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
      timed_(options.layer == kCustomizationLayer ? options.metrics : nullptr) {
  if (!options.has_probation) return;
  probation_.emplace(options.clock == nullptr ? base::RealClock() : *options.clock,
                     options.metrics);
}

void LuaBackend::Replace(std::shared_ptr<const CustomizationSet> set) {
  if (probation_.has_value()) probation_->KeepOnly(*set);
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

absl::StatusOr<Answer> LuaBackend::Ask(const Question& question) const {
  const Operation op = question.operation;
  if (ScriptFieldOf(op) == nullptr) {
    return absl::UnimplementedError("customizations do not prune");
  }
  ASSIGN_OR_RETURN(const Rules rules, Find(question.object.gvk(), op));
  if (op == Operation::kRetain) return Retained(rules, question);
  if (op == Operation::kInterpretDependency) return AllDependencies(rules, question);
  if (op == Operation::kAggregateStatus) return WithNewStatus(rules, question);
  return AnswerOf(rules.list.front(), question);
}

absl::StatusOr<std::vector<lua::Value>> LuaBackend::CallScript(const ScriptRule& rule,
                                                               const Question& question) const {
  const Operation op = question.operation;
  RETURN_IF_ERROR(rule.script.status());
  const lua::Script& script = **rule.script;
  lua::Call call;
  call.function = std::string(ScriptFieldOf(op)->function);
  call.arguments = ArgumentsOf(question);
  call.results = NumberOfResults(op);
  call.arguments_are_references = op == Operation::kRetain || op == Operation::kReviseReplica;
  ASSIGN_OR_RETURN(lua::Outcome outcome, RunScript(rule, op, call));
  if (on_run_) on_run_(outcome.usage);
  if (on_results_) on_results_(script, op, outcome.results);
  return std::move(outcome.results);
}

absl::StatusOr<lua::Outcome> LuaBackend::RunScript(const ScriptRule& rule, Operation op,
                                                   const lua::Call& call) const {
  const lua::Script& script = **rule.script;
  if (!probation_.has_value()) return runner_.Run(script, call);
  const ScriptProbation::Run run{script, rule.customization, op, call.arguments};
  ASSIGN_OR_RETURN(const auto ticket, probation_->Begin(run));
  absl::StatusOr<lua::Outcome> outcome = runner_.Run(script, call);
  probation_->End(run, ticket, outcome.status());
  return outcome;
}

absl::StatusOr<Answer> LuaBackend::AnswerOf(const ScriptRule& rule,
                                            const Question& question) const {
  const Operation op = question.operation;
  const auto timings = timings_.Get();
  const base::Clock& clock = base::RealClock();
  const base::SteadyTime begin = timings == nullptr ? base::SteadyTime() : clock.SteadyNow();
  const auto observe = [&](bool ok) {
    if (timings != nullptr) timings->Observe(rule, op, ok, clock.SteadyNow() - begin);
  };
  const absl::StatusOr<std::vector<lua::Value>> results = CallScript(rule, question);
  if (!results.ok()) {
    observe(false);
    return results.status();
  }
  absl::StatusOr<Answer> answer = AnswerIn(op, *results);
  observe(answer.ok());
  if (answer.ok()) return answer;
  return base::Annotate(answer.status(), PlaceOf(**rule.script, op));
}

absl::StatusOr<Answer> LuaBackend::Retained(const Rules& rules, const Question& question) const {
  absl::StatusOr<Answer> retained = AnswerOf(rules.list.front(), question);
  for (const ScriptRule& rule : rules.list.subspan(1)) {
    Question next = question;
    ASSIGN_OR_RETURN(next.object, AnswerAs<kube::Object>(std::move(retained)));
    retained = AnswerOf(rule, next);
  }
  return retained;
}

absl::StatusOr<Answer> LuaBackend::AllDependencies(const Rules& rules,
                                                   const Question& question) const {
  std::vector<json::Value> lists;
  for (const ScriptRule& rule : rules.list) {
    // An error fails the whole list: without the references of this script, objects that were
    // propagated because of them would be removed from the members.
    if (!rule.script.ok()) {
      return base::Annotate(
          rule.script.status(), "customization ", rule.customization,
          " customizes the dependencies of this kind, but its script cannot be used");
    }
    ASSIGN_OR_RETURN(json::Value list, AnswerAs<json::Value>(AnswerOf(rule, question)));
    lists.push_back(std::move(list));
  }
  return UnionOfDependencies(lists);
}

absl::StatusOr<Answer> LuaBackend::WithNewStatus(const Rules& rules,
                                                 const Question& question) const {
  ASSIGN_OR_RETURN(const kube::Object result,
                   AnswerAs<kube::Object>(AnswerOf(rules.list.front(), question)));
  if (result.status() == question.object.status()) return question.object;
  kube::Object out = question.object;
  if (result.root().Has("status")) {
    out.Set({"status"}, result.status());
  } else {
    out.Erase({"status"});
  }
  return out;
}

}  // namespace interpreter::customized
