// One question to the interpreter and its answer, as JSON: a line that `batch` reads or writes;
// `run` and `bench` use it too.
#ifndef CMD_INTERPRET_QUESTION_JSON_H_
#define CMD_INTERPRET_QUESTION_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/interpreter.h"

namespace cmd::interpret {

// Parses {"operation":…,"object":…,"observed":…,"replicas":…,"items":…}. kInvalidArgument for an
// unknown operation, a missing input, or items of wrong types.
absl::StatusOr<interpreter::Question> ParseQuestion(const json::Value& request);

// An answer as JSON.
struct JsonAnswer {
  json::Value result;
  std::string message;  // Why, for InterpretHealth; "" when the rule gives no message.
};

// Returns the answer, whose result is:
//   InterpretReplica                 {"replica":n,"requirements":ReplicaRequirements or null}
//   ReviseReplica, Retain, Prune     the object
//   AggregateStatus                  the object with its new status
//   InterpretComponent, -Dependency  a list, or null
//   InterpretStatus                  the status, or null
//   InterpretHealth                  true or false
JsonAnswer ToJson(const interpreter::Answer& answer);

// Asks, and returns what loops make of the answer; but without a rule it fails, where loops assume
// an answer. Prune is what a layer prunes, if one has a rule, and then what every manifest loses.
absl::StatusOr<JsonAnswer> AskForResult(const interpreter::Interpreter& interpreter,
                                        const interpreter::Question& question);

// Returns the rule that answers. Its layer is "" when no layer has a rule, or only the layer
// `passed_on` has one: that was asked and passed the question on ("" for none). Pruning that
// applies to every manifest counts as a rule of the native layer.
interpreter::RuleName AnsweredBy(const interpreter::Interpreter& interpreter,
                                 const interpreter::Question& question,
                                 absl::string_view passed_on);

// Returns the operation of that name, in any case; kInvalidArgument lists all of them.
absl::StatusOr<interpreter::Operation> ParseOperation(absl::string_view name);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_QUESTION_JSON_H_
