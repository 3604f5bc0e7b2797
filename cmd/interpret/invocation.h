// One question to the interpreter and its answer, as JSON: what `batch` reads and writes a line of,
// and what `run` and `bench` ask.
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
  kube::Object object;                 // The template or the member object, as the operation asks.
  kube::Object observed;               // Retain.
  int64_t replicas = 0;                // ReviseReplica.
  interpreter::AggregatedItems items;  // AggregateStatus; as ReadAggregatedItems leaves them.
};

// Reads {"operation":…,"object":…,"observed":…,"replicas":…,"items":…}. kInvalidArgument for an
// operation that does not exist, an input that it needs and does not get, or items of wrong types.
absl::StatusOr<Invocation> ParseInvocation(const json::Value& request);

// The result as JSON:
//   InterpretReplica                 {"replica":n,"requirements":ReplicaRequirements or null}
//   ReviseReplica, Retain, Prune     the object
//   AggregateStatus                  the object with its new status
//   InterpretComponent, -Dependency  a list, or null
//   InterpretStatus                  the status, or null
//   InterpretHealth                  true or false
// Prune is what a layer prunes, if one has a rule, and then what every manifest loses.
absl::StatusOr<json::Value> Invoke(const interpreter::Interpreter& interpreter,
                                   const Invocation& invocation);

// The same by one layer. REQUIRES: backend.Has(invocation.object.gvk(), invocation.op).
absl::StatusOr<json::Value> Invoke(const interpreter::Backend& backend,
                                   const Invocation& invocation);

// Who answers; its layer is "" when nobody has a rule, or `passed_on` is the only layer with one: a
// layer that was asked and passed the question on, "" for none. What is pruned from every manifest
// counts as a rule of the native layer.
interpreter::RuleName AnsweredBy(const interpreter::Interpreter& interpreter,
                                 const Invocation& invocation, absl::string_view passed_on);

// The operation of that name in any case; kInvalidArgument lists all of them.
absl::StatusOr<interpreter::Operation> ParseOperation(absl::string_view name);
// "InterpretReplica, InterpretComponent, ..."
std::string AllOperationNames();

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_INVOCATION_H_
