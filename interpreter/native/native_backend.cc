// The layer of built-in handlers.
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/interpreter.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter {

namespace {

using native::Handlers;
using native::HandlerTable;

class NativeBackend : public Backend {
 public:
  NativeBackend(const base::Clock& clock, const RequirementRules& rules)
      : clock_(clock), rules_(rules), table_(native::AllHandlers()) {}

  absl::string_view layer() const override { return kNativeLayer; }

  bool Has(const kube::Gvk& gvk, Operation op) const override {
    if (op == Operation::kInterpretStatus) return true;
    const Handlers* handlers = table_.Find(gvk);
    return handlers != nullptr && HasHandler(*handlers, op);
  }

  std::string RuleOf(const kube::Gvk& gvk, Operation op) const override {
    return Has(gvk, op) ? gvk.kind : "";
  }

  absl::StatusOr<Replicas> GetReplicas(const kube::Object& object) const override {
    return Call(&Handlers::get_replicas, object, rules_);
  }

  absl::StatusOr<json::Value> GetComponents(const kube::Object& object) const override {
    return NoRule(object);
  }

  absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object,
                                             int64_t replicas) const override {
    return Call(&Handlers::revise_replica, object, replicas);
  }

  absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                      const kube::Object& observed) const override {
    return Call(&Handlers::retain, desired, observed);
  }

  absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                               const AggregatedItems& items) const override {
    native::Fields root(object.root(), "");
    root.Object("status");  // Checks the type, because not all handlers do.
    RETURN_IF_ERROR(root.error());
    return Call(&Handlers::aggregate_status, object, items, clock_.Now());
  }

  absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const override {
    return Call(&Handlers::get_dependencies, object);
  }

  absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const override {
    ASSIGN_OR_RETURN(const json::Value* status, json::FindObject(object.root(), {"status"}));
    if (status == nullptr) return json::Value();
    const Handlers* handlers = table_.FindFor(object);
    // Kinds without a handler have their whole status reflected.
    if (handlers == nullptr || handlers->reflect_status == nullptr) return *status;
    return handlers->reflect_status(object);
  }

  absl::StatusOr<Health> InterpretHealth(const kube::Object& object) const override {
    return Call(&Handlers::interpret_health, object);
  }

  absl::StatusOr<kube::Object> Prune(const kube::Object& object) const override {
    return NoRule(object);
  }

 private:
  static bool HasHandler(const Handlers& handlers, Operation op) {
    switch (op) {
      case Operation::kInterpretReplica:
        return handlers.get_replicas != nullptr;
      case Operation::kReviseReplica:
        return handlers.revise_replica != nullptr;
      case Operation::kRetain:
        return handlers.retain != nullptr;
      case Operation::kAggregateStatus:
        return handlers.aggregate_status != nullptr;
      case Operation::kInterpretDependency:
        return handlers.get_dependencies != nullptr;
      case Operation::kInterpretStatus:
        return true;
      case Operation::kInterpretHealth:
        return handlers.interpret_health != nullptr;
      case Operation::kInterpretComponent:
      case Operation::kPrune:
        return false;
    }
    return false;
  }

  static absl::Status NoRule(const kube::Object& object) {
    return absl::UnimplementedError(
        absl::StrCat("no built-in handler for \"", object.gvk().ToString(), "\""));
  }

  template <class Result, class... Params, class... Args>
  Result Call(Result (*Handlers::*handler)(const kube::Object&, Params...),
              const kube::Object& object, Args&&... args) const {
    // The layers above ask Has first; a kind without a handler is an error here.
    const Handlers* handlers = table_.FindFor(object);
    if (handlers == nullptr || handlers->*handler == nullptr) return NoRule(object);
    return (handlers->*handler)(object, std::forward<Args>(args)...);
  }

  const base::Clock& clock_;
  const RequirementRules rules_;
  const HandlerTable table_;
};

}  // namespace

std::unique_ptr<Backend> NewNativeBackend(const base::Clock& clock, const RequirementRules& rules) {
  return std::make_unique<NativeBackend>(clock, rules);
}

std::vector<kube::Gvk> NativeKinds() { return native::AllHandlers().Kinds(); }

}  // namespace interpreter
