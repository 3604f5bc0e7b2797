// A layer of the interpreter that answers with Lua: users' customizations, or the shipped ones.
//
//   LuaBackend backend({.layer = kCustomizationLayer, .metrics = &registry});
//   backend.Replace(CustomizationSet::Merge(customizations));   // Again whenever one changes.
//
// Until the first Replace it is not known what users have customized, so every operation has a
// rule, which fails with kUnavailable "not yet ready to handle request". (Upstream answers "no
// rule" then, and has deleted dependencies after restarts because of it.)
//
// A script that keeps running out of its budget is not run on every call (see ScriptProbation),
// unless the options say that every question is to be asked.
// Threads: all calls from any thread. A call uses one set from its beginning to its end.
#ifndef INTERPRETER_CUSTOMIZED_LUA_BACKEND_H_
#define INTERPRETER_CUSTOMIZED_LUA_BACKEND_H_

#include <functional>
#include <memory>
#include <optional>
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
  // False: a script is run for every question, however often it has run out of its budget, so that
  // answers do not depend on earlier questions. (Nor is that counted in metrics then.)
  bool has_probation = true;
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
  // holds the script back; kUnimplemented for Prune, because no script prunes. An answer to
  // AggregateStatus is the question's object with the status of the script's result; the rest of
  // the result is not used.
  //
  // If the set has several scripts for Retain, each gets what the one before returns as the desired
  // object, and Retain fails when one of them fails. Dependencies are the union of what all scripts
  // return, sorted by apiVersion, kind, namespace, name and selector; they fail when one of the
  // scripts fails or cannot answer.
  absl::StatusOr<Answer> Ask(const Question& question) const override;
  bool ChecksDependencies() const override { return true; }

 private:
  struct Rules {
    std::shared_ptr<const CustomizationSet> set;  // Keeps `list` alive.
    absl::Span<const ScriptRule> list;            // Not empty.
  };

  // kUnavailable when the layer has not been loaded, or when the rule that Has() saw is gone: then
  // "no dependencies" would be a wrong answer.
  absl::StatusOr<Rules> Find(const kube::Gvk& gvk, Operation op) const;
  // Returns the answer of one script.
  absl::StatusOr<Answer> AnswerOf(const ScriptRule& rule, const Question& question) const;
  absl::StatusOr<std::vector<lua::Value>> CallScript(const ScriptRule& rule,
                                                     const Question& question) const;
  // Runs the rule's script unless it is on probation. REQUIRES: the rule has a script.
  absl::StatusOr<lua::Outcome> RunScript(const ScriptRule& rule, Operation op,
                                         const lua::Call& call) const;
  absl::StatusOr<Answer> Retained(const Rules& rules, const Question& question) const;
  absl::StatusOr<Answer> AllDependencies(const Rules& rules, const Question& question) const;
  absl::StatusOr<Answer> WithNewStatus(const Rules& rules, const Question& question) const;

  const absl::string_view layer_;
  const lua::ScriptRunner runner_;
  const std::function<void(const lua::Usage&)> on_run_;
  const std::function<void(const lua::Script&, Operation, absl::Span<const lua::Value>)>
      on_results_;
  mutable std::optional<ScriptProbation> probation_;  // Without it every script is run.
  metrics::Registry* const timed_;                    // nullptr: scripts are not timed.
  base::Snapshot<CustomizationSet> set_;
  base::Snapshot<ScriptTimings> timings_;
};

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_LUA_BACKEND_H_
