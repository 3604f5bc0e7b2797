// The resource interpreter: every question the loops ask about kinds they do not know.
//
// Chain is the interpreter the program uses: back ends in order (customized Lua, webhooks, shipped
// Lua, built-in handlers); for each operation the first back end that has a rule for the kind
// decides alone, including by failing, as in upstream's resourceinterpreter; unless it passes the
// question on (PassOn). Errors name layer, operation and object; only when no layer has a rule they
// are upstream's words alone, with the code kUnimplemented. An error never has one of the codes by
// which loops know what became of their own reads and writes (kNotFound, kAlreadyExists, kAborted):
// those become kInternal. kInvalidArgument means that rule and object do not fit: the same call
// fails until one of them changes, so it is marked base::Terminal. When every layer with a rule
// passes on, the answer is what the loops take a kind without a rule for: no replicas,
// requirements, dependencies or status, an unchanged object, healthy; for components it is the
// error. Threads: all calls may come from any thread.
#ifndef INTERPRETER_INTERPRETER_H_
#define INTERPRETER_INTERPRETER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/metrics.h"
#include "kube/meta/names.h"
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
inline constexpr Operation kAllOperations[] = {
    Operation::kInterpretReplica, Operation::kInterpretComponent, Operation::kReviseReplica,
    Operation::kRetain,           Operation::kAggregateStatus,    Operation::kInterpretDependency,
    Operation::kInterpretStatus,  Operation::kInterpretHealth,    Operation::kPrune,
};
// "InterpretReplica", ...
absl::string_view OperationName(Operation op);
// The operation of that name in any case; nullopt when there is none.
std::optional<Operation> OperationNamed(absl::string_view name);

// The names of the layers, in the order in which they are asked.
inline constexpr absl::string_view kCustomizationLayer = "customization";
inline constexpr absl::string_view kWebhookLayer = "webhook";
inline constexpr absl::string_view kShippedLayer = "shipped";
inline constexpr absl::string_view kNativeLayer = "native";

// Who has a rule: the layer, and inside it a customization, a "<configuration>/<webhook>" or a
// built-in handler's kind.
struct RuleName {
  std::string layer;
  std::string name;
};

struct Replicas {
  int64_t replicas = 0;
  json::Value requirements;  // work/v1alpha2 ReplicaRequirements; null when there are none.
};

// What goes into the requirements of pods besides node claim and resources.
struct RequirementRules {
  // priorityClassName, where there is a node claim or a resource at all. Feature gate
  // ResourceQuotaEstimate; upstream's GenerateReplicaRequirements.
  bool priority_class = false;
};

// A binding's status.aggregatedStatus: an array of AggregatedStatusItem, or null for none.
using AggregatedItems = json::Value;

// What a back end answers to be passed over although it has a rule: the chain goes on with the next
// layer. For rules that may fail without harm, and for those that went away after Has().
// REQUIRES: !why.ok().
absl::Status PassOn(absl::Status why);
bool IsPassOn(const absl::Status& status);

// A layer of the chain. Has(...) is asked first; the other calls are made only for operations it
// has.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual absl::string_view layer() const = 0;  // One of the names above.
  virtual bool Has(const kube::Gvk& gvk, Operation op) const = 0;
  // The name of the rule inside this layer; "" when Has() is false.
  virtual std::string RuleOf(const kube::Gvk& gvk, Operation op) const = 0;
  virtual absl::StatusOr<Replicas> GetReplicas(const kube::Object& object) const = 0;
  virtual absl::StatusOr<json::Value> GetComponents(const kube::Object& object) const = 0;
  virtual absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object,
                                                     int64_t replicas) const = 0;
  virtual absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                              const kube::Object& observed) const = 0;
  // Returns the object with its new status; the same object (SharesWith) when nothing changes. Only
  // the status of the result means anything.
  virtual absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                                       const AggregatedItems& items) const = 0;
  // Returns whether GetDependencies fails for references that ValidateDependencies refuses, in
  // words of this layer. If not, the chain looks at what it returns.
  virtual bool ChecksDependencies() const { return false; }
  // Array of DependentObjectReference (apiVersion, kind, namespace, name, labelSelector), or null.
  virtual absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const = 0;
  // Null when there is no status.
  virtual absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const = 0;
  virtual absl::StatusOr<bool> InterpretHealth(const kube::Object& object) const = 0;
  // The template without what must not reach a member.
  virtual absl::StatusOr<kube::Object> Prune(const kube::Object& object) const = 0;
};

class RuleChanges;  // rule_changes.h

class Interpreter {
 public:
  virtual ~Interpreter() = default;
  // Subscribe here, before the loops start, to hear when answers may differ.
  virtual RuleChanges& rule_changes() const = 0;
  // Returns whether some layer has a rule. InterpretStatus always has one.
  virtual bool HookEnabled(const kube::Gvk& gvk, Operation op) const = 0;
  // The rules for the operation, one a layer at most, in order: the first one answers.
  virtual std::vector<RuleName> RulesFor(const kube::Gvk& gvk, Operation op) const = 0;
  virtual absl::StatusOr<Replicas> GetReplicas(const kube::Object& object) const = 0;
  virtual absl::StatusOr<json::Value> GetComponents(const kube::Object& object) const = 0;
  virtual absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object,
                                                     int64_t replicas) const = 0;
  virtual absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                              const kube::Object& observed) const = 0;
  virtual absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                                       const AggregatedItems& items) const = 0;
  virtual absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const = 0;
  virtual absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const = 0;
  virtual absl::StatusOr<bool> InterpretHealth(const kube::Object& object) const = 0;
  // Removes only what a layer prunes; the function Prune below prunes what every manifest must
  // lose.
  virtual absl::StatusOr<kube::Object> Prune(const kube::Object& object) const = 0;
};

// Built-in handlers for the kinds of Kubernetes itself. The clock must outlive the back end.
std::unique_ptr<Backend> NewNativeBackend(const base::Clock& clock = base::RealClock(),
                                          const RequirementRules& rules = {});
// The same handlers with answers as upstream writes them: it decodes objects into Go structs and
// encodes those, so that fields the structs do not know vanish and zero values appear or go. That
// is so for what AggregateStatus changes and for retained Pods; a retained ServiceAccount says null
// where there are no references. For comparing; the loops have no use for it.
std::unique_ptr<Backend> NewUpstreamFormBackend(const base::Clock& clock = base::RealClock());
// The kinds that have some built-in handler, sorted. (InterpretStatus has one for every kind.)
std::vector<kube::Gvk> NativeKinds();
// The interpreter over these back ends, first to last. With a registry, which must outlive it,
// every call is observed in
// karmada_interpreter_operation_duration_seconds{layer,kind,operation,result}; result is "success",
// "error" or "passed_on".
std::unique_ptr<Interpreter> NewChain(std::vector<std::unique_ptr<Backend>> backends,
                                      metrics::Registry* metrics = nullptr);

// Removes what a cluster assigns, before a manifest is stored in a Work, as upstream's package
// prune: metadata a server fills in, status, and per kind such fields as a Service's clusterIP.
void Prune(kube::Object& manifest);

}  // namespace interpreter

#endif  // INTERPRETER_INTERPRETER_H_
