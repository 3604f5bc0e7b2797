// A run takes a state from the pool, or makes one. The state runs the script under its meter. The
// pool keeps the state if the run has left it as it was (State::Settle); else the state is dropped.

#include "lua/script_runner.h"

#include <utility>

#include "base/status.h"
#include "lua/internal/state.h"
#include "lua/internal/state_pool.h"

namespace lua {

class ScriptRunner::Impl {
 public:
  explicit Impl(Options options)
      : budget_(options.budget),
        setting_{std::move(options.libraries),
                 options.clock != nullptr ? *options.clock : base::RealClock()},
        pool_(setting_, options.max_idle_states, options.metrics) {}

  absl::StatusOr<Outcome> Run(const Script& script, const Call& call) {
    ASSIGN_OR_RETURN(std::unique_ptr<internal::State> state, pool_.Take());
    absl::StatusOr<Outcome> outcome = state->Run(script, call, budget_);
    pool_.Give(std::move(state));
    return outcome;
  }

 private:
  const Budget budget_;
  const internal::Setting setting_;
  internal::StatePool pool_;
};

ScriptRunner::ScriptRunner(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
ScriptRunner::~ScriptRunner() = default;

absl::StatusOr<Outcome> ScriptRunner::Run(const Script& script, const Call& call) const {
  return impl_->Run(script, call);
}

}  // namespace lua
