// There is at most one round at a time. It begins when a write has been held long enough, and ends
// when the loops have had time for what they put off and their queues are empty; until then nothing
// is withdrawn because of it. A plane whose loops never rest has one endless round: what is tried
// again in it is reported as ever.
#include "cmd/controller-manager/shadow_watch.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace cmd {

absl::Status ShadowWatch::Run(const base::StopToken& stop) {
  std::optional<base::SteadyTime> round;  // When the round that is going on has begun.
  while (deps_.clock.SleepFor(kube::Shadow::kPeriod, stop)) {
    deps_.shadow->Judge(stop);
    const base::SteadyTime now = deps_.clock.SteadyNow();
    if (round.has_value()) {
      if (now - *round < kRound || !deps_.is_idle()) continue;
      deps_.shadow->EndRound();
      round.reset();
    } else if (deps_.shadow->NeedsRound()) {
      round = now;
      deps_.shadow->BeginRound();
      deps_.look_at_everything(stop);
    }
  }
  return absl::OkStatus();
}

bool QueuesAreIdle(const metrics::Registry& registry) {
  const std::string exposition = registry.Expose();
  for (const absl::string_view line : absl::StrSplit(exposition, '\n')) {
    const bool counts = absl::StartsWith(line, "workqueue_depth{") ||
                        absl::StartsWith(line, "controller_runtime_active_workers{");
    if (counts && !absl::EndsWith(line, " 0")) return false;
  }
  return true;
}

}  // namespace cmd
