// Makes one question out of a JSON request, asks it, and makes JSON out of the answer, so that the
// nine operations with their different arguments and results look alike to the sub-commands.
// Arguments that an operation needs are checked here; others are ignored. Prune is special: what
// every manifest loses is removed after any rule has pruned, and no rule is needed for that.

#include "cmd/interpret/invocation.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/spelling.h"
#include "base/status.h"
#include "interpreter/typed_results.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;

absl::Status Missing(Operation op, absl::string_view input) {
  return absl::InvalidArgumentError(
      absl::StrCat(interpreter::OperationName(op), " needs \"", input, "\""));
}

// Each makes an answer of what an operation returns.
absl::StatusOr<Answer> AnswerOf(absl::StatusOr<json::Value> result) {
  RETURN_IF_ERROR(result.status());
  return Answer{*std::move(result), ""};
}

absl::StatusOr<Answer> AnswerOf(const absl::StatusOr<kube::Object>& object) {
  RETURN_IF_ERROR(object.status());
  return Answer{object->root(), ""};
}

absl::StatusOr<Answer> AnswerOf(const absl::StatusOr<interpreter::Replicas>& replicas) {
  RETURN_IF_ERROR(replicas.status());
  return Answer{json::Value::Object(
                    {{"replica", replicas->replicas}, {"requirements", replicas->requirements}}),
                ""};
}

absl::StatusOr<Answer> AnswerOf(const absl::StatusOr<interpreter::Health>& health) {
  RETURN_IF_ERROR(health.status());
  return Answer{health->healthy, health->message};
}

// A template, because both interfaces have the same methods.
template <class Answering>
absl::StatusOr<Answer> Ask(const Answering& answering, const Invocation& invocation) {
  const kube::Object& object = invocation.object;
  switch (invocation.op) {
    case Operation::kInterpretReplica:
      return AnswerOf(answering.GetReplicas(object));
    case Operation::kInterpretComponent:
      return AnswerOf(answering.GetComponents(object));
    case Operation::kReviseReplica:
      return AnswerOf(answering.ReviseReplica(object, invocation.replicas));
    case Operation::kRetain:
      return AnswerOf(answering.Retain(object, invocation.observed));
    case Operation::kAggregateStatus:
      return AnswerOf(answering.AggregateStatus(object, invocation.items));
    case Operation::kInterpretDependency:
      return AnswerOf(answering.GetDependencies(object));
    case Operation::kInterpretStatus:
      return AnswerOf(answering.ReflectStatus(object));
    case Operation::kInterpretHealth:
      return AnswerOf(answering.InterpretHealth(object));
    case Operation::kPrune:
      return AnswerOf(answering.Prune(object));
  }
  return absl::InternalError("an operation without a name");
}

}  // namespace

std::string AllOperationNames() {
  return absl::StrJoin(interpreter::kAllOperations, ", ", [](std::string* out, Operation op) {
    absl::StrAppend(out, interpreter::OperationName(op));
  });
}

absl::StatusOr<Operation> ParseOperation(absl::string_view name) {
  const std::optional<Operation> op = interpreter::OperationNamed(name);
  if (op) return *op;
  std::vector<std::string> names;
  for (const Operation known : interpreter::kAllOperations) {
    names.emplace_back(interpreter::OperationName(known));
  }
  const auto nearest = base::NearestName(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "operation \"", name, "\" does not exist; ",
      nearest ? absl::StrCat("did you mean ", names[*nearest], "? There are ") : "there are ",
      AllOperationNames()));
}

absl::StatusOr<Invocation> ParseInvocation(const json::Value& request) {
  if (!request.is_object()) return absl::InvalidArgumentError("a request is a JSON object");
  ASSIGN_OR_RETURN(const Operation op, ParseOperation(request["operation"].AsString()));
  if (!request["object"].is_object()) return Missing(op, "object");
  if (op == Operation::kRetain && !request["observed"].is_object()) return Missing(op, "observed");
  if (op == Operation::kReviseReplica && !request["replicas"].is_int()) {
    return Missing(op, "replicas");
  }
  auto items = interpreter::ReadAggregatedItems(request["items"]);
  if (!items.ok()) return base::Annotate(items.status(), "items");
  return Invocation{op, kube::Object(request["object"]), kube::Object(request["observed"]),
                    request["replicas"].AsInt(), *std::move(items)};
}

absl::StatusOr<Answer> Invoke(const interpreter::Interpreter& interpreter,
                              const Invocation& invocation) {
  if (invocation.op != Operation::kPrune) return Ask(interpreter, invocation);
  kube::Object manifest = invocation.object;
  if (interpreter.HookEnabled(manifest.gvk(), Operation::kPrune)) {
    ASSIGN_OR_RETURN(manifest, interpreter.Prune(manifest));
  }
  interpreter::Prune(manifest);
  return Answer{manifest.root(), ""};
}

absl::StatusOr<Answer> Invoke(const interpreter::Backend& backend, const Invocation& invocation) {
  return Ask(backend, invocation);
}

interpreter::RuleName AnsweredBy(const interpreter::Interpreter& interpreter,
                                 const Invocation& invocation, absl::string_view passed_on) {
  const kube::Gvk gvk = invocation.object.gvk();
  for (interpreter::RuleName& rule : interpreter.RulesFor(gvk, invocation.op)) {
    // The first rule answers, unless it belongs to a webhook that failed and whose failure is
    // ignored.
    if (rule.layer != passed_on) return std::move(rule);
  }
  if (invocation.op == Operation::kPrune) {
    return {std::string(interpreter::kNativeLayer), gvk.kind};
  }
  return {};
}

}  // namespace cmd::interpret
