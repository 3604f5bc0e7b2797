#include "interpreter/customized/operation_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace interpreter::customized {

namespace {

using Results = absl::StatusOr<std::vector<NamedResult>>;

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

absl::Status CheckRetainInput(const OperationInput& input) {
  if (input.desired.empty()) return Invalid("desired, desired-file options are not set");
  if (input.observed.empty()) return Invalid("observed, observed-file options are not set");
  return absl::OkStatus();
}

absl::Status CheckSingleInput(const OperationInput& input) {
  if (input.desired.empty() && input.observed.empty()) {
    return Invalid("desired-file, observed-file options are not set");
  }
  if (!input.desired.empty() && !input.observed.empty()) {
    return Invalid("you can not specify both desired-file and observed-file options");
  }
  return absl::OkStatus();
}

bool HasRule(const Backend& backend, const kube::Gvk& gvk, Operation op) {
  return backend.Has(gvk, op);
}
bool HasRule(const Interpreter& interpreter, const kube::Gvk& gvk, Operation op) {
  return interpreter.HookEnabled(gvk, op);
}

// Returns one result under this name, or the error.
Results Named(absl::string_view name, absl::StatusOr<json::Value> value) {
  RETURN_IF_ERROR(value.status());
  return std::vector<NamedResult>{{std::string(name), *std::move(value)}};
}
Results Named(absl::string_view name, const absl::StatusOr<kube::Object>& object) {
  RETURN_IF_ERROR(object.status());
  return Named(name, absl::StatusOr<json::Value>(object->root()));
}
Results Named(const absl::StatusOr<Health>& health) {
  RETURN_IF_ERROR(health.status());
  std::vector<NamedResult> results{{"healthy", health->healthy}};
  if (!health->message.empty()) results.push_back({std::string(kHealthMessage), health->message});
  return results;
}
Results Named(const absl::StatusOr<Replicas>& replicas) {
  RETURN_IF_ERROR(replicas.status());
  return std::vector<NamedResult>{{"replica", replicas->replicas},
                                  {"requires", replicas->requirements}};
}

template <class Answering>
Results RunOn(const Answering& answering, const OperationInput& input, const kube::Object& object) {
  switch (input.operation) {
    case Operation::kInterpretReplica:
      return Named(answering.GetReplicas(object));
    case Operation::kInterpretComponent:
      return Named("components", answering.GetComponents(object));
    case Operation::kReviseReplica:
      return Named("revised", answering.ReviseReplica(object, input.replicas));
    case Operation::kRetain:
      return Named("retained", answering.Retain(input.desired, input.observed));
    case Operation::kAggregateStatus:
      return Named("aggregatedStatus", answering.AggregateStatus(object, input.items));
    case Operation::kInterpretDependency:
      return Named("dependencies", answering.GetDependencies(object));
    case Operation::kInterpretStatus:
      return Named("status", answering.ReflectStatus(object));
    case Operation::kInterpretHealth:
      return Named(answering.InterpretHealth(object));
    case Operation::kPrune:
      return Named("pruned", answering.Prune(object));
  }
  return absl::UnimplementedError("unknown operation");
}

template <class Answering>
Results Run(const Answering& answering, const OperationInput& input) {
  const bool retain = input.operation == Operation::kRetain;
  RETURN_IF_ERROR(retain ? CheckRetainInput(input) : CheckSingleInput(input));
  const kube::Object& object = input.desired.empty() ? input.observed : input.desired;
  if (!HasRule(answering, object.gvk(), input.operation)) {
    return absl::UnimplementedError("rule is not enabled");
  }
  return RunOn(answering, input, object);
}

}  // namespace

absl::StatusOr<std::vector<NamedResult>> RunOperation(const OperationInput& input,
                                                      const Backend& backend) {
  return Run(backend, input);
}

absl::StatusOr<std::vector<NamedResult>> RunOperation(const OperationInput& input,
                                                      const Interpreter& interpreter) {
  return Run(interpreter, input);
}

}  // namespace interpreter::customized
