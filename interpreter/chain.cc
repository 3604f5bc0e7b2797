// The layers of the interpreter in order: the one place that decides who answers and what errors
// say.
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/dependency_validation.h"
#include "interpreter/interpreter.h"

namespace interpreter {

namespace {

// Upstream's words when no layer has a rule.
absl::Status NotFound(const kube::Gvk& gvk, Operation op) {
  if (op == Operation::kInterpretComponent) {
    return absl::UnimplementedError("interface GetComponents not implemented yet");
  }
  if (op == Operation::kInterpretDependency) {
    return absl::UnimplementedError(
        "default interpreter for operation InterpretDependency not found");
  }
  return absl::UnimplementedError(absl::StrCat("default ", OperationName(op), " interpreter for \"",
                                               gvk.ToString(), "\" not found"));
}

class Chain : public Interpreter {
 public:
  explicit Chain(std::vector<std::unique_ptr<Backend>> backends) : backends_(std::move(backends)) {}

  bool HookEnabled(const kube::Gvk& gvk, Operation op) const override {
    return Find(gvk, op) != nullptr;
  }

  absl::StatusOr<Replicas> GetReplicas(const kube::Object& object) const override {
    return FirstWith(Operation::kInterpretReplica, object,
                     [&](const Backend& b) { return b.GetReplicas(object); });
  }

  absl::StatusOr<json::Value> GetComponents(const kube::Object& object) const override {
    if (object.empty()) return absl::InvalidArgumentError("nil object");
    return FirstWith(Operation::kInterpretComponent, object,
                     [&](const Backend& b) { return b.GetComponents(object); });
  }

  absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object,
                                             int64_t replicas) const override {
    return FirstWith(Operation::kReviseReplica, object,
                     [&](const Backend& b) { return b.ReviseReplica(object, replicas); });
  }

  absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                      const kube::Object& observed) const override {
    return FirstWith(Operation::kRetain, desired,
                     [&](const Backend& b) { return b.Retain(desired, observed); });
  }

  absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                               const AggregatedItems& items) const override {
    return FirstWith(Operation::kAggregateStatus, object,
                     [&](const Backend& b) { return b.AggregateStatus(object, items); });
  }

  absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const override {
    return FirstWith(Operation::kInterpretDependency, object,
                     [&](const Backend& b) -> absl::StatusOr<json::Value> {
                       ASSIGN_OR_RETURN(json::Value dependencies, b.GetDependencies(object));
                       RETURN_IF_ERROR(ValidateDependencies(dependencies));
                       return dependencies;
                     });
  }

  absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const override {
    return FirstWith(Operation::kInterpretStatus, object,
                     [&](const Backend& b) { return b.ReflectStatus(object); });
  }

  absl::StatusOr<bool> InterpretHealth(const kube::Object& object) const override {
    return FirstWith(Operation::kInterpretHealth, object,
                     [&](const Backend& b) { return b.InterpretHealth(object); });
  }

 private:
  const Backend* Find(const kube::Gvk& gvk, Operation op) const {
    for (const auto& backend : backends_) {
      if (backend->Has(gvk, op)) return backend.get();
    }
    return nullptr;
  }

  // The answer of the first back end that has a rule; its errors end the search.
  template <class Call>
  auto FirstWith(Operation op, const kube::Object& object, Call call) const
      -> decltype(call(std::declval<const Backend&>())) {
    const kube::Gvk gvk = object.gvk();
    const Backend* backend = Find(gvk, op);
    if (backend == nullptr) return NotFound(gvk, op);
    auto answer = call(*backend);
    if (answer.ok()) return answer;
    return base::Annotate(answer.status(), OperationName(op), " of ", object.Describe(), " by the ",
                          backend->layer(), " interpreter");
  }

  const std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace

std::unique_ptr<Interpreter> NewChain(std::vector<std::unique_ptr<Backend>> backends) {
  return std::make_unique<Chain>(std::move(backends));
}

}  // namespace interpreter
