// Keeps scripts that eat up their budget from being run on every call.
//
// A script that ran out of time or memory three times in a row is suspected: calls fail at once
// until some time has passed, then one call at a time may try it. The time doubles with each
// further failure, from one second to five minutes. A run that ends within its budget, with a
// result or an error of its own, clears the script; so does a change of its text.
#ifndef INTERPRETER_CUSTOMIZED_SCRIPT_PROBATION_H_
#define INTERPRETER_CUSTOMIZED_SCRIPT_PROBATION_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"
#include "lua/script.h"

namespace interpreter::customized {

// Threads: all calls from any thread.
class ScriptProbation {
 public:
  static constexpr int kEndsBeforeSuspicion = 3;
  static constexpr absl::Duration kFirstWait = absl::Seconds(1);
  static constexpr absl::Duration kLongestWait = absl::Minutes(5);

  // A run that was let through.
  struct Ticket {
    uint64_t script = 0;  // Its fingerprint.
    std::string customization;
    Operation operation = Operation::kInterpretHealth;
    bool is_try = false;  // Of a suspected script.
  };

  // Both must outlive this; `metrics` may be nullptr.
  ScriptProbation(const base::Clock& clock, metrics::Registry* metrics)
      : clock_(clock), metrics_(metrics) {}

  // To be asked before each run, and answered with End after it. kUnavailable: do not run; the
  // message names customization and operation and says when the script is tried again.
  absl::StatusOr<Ticket> Begin(const lua::Script& script, absl::string_view customization,
                               Operation operation);
  // `outcome` of the run: kDeadlineExceeded and kResourceExhausted are ends by the budget, each
  // counted in karmada_interpreter_script_budget_exceeded_total{customization,operation}.
  void End(const Ticket& ticket, const absl::Status& outcome);
  // Forgets scripts that are not in this set, and the series of customizations that are not.
  void KeepOnly(const CustomizationSet& set);

 private:
  struct Suspect {
    int ends = 0;         // By the budget, in a row.
    absl::Duration wait;  // Zero until suspected.
    absl::Time next_try;
    bool being_tried = false;
  };

  void Count(const Ticket& ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  metrics::Registry* const metrics_;
  absl::Mutex mu_;
  absl::flat_hash_map<uint64_t, Suspect> suspects_ ABSL_GUARDED_BY(mu_);  // By fingerprint.
  std::set<std::string> counted_ ABSL_GUARDED_BY(mu_);  // Customizations that have series.
};

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SCRIPT_PROBATION_H_
