// A layer of the interpreter that answers with Lua: users' customizations, or the shipped ones.
//
//   LuaBackend backend({.layer = kCustomizationLayer, .metrics = &registry});
//   backend.Replace(CustomizationSet::Merge(customizations));   // Again whenever one changes.
//
// Until the first Replace it is not known what users have customized, so every operation has a
// rule, which fails with kUnavailable "not yet ready to handle request". (Upstream answers "no
// rule" then, and has deleted dependencies after restarts because of it.)
//
// A script that keeps running out of its budget is not run on every call: see ScriptProbation.
// Threads: all calls from any thread. A call uses one set from its beginning to its end.
#ifndef INTERPRETER_CUSTOMIZED_LUA_BACKEND_H_
#define INTERPRETER_CUSTOMIZED_LUA_BACKEND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/snapshot.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/customized/script_probation.h"
#include "interpreter/customized/script_timings.h"
#include "interpreter/interpreter.h"
#include "lua/script_runner.h"

namespace interpreter::customized {

struct LuaBackendOptions {
  absl::string_view layer = kCustomizationLayer;  // kCustomizationLayer or kShippedLayer.
  lua::Budget budget;                             // Bounds each run of a script.
  RequirementRules requirements;                  // Used by kube.accuratePodRequirements.
  const base::Clock* clock = nullptr;    // nullptr: the real clock. Must outlive the back end.
  metrics::Registry* metrics = nullptr;  // nullptr: no metrics. Must outlive the back end.
  // Called after every run that ended with a result, on the caller's thread. May be empty.
  std::function<void(const lua::Usage&)> on_run;
  // Called like on_run, with what the script's function returned, before the results are checked.
  std::function<void(const lua::Script&, Operation, absl::Span<const lua::Value>)> on_results;
};

// Returns where a script has the function of the operation, for messages:
// "<customization>/<field>:<line>: in <function>", without a line when it is not known.
std::string PlaceOf(const lua::Script& script, Operation op);

class LuaBackend : public Backend {
 public:
  explicit LuaBackend(const LuaBackendOptions& options);

  // New calls use this set. REQUIRES: not nullptr.
  void Replace(std::shared_ptr<const CustomizationSet> set);
  // nullptr until the first Replace.
  std::shared_ptr<const CustomizationSet> set() const { return set_.Get(); }

  absl::string_view layer() const override { return layer_; }
  bool Has(const kube::Gvk& gvk, Operation op) const override;
  // Returns the name of the customization; where several answer, all of them, joined by ",".
  std::string RuleOf(const kube::Gvk& gvk, Operation op) const override;

  // Arguments, accepted results and messages are those of upstream's luavm. Errors of a script name
  // it ("<customization>/<field>") and keep the runner's code; kUnavailable while ScriptProbation
  // holds the script back.
  absl::StatusOr<Replicas> GetReplicas(const kube::Object& object) const override;
  absl::StatusOr<json::Value> GetComponents(const kube::Object& object) const override;
  absl::StatusOr<kube::Object> ReviseReplica(const kube::Object& object,
                                             int64_t replicas) const override;
  // If the set has several scripts for it, each gets what the one before returns as the desired
  // object. It fails when one of them fails.
  absl::StatusOr<kube::Object> Retain(const kube::Object& desired,
                                      const kube::Object& observed) const override;
  // Returns `object` with the status of the script's result; the rest of the result is not used.
  absl::StatusOr<kube::Object> AggregateStatus(const kube::Object& object,
                                               const AggregatedItems& items) const override;
  bool ChecksDependencies() const override { return true; }
  // Returns the union of what all scripts return, sorted by apiVersion, kind, namespace, name and
  // selector. It fails when one of the scripts fails or cannot answer.
  absl::StatusOr<json::Value> GetDependencies(const kube::Object& object) const override;
  absl::StatusOr<json::Value> ReflectStatus(const kube::Object& object) const override;
  absl::StatusOr<Health> InterpretHealth(const kube::Object& object) const override;
  // kUnimplemented: no script prunes.
  absl::StatusOr<kube::Object> Prune(const kube::Object& object) const override;

 private:
  struct ScriptCall {
    Operation operation;
    std::vector<json::Value> arguments;
  };
  using Results = std::vector<lua::Value>;

  struct Rules {
    std::shared_ptr<const CustomizationSet> set;  // Keeps `list` alive.
    absl::Span<const ScriptRule> list;            // Not empty.
  };

  // kUnavailable when the layer has not been loaded, or when the rule that Has() saw is gone: then
  // "no dependencies" would be a wrong answer.
  absl::StatusOr<Rules> Find(const kube::Gvk& gvk, Operation op) const;
  // Returns what `read` makes of the results of the one script for the object's kind.
  template <class Read>
  auto Answer(const kube::Object& object, const ScriptCall& call, Read read) const
      -> decltype(read(Results()));
  // As Answer, for a given script.
  template <class Read>
  auto AnswerOf(const ScriptRule& rule, const ScriptCall& call, Read read) const
      -> decltype(read(Results()));
  absl::StatusOr<Results> Run(const ScriptRule& rule, const ScriptCall& call) const;

  const absl::string_view layer_;
  const lua::ScriptRunner runner_;
  const std::function<void(const lua::Usage&)> on_run_;
  const std::function<void(const lua::Script&, Operation, absl::Span<const lua::Value>)>
      on_results_;
  mutable ScriptProbation probation_;
  metrics::Registry* const timed_;  // nullptr: scripts are not timed.
  base::Snapshot<CustomizationSet> set_;
  base::Snapshot<ScriptTimings> timings_;
};

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_LUA_BACKEND_H_
