// There is at most one round at a time. The first one begins at the start, so that its end says
// that every object has been looked at; each other one when a write has been held long enough. It
// ends when the loops have had time for what they put off and their queues are empty; until then
// nothing is withdrawn because of it. On a plane whose loops never rest each round ends by its time
// and withdraws nothing. What is tried again in it is reported as ever, and what has come meanwhile
// has its turn in the next one.
#include "cmd/controller-manager/shadow_watch.h"

#include <optional>

namespace cmd {

absl::Status ShadowWatch::Run(const base::StopToken& stop) {
  std::optional<base::SteadyTime> round;  // When the round that is going on has begun.
  while (deps_.clock.SleepFor(kube::Shadow::kPeriod, stop)) {
    deps_.shadow->Judge(stop);
    const base::SteadyTime now = deps_.clock.SteadyNow();
    if (round.has_value()) {
      if (EndRound(now - *round)) round.reset();
    } else if (deps_.shadow->rounds() == 0 || deps_.shadow->NeedsRound()) {
      round = now;
      deps_.shadow->BeginRound();
      deps_.look_at_everything(stop);
    }
  }
  return absl::OkStatus();
}

bool ShadowWatch::EndRound(absl::Duration since_begin) {
  if (since_begin < kRound) return false;
  if (deps_.is_idle()) {
    deps_.shadow->EndRound();
    return true;
  }
  if (since_begin < kLongestRound) return false;
  deps_.shadow->AbandonRound();
  return true;
}

bool AllHaveRead(const kube::InformerSet& informers) {
  for (const auto& informer : informers.All()) {
    if (!informer->HasSynced() && informer->last_error().ok()) return false;
  }
  return true;
}

}  // namespace cmd
