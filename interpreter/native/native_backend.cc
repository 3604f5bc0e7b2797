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

// Returns what `use` makes of the kind's handler of the operation; nullptr stands for none.
template <class Use>
auto WithHandler(const Handlers& handlers, Operation op, Use use) {
  constexpr absl::StatusOr<json::Value> (*kNone)(const kube::Object&) = nullptr;
  switch (op) {
    case Operation::kInterpretReplica:
      return use(handlers.get_replicas);
    case Operation::kReviseReplica:
      return use(handlers.revise_replica);
    case Operation::kRetain:
      return use(handlers.retain);
    case Operation::kAggregateStatus:
      return use(handlers.aggregate_status);
    case Operation::kInterpretDependency:
      return use(handlers.get_dependencies);
    case Operation::kInterpretStatus:
      return use(handlers.reflect_status);
    case Operation::kInterpretHealth:
      return use(handlers.interpret_health);
    case Operation::kInterpretComponent:
    case Operation::kPrune:
      return use(kNone);
  }
  return use(kNone);
}

class NativeBackend : public Backend {
 public:
  NativeBackend(const base::Clock& clock, const RequirementRules& rules)
      : clock_(clock), rules_(rules), table_(Table()) {}

  absl::string_view layer() const override { return kNativeLayer; }

  bool Has(const kube::Gvk& gvk, Operation op) const override {
    if (op == Operation::kInterpretStatus) return true;
    const Handlers* handlers = table_.Find(gvk);
    return handlers != nullptr &&
           WithHandler(*handlers, op, [](auto* handler) { return handler != nullptr; });
  }

  std::string RuleOf(const kube::Gvk& gvk, Operation op) const override {
    return Has(gvk, op) ? gvk.kind : "";
  }

  absl::StatusOr<Answer> Ask(const Question& question) const override {
    const kube::Object& object = question.object;
    const Handlers* handlers = table_.FindFor(object);
    if (question.operation == Operation::kInterpretStatus) return StatusOf(object, handlers);
    if (handlers == nullptr) return NoRule(object);
    return WithHandler(*handlers, question.operation, [&](auto* handler) -> absl::StatusOr<Answer> {
      if (handler == nullptr) return NoRule(object);
      return Call(handler, question);
    });
  }

 private:
  // Each calls a handler with the parts of the question that it needs.
  template <class Result>
  static Result Call(Result (*handler)(const kube::Object&), const Question& question) {
    return handler(question.object);
  }
  absl::StatusOr<Replicas> Call(decltype(Handlers::get_replicas) handler,
                                const Question& question) const {
    return handler(question.object, rules_);
  }
  static absl::StatusOr<kube::Object> Call(decltype(Handlers::revise_replica) handler,
                                           const Question& question) {
    return handler(question.object, question.replicas);
  }
  static absl::StatusOr<kube::Object> Call(decltype(Handlers::retain) handler,
                                           const Question& question) {
    return handler(question.object, question.observed);
  }
  absl::StatusOr<kube::Object> Call(decltype(Handlers::aggregate_status) handler,
                                    const Question& question) const {
    native::Fields root(question.object.root(), "");
    root.Object("status");  // Checks the type, because not all handlers do.
    RETURN_IF_ERROR(root.error());
    return handler(question.object, question.items, clock_.Now());
  }

  static absl::StatusOr<json::Value> StatusOf(const kube::Object& object,
                                              const Handlers* handlers) {
    ASSIGN_OR_RETURN(const json::Value* status, json::FindObject(object.root(), {"status"}));
    if (status == nullptr) return json::Value();
    if (handlers == nullptr || handlers->reflect_status == nullptr) return *status;
    return handlers->reflect_status(object);
  }

  // All clusters of a process share one table.
  static const HandlerTable& Table() {
    static const HandlerTable& table = *new HandlerTable(native::AllHandlers());
    return table;
  }

  static absl::Status NoRule(const kube::Object& object) {
    return absl::UnimplementedError(
        absl::StrCat("no built-in handler for \"", object.gvk().ToString(), "\""));
  }

  const base::Clock& clock_;
  const RequirementRules rules_;
  const HandlerTable& table_;
};

}  // namespace

std::unique_ptr<Backend> NewNativeBackend(const base::Clock& clock, const RequirementRules& rules) {
  return std::make_unique<NativeBackend>(clock, rules);
}

std::vector<kube::Gvk> NativeKinds() { return native::AllHandlers().Kinds(); }

}  // namespace interpreter
