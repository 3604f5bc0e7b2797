// One question to the interpreter and its answer, as JSON: a line that `batch` reads or writes;
// `run` and `bench` use it too.
#ifndef CMD_INTERPRET_INVOCATION_H_
#define CMD_INTERPRET_INVOCATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace cmd::interpret {

struct Invocation {
  interpreter::Operation op = interpreter::Operation::kInterpretHealth;
  kube::Object object;    // The template or the member's object, as the operation requires.
  kube::Object observed;  // For Retain.
  int64_t replicas = 0;   // For ReviseReplica.
  interpreter::AggregatedItems items;  // For AggregateStatus; as ReadAggregatedItems returns them.
};

// Parses {"operation":…,"object":…,"observed":…,"replicas":…,"items":…}. kInvalidArgument for an
// unknown operation, a missing input, or items of wrong types.
absl::StatusOr<Invocation> ParseInvocation(const json::Value& request);

struct Answer {
  json::Value result;
  std::string message;  // Why, for InterpretHealth; "" when the rule gives no message.
};

// Returns the answer, whose result is, as JSON:
//   InterpretReplica                 {"replica":n,"requirements":ReplicaRequirements or null}
//   ReviseReplica, Retain, Prune     the object
//   AggregateStatus                  the object with its new status
//   InterpretComponent, -Dependency  a list, or null
//   InterpretStatus                  the status, or null
//   InterpretHealth                  true or false
// Prune is what a layer prunes, if one has a rule, and then what every manifest loses.
absl::StatusOr<Answer> Invoke(const interpreter::Interpreter& interpreter,
                              const Invocation& invocation);

// As above, by one layer. REQUIRES: backend.Has(invocation.object.gvk(), invocation.op).
absl::StatusOr<Answer> Invoke(const interpreter::Backend& backend, const Invocation& invocation);

// Returns the rule that answers. Its layer is "" when no layer has a rule, or only the layer
// `passed_on` has one: that was asked and passed the question on ("" for none). Pruning that
// applies to every manifest counts as a rule of the native layer.
interpreter::RuleName AnsweredBy(const interpreter::Interpreter& interpreter,
                                 const Invocation& invocation, absl::string_view passed_on);

// Returns the operation of that name, in any case; kInvalidArgument lists all of them.
absl::StatusOr<interpreter::Operation> ParseOperation(absl::string_view name);
// Returns "InterpretReplica, InterpretComponent, ...".
std::string AllOperationNames();

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_INVOCATION_H_
