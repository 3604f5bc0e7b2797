// The resource interpreter answers every question that loops ask about arbitrary kinds.
//
// NewChain makes the interpreter that the program uses: back ends in order (customized Lua,
// webhooks, shipped Lua, built-in handlers); for each operation the first back end with a rule for
// the kind answers alone, even if it fails (as in upstream's resourceinterpreter), unless it passes
// the question on (PassOn). Errors name layer, operation and object. If no layer has a rule, the
// error has only upstream's words and the code kUnimplemented. An error never has one of the codes
// by which loops recognise results of their own reads and writes (kNotFound, kAlreadyExists,
// kAborted): those become kInternal. kInvalidArgument means that rule and object do not fit: the
// same call fails until one of them changes, so it is marked base::Terminal. When every layer with
// a rule passes on, the answer is the one that loops assume for a kind without a rule
// (AssumedAnswer); for components it is the error, and for dependencies that of the last layer.
// Threads: all calls may come from any thread.
#ifndef INTERPRETER_INTERPRETER_H_
#define INTERPRETER_INTERPRETER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "interpreter/question.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace interpreter {

// The names of the layers, in the order in which they are asked.
inline constexpr absl::string_view kCustomizationLayer = "customization";
inline constexpr absl::string_view kWebhookLayer = "webhook";
inline constexpr absl::string_view kShippedLayer = "shipped";
inline constexpr absl::string_view kNativeLayer = "native";

// Names a rule: the layer, and inside it a customization, a "<configuration>/<webhook>" or a
// built-in handler's kind.
struct RuleName {
  std::string layer;
  std::string name;
};

// The longest message of a Health that the chain returns.
inline constexpr size_t kMaxHealthMessageBytes = 1024;

// Determines what the requirements of pods contain besides node claim and resources.
struct RequirementRules {
  // Includes priorityClassName in requirements that have a node claim or a resource. Feature gate
  // ResourceQuotaEstimate; upstream's GenerateReplicaRequirements.
  bool priority_class = false;
};

// Returns the error with which a back end passes a question on although it has a rule: the chain
// then asks the next layer. For rules that may fail without harm, and for webhooks whose rule
// disappeared after Has(). REQUIRES: !why.ok().
absl::Status PassOn(absl::Status why);
bool IsPassOn(const absl::Status& status);

// A layer of the chain. It is asked only questions for whose operation Has(...) is true.
class Backend : public Answering {
 public:
  virtual absl::string_view layer() const = 0;  // kCustomizationLayer, ...
  virtual bool Has(const kube::Gvk& gvk, Operation op) const = 0;
  // Returns the name of the rule inside this layer; "" when Has() is false.
  virtual std::string RuleOf(const kube::Gvk& gvk, Operation op) const = 0;
  // Returns whether the layer itself fails, in its own words, for dependencies that
  // ValidateDependencies refuses. If not, the chain validates them.
  virtual bool ChecksDependencies() const { return false; }
};

class RuleChanges;  // rule_changes.h

// Health messages that are longer than kMaxHealthMessageBytes are cut. Prune removes only what a
// layer prunes; the function Prune below removes what no manifest may keep.
class Interpreter : public Answering {
 public:
  // Loops subscribe here before they start, to be called when answers may have changed.
  virtual RuleChanges& rule_changes() const = 0;
  // Returns whether some layer has a rule. InterpretStatus always has one.
  virtual bool HasRule(const kube::Gvk& gvk, Operation op) const = 0;
  // Returns the rules for the operation in the order of their layers, at most one per layer; the
  // first one answers.
  virtual std::vector<RuleName> RulesFor(const kube::Gvk& gvk, Operation op) const = 0;
  // Returns AssumedAnswer when no layer has a rule, and otherwise what Ask returns: for callers
  // that would ask HasRule first.
  virtual absl::StatusOr<Answer> AskOrAssume(const Question& question) const = 0;
};

// Returns built-in handlers for the kinds of Kubernetes itself. The clock must outlive the back
// end.
std::unique_ptr<Backend> NewNativeBackend(const base::Clock& clock = base::RealClock(),
                                          const RequirementRules& rules = {});
// Returns the same handlers with answers in upstream's form. Upstream decodes objects into Go
// structs and encodes those, so that fields the structs do not know vanish and zero values are
// added or dropped. That concerns objects that AggregateStatus changes, and retained Pods; a
// retained ServiceAccount has null where there are no references. It serves for comparisons; loops
// have no use for it.
std::unique_ptr<Backend> NewUpstreamFormBackend(const base::Clock& clock = base::RealClock());
// Returns the kinds that have some built-in handler, sorted. (InterpretStatus has one for every
// kind.)
std::vector<kube::Gvk> NativeKinds();
// Returns the interpreter over these back ends, first to last. With a registry, which must outlive
// it, every call is observed in
// karmada_interpreter_operation_duration_seconds{layer,kind,operation,result}; result is "success",
// "error" or "passed_on".
std::unique_ptr<Interpreter> NewChain(std::vector<std::unique_ptr<Backend>> backends,
                                      metrics::Registry* metrics = nullptr);

// Removes fields that a cluster assigns, before a manifest is stored in a Work, as upstream's
// package prune: metadata that a server fills in, status, and per kind such fields as a Service's
// clusterIP.
void Prune(kube::Object& manifest);

}  // namespace interpreter

#endif  // INTERPRETER_INTERPRETER_H_
