#include "interpreter/customized/operation_run.h"

#include <variant>

#include "base/enumerated.h"
#include "base/status.h"

namespace interpreter::customized {

namespace {

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

absl::Status CheckRetainInput(const Question& question) {
  if (question.object.empty()) return Invalid("desired, desired-file options are not set");
  if (question.observed.empty()) return Invalid("observed, observed-file options are not set");
  return absl::OkStatus();
}

absl::Status CheckSingleInput(const Question& question) {
  if (question.object.empty() && question.observed.empty()) {
    return Invalid("desired-file, observed-file options are not set");
  }
  if (!question.object.empty() && !question.observed.empty()) {
    return Invalid("you can not specify both desired-file and observed-file options");
  }
  return absl::OkStatus();
}

// The names of results that are one value.
constexpr auto kResultNames = base::Enumerate<Operation>({
    {Operation::kInterpretComponent, "components"},
    {Operation::kReviseReplica, "revised"},
    {Operation::kRetain, "retained"},
    {Operation::kAggregateStatus, "aggregatedStatus"},
    {Operation::kInterpretDependency, "dependencies"},
    {Operation::kInterpretStatus, "status"},
    {Operation::kPrune, "pruned"},
});

std::vector<NamedResult> Named(Operation op, const Answer& answer) {
  if (const auto* replicas = std::get_if<Replicas>(&answer)) {
    return {{"replica", replicas->replicas}, {"requires", replicas->requirements}};
  }
  if (const auto* health = std::get_if<Health>(&answer)) {
    std::vector<NamedResult> results{{"healthy", health->healthy}};
    if (!health->message.empty()) results.push_back({std::string(kHealthMessage), health->message});
    return results;
  }
  const std::string name(kResultNames.TextOf(op));
  if (const auto* object = std::get_if<kube::Object>(&answer)) return {{name, object->root()}};
  return {{name, std::get<json::Value>(answer)}};
}

// `has_rule` is called with the kind.
template <class HasRule>
absl::StatusOr<std::vector<NamedResult>> Run(const Answering& answering, Question question,
                                             HasRule has_rule) {
  const bool retain = question.operation == Operation::kRetain;
  RETURN_IF_ERROR(retain ? CheckRetainInput(question) : CheckSingleInput(question));
  if (question.object.empty()) question.object = question.observed;
  if (!has_rule(question.object.gvk())) return absl::UnimplementedError("rule is not enabled");
  ASSIGN_OR_RETURN(const Answer answer, answering.Ask(question));
  return Named(question.operation, answer);
}

}  // namespace

absl::StatusOr<std::vector<NamedResult>> RunOperation(const Question& question,
                                                      const Backend& backend) {
  return Run(backend, question,
             [&](const kube::Gvk& gvk) { return backend.Has(gvk, question.operation); });
}

absl::StatusOr<std::vector<NamedResult>> RunOperation(const Question& question,
                                                      const Interpreter& interpreter) {
  return Run(interpreter, question,
             [&](const kube::Gvk& gvk) { return interpreter.HasRule(gvk, question.operation); });
}

}  // namespace interpreter::customized
