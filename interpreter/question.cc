#include "interpreter/question.h"

namespace interpreter {

Answer AssumedAnswer(const Question& question) {
  if (ReturnsObject(question.operation)) return question.object;
  if (question.operation == Operation::kInterpretReplica) return Replicas();
  if (question.operation == Operation::kInterpretHealth) return Health(true);
  return json::Value();
}

absl::StatusOr<Replicas> Answering::GetReplicas(const kube::Object& object) const {
  return AnswerAs<Replicas>(Ask({.operation = Operation::kInterpretReplica, .object = object}));
}

absl::StatusOr<json::Value> Answering::GetComponents(const kube::Object& object) const {
  return AnswerAs<json::Value>(
      Ask({.operation = Operation::kInterpretComponent, .object = object}));
}

absl::StatusOr<kube::Object> Answering::ReviseReplica(const kube::Object& object,
                                                      int64_t replicas) const {
  return AnswerAs<kube::Object>(
      Ask({.operation = Operation::kReviseReplica, .object = object, .replicas = replicas}));
}

absl::StatusOr<kube::Object> Answering::Retain(const kube::Object& desired,
                                               const kube::Object& observed) const {
  return AnswerAs<kube::Object>(
      Ask({.operation = Operation::kRetain, .object = desired, .observed = observed}));
}

absl::StatusOr<kube::Object> Answering::AggregateStatus(const kube::Object& object,
                                                        const AggregatedItems& items) const {
  return AnswerAs<kube::Object>(
      Ask({.operation = Operation::kAggregateStatus, .object = object, .items = items}));
}

absl::StatusOr<json::Value> Answering::GetDependencies(const kube::Object& object) const {
  return AnswerAs<json::Value>(
      Ask({.operation = Operation::kInterpretDependency, .object = object}));
}

absl::StatusOr<json::Value> Answering::ReflectStatus(const kube::Object& object) const {
  return AnswerAs<json::Value>(Ask({.operation = Operation::kInterpretStatus, .object = object}));
}

absl::StatusOr<Health> Answering::InterpretHealth(const kube::Object& object) const {
  return AnswerAs<Health>(Ask({.operation = Operation::kInterpretHealth, .object = object}));
}

absl::StatusOr<kube::Object> Answering::Prune(const kube::Object& object) const {
  return AnswerAs<kube::Object>(Ask({.operation = Operation::kPrune, .object = object}));
}

}  // namespace interpreter
