#include "controllers/context/interpreter_options.h"

#include <cstddef>

namespace controllers {

interpreter::live::LiveOptions InterpreterOptions(const config::Options& options) {
  interpreter::live::LiveOptions live;
  live.script_budget.time = options.scripts.timeout;
  live.script_budget.memory = static_cast<size_t>(options.scripts.memory_mib) << 20;
  live.requirements.priority_class = options.gates.Enabled(config::Gate::kResourceQuotaEstimate);
  live.merge.combined = options.gates.Enabled(config::Gate::kCombinedCustomizations);
  return live;
}

}  // namespace controllers
