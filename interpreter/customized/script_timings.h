// How long the scripts of customizations take, by customization and operation, in the metric
// kScriptDurationMetric.
#ifndef INTERPRETER_CUSTOMIZED_SCRIPT_TIMINGS_H_
#define INTERPRETER_CUSTOMIZED_SCRIPT_TIMINGS_H_

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/metrics.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"

namespace interpreter::customized {

// The series of one set of scripts. Thread-safe.
class ScriptTimings {
 public:
  // The series of a script that is in the set before (whose timings are `before`; nullptr: none)
  // with the same text go on; those of other scripts begin at zero, and those of scripts that are
  // gone go, too. `metrics` must outlive this object.
  ScriptTimings(metrics::Registry& metrics, const CustomizationSet& set,
                const ScriptTimings* before);

  // Counts an answer of the rule's script, with an error or without. A rule that is not of the set
  // is not counted.
  void Observe(const ScriptRule& rule, Operation op, bool ok, absl::Duration took) const;

 private:
  struct Series {
    std::string text;  // Of the script.
    metrics::Histogram* succeeded = nullptr;
    metrics::Histogram* failed = nullptr;
  };
  using Key = std::pair<std::string, Operation>;  // The customization's name.

  absl::flat_hash_map<Key, Series> series_;
};

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SCRIPT_TIMINGS_H_
