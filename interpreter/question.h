// What the interpreter is asked about an object, and what it answers.
//
//   const absl::StatusOr<Answer> answer =
//       interpreter.Ask({.operation = Operation::kReviseReplica, .object = web, .replicas = 3});
//   ASSIGN_OR_RETURN(const kube::Object revised, AnswerAs<kube::Object>(answer));
#ifndef INTERPRETER_QUESTION_H_
#define INTERPRETER_QUESTION_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/enumerated.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace interpreter {

enum class Operation {
  kInterpretReplica,
  kInterpretComponent,
  kReviseReplica,
  kRetain,
  kAggregateStatus,
  kInterpretDependency,
  kInterpretStatus,
  kInterpretHealth,
  kPrune,
};
inline constexpr auto kOperations = base::Enumerate<Operation>({
    {Operation::kInterpretReplica, "InterpretReplica"},
    {Operation::kInterpretComponent, "InterpretComponent"},
    {Operation::kReviseReplica, "ReviseReplica"},
    {Operation::kRetain, "Retain"},
    {Operation::kAggregateStatus, "AggregateStatus"},
    {Operation::kInterpretDependency, "InterpretDependency"},
    {Operation::kInterpretStatus, "InterpretStatus"},
    {Operation::kInterpretHealth, "InterpretHealth"},
    {Operation::kPrune, "Prune"},
});
inline constexpr auto kAllOperations = kOperations.Values();
// Returns "InterpretReplica", for example.
constexpr absl::string_view OperationName(Operation op) { return kOperations.TextOf(op); }
// Returns the operation of that name in any case; nullopt when there is none.
inline std::optional<Operation> OperationNamed(absl::string_view name) {
  return kOperations.NamedInAnyCase(name);
}
// Returns whether the answer to the operation is an object.
constexpr bool ReturnsObject(Operation op) {
  return op == Operation::kReviseReplica || op == Operation::kRetain ||
         op == Operation::kAggregateStatus || op == Operation::kPrune;
}

// A binding's status.aggregatedStatus: an array of AggregatedStatusItem, or null for none.
using AggregatedItems = json::Value;

// An operation on an object, with what the operation needs in addition. Cheap to copy.
struct Question {
  Operation operation = Operation::kInterpretHealth;
  // The member's object for InterpretStatus and InterpretHealth; for other operations the template,
  // or the manifest made of it.
  kube::Object object;
  kube::Object observed;  // For Retain: the member's object.
  int64_t replicas = 0;   // For ReviseReplica.
  AggregatedItems items;  // For AggregateStatus.
};

struct Replicas {
  int64_t replicas = 0;
  json::Value requirements;  // work/v1alpha2 ReplicaRequirements; null when there are none.
};

// Whether an object works, and why it does or does not, in the words of the rule that answered.
struct Health {
  Health() = default;
  template <std::same_as<bool> Bool>
  Health(Bool is_healthy) : healthy(is_healthy) {}  // NOLINT: most rules give no message.
  Health(bool is_healthy, std::string why) : healthy(is_healthy), message(std::move(why)) {}
  explicit operator bool() const { return healthy; }

  bool healthy = false;
  std::string message;  // Text for people; "" when the rule gives none.
};

// What an operation returns:
//   InterpretReplica     Replicas
//   InterpretComponent   an array of work/v1alpha2 Component, or null
//   ReviseReplica        the object with this number of replicas
//   Retain               `object` with the fields that the member owns, which come from `observed`
//   AggregateStatus      the object with its new status; the same object (SharesWith) when nothing
//                        changes. Only the status of the result is used.
//   InterpretDependency  an array of DependentObjectReference (apiVersion, kind, namespace, name,
//                        labelSelector), or null
//   InterpretStatus      the part of the member object's status that is reported to the control
//                        plane; null when there is no status
//   InterpretHealth      Health
//   Prune                the template without the fields that must not reach a member
using Answer = std::variant<json::Value, kube::Object, Replicas, Health>;

// Returns the answer as the type that its operation returns, or its error. kInternal when the
// operation returns another type.
template <class T>
absl::StatusOr<T> AnswerAs(absl::StatusOr<Answer> answer) {
  if (!answer.ok()) return std::move(answer).status();
  T* typed = std::get_if<T>(&*answer);
  if (typed == nullptr) return absl::InternalError("the answer has the type of another operation");
  return std::move(*typed);
}

// Returns what loops assume for a kind without a rule: no replicas, requirements, components,
// dependencies or status, an unchanged object, healthy.
Answer AssumedAnswer(const Question& question);

// Who answers questions. The functions of one operation each ask the question of their arguments.
class Answering {
 public:
  virtual ~Answering() = default;
  virtual absl::StatusOr<Answer> Ask(const Question& question) const = 0;

  absl::StatusOr<Replicas> GetReplicas(const kube::Object& object) const;
  absl::StatusOr<json::Value> GetComponents(const kube::Object& object) const;
  absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object, int64_t replicas) const;
  absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                      const kube::Object& observed) const;
  absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                               const AggregatedItems& items) const;
  absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const;
  // Asks Operation::kInterpretStatus; the name is upstream's.
  absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const;
  absl::StatusOr<Health> InterpretHealth(const kube::Object& object) const;
  absl::StatusOr<kube::Object> Prune(const kube::Object& object) const;
};

}  // namespace interpreter

#endif  // INTERPRETER_QUESTION_H_
