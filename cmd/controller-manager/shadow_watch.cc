// There is at most one round at a time. The first one begins at the start, so that its end says
// that every object has been looked at; each other one when a write has been held long enough. It
// ends when the loops have had time for what they put off, their queues are empty, and nothing
// fails: a key that waits for its back-off, or a kind that cannot be listed, has not been looked
// at. Until then nothing is withdrawn because of it. On a plane whose loops never rest, or where
// something fails for ever, each round ends by its time and withdraws nothing. What is tried again
// in it is reported as ever, and what has come meanwhile has its turn in the next one.
#include "cmd/controller-manager/shadow_watch.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/cut_text.h"
#include "kube/client/errors.h"
#include "kube/runtime/failing_keys.h"

namespace cmd {

absl::Status ShadowWatch::Run(const base::StopToken& stop) {
  std::optional<base::SteadyTime> round;  // When the round that is going on has begun.
  while (deps_.clock.SleepFor(kube::Shadow::kPeriod, stop)) {
    deps_.shadow->Judge(stop);
    const size_t failing = deps_.failing();
    deps_.shadow->ShowFailing(failing);
    const base::SteadyTime now = deps_.clock.SteadyNow();
    if (round.has_value()) {
      if (EndRound(now - *round, failing)) round.reset();
    } else if (deps_.shadow->rounds() == 0 || deps_.shadow->NeedsRound()) {
      round = now;
      deps_.shadow->BeginRound();
      deps_.look_at_everything(stop);
    }
  }
  return absl::OkStatus();
}

bool ShadowWatch::EndRound(absl::Duration since_begin, size_t failing) {
  if (since_begin < kRound) return false;
  // A pass that has ended meanwhile may have failed.
  if (failing == 0 && deps_.is_idle() && deps_.failing() == 0) {
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

void AddUnread(const std::string& server, const std::vector<const kube::InformerSet*>& of_server,
               kube::Shadow::Failing& failing) {
  std::vector<std::pair<std::string, absl::Status>> errors;
  bool answers = false;
  for (const kube::InformerSet* informers : of_server) {
    for (const auto& informer : informers->All()) {
      const absl::Status error = informer->last_error();
      answers = answers || (error.ok() && informer->HasSynced());
      if (!error.ok()) errors.emplace_back(informer->resource().gvr().ToString(), error);
    }
  }
  for (const auto& [kind, error] : errors) {
    if (answers && kube::IsNoSuchKind(error)) continue;
    ++failing.count;
    if (failing.some.size() >= ShadowWatch::kMostFailures) continue;
    failing.some.push_back({"cache", absl::StrCat(server, " ", kind),
                            base::CutText(error.message(), kube::FailingKeys::kErrorBytes)});
  }
}

}  // namespace cmd
