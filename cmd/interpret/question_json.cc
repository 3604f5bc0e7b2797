#include "cmd/interpret/question_json.h"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/spelling.h"
#include "base/status.h"
#include "interpreter/typed_results.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::Question;

absl::Status Missing(Operation op, absl::string_view input) {
  return absl::InvalidArgumentError(
      absl::StrCat(interpreter::OperationName(op), " needs \"", input, "\""));
}

}  // namespace

absl::StatusOr<Operation> ParseOperation(absl::string_view name) {
  const std::optional<Operation> op = interpreter::OperationNamed(name);
  if (op) return *op;
  const std::vector<std::string> names = interpreter::kOperations.Texts();
  const auto nearest = base::NearestName(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "operation \"", name, "\" does not exist; ",
      nearest ? absl::StrCat("did you mean ", names[*nearest], "? There are ") : "there are ",
      interpreter::kOperations.Listed()));
}

absl::StatusOr<Question> ParseQuestion(const json::Value& request) {
  if (!request.is_object()) return absl::InvalidArgumentError("a request is a JSON object");
  ASSIGN_OR_RETURN(const Operation op, ParseOperation(request["operation"].AsString()));
  if (!request["object"].is_object()) return Missing(op, "object");
  if (op == Operation::kRetain && !request["observed"].is_object()) return Missing(op, "observed");
  if (op == Operation::kReviseReplica && !request["replicas"].is_int()) {
    return Missing(op, "replicas");
  }
  auto items = interpreter::ReadAggregatedItems(request["items"]);
  if (!items.ok()) return base::Annotate(items.status(), "items");
  return Question{op, kube::Object(request["object"]), kube::Object(request["observed"]),
                  request["replicas"].AsInt(), *std::move(items)};
}

JsonAnswer ToJson(const interpreter::Answer& answer) {
  if (const auto* object = std::get_if<kube::Object>(&answer)) return {object->root(), ""};
  if (const auto* health = std::get_if<interpreter::Health>(&answer)) {
    return {health->healthy, health->message};
  }
  if (const auto* replicas = std::get_if<interpreter::Replicas>(&answer)) {
    return {json::Value::Object(
                {{"replica", replicas->replicas}, {"requirements", replicas->requirements}}),
            ""};
  }
  return {std::get<json::Value>(answer), ""};
}

absl::StatusOr<JsonAnswer> AskForResult(const interpreter::Interpreter& interpreter,
                                        const Question& question) {
  if (question.operation != Operation::kPrune) {
    ASSIGN_OR_RETURN(const interpreter::Answer answer, interpreter.Ask(question));
    return ToJson(answer);
  }
  ASSIGN_OR_RETURN(kube::Object manifest,
                   interpreter::AnswerAs<kube::Object>(interpreter.AskOrAssume(question)));
  interpreter::Prune(manifest);
  return JsonAnswer{manifest.root(), ""};
}

interpreter::RuleName AnsweredBy(const interpreter::Interpreter& interpreter,
                                 const Question& question, absl::string_view passed_on) {
  const kube::Gvk gvk = question.object.gvk();
  for (interpreter::RuleName& rule : interpreter.RulesFor(gvk, question.operation)) {
    if (rule.layer != passed_on) return std::move(rule);
  }
  if (question.operation == Operation::kPrune) {
    return {std::string(interpreter::kNativeLayer), gvk.kind};
  }
  return {};
}

}  // namespace cmd::interpret
