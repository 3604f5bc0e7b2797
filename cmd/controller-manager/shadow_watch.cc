// There is at most one round at a time. The first one begins at the start, so that its end says
// that every object has been looked at; a later one begins when a write has been held long enough.
// It ends when the loops have had time for what they put off, and their queues are empty but for
// what waits for a back-off. A key that has begun to fail a moment ago, or a kind that cannot be
// listed since then, may have another result soon, and is waited for. What has failed for kStanding
// has been looked at as well as can be: every plane has objects that fail for ever. The writes
// behind such a failure are not known; it is listed instead of them.
//
// On a plane whose loops never rest each round ends by its time and withdraws nothing. What is
// tried again in it is reported as ever, and writes that are new since then have their turn in the
// next one.

#include "cmd/controller-manager/shadow_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/cut_text.h"
#include "kube/client/errors.h"
#include "kube/runtime/failing_keys.h"

namespace cmd {

absl::Status ShadowWatch::Run(const base::StopToken& stop) {
  began_ = deps_.clock.SteadyNow();
  while (deps_.clock.SleepFor(kube::Shadow::kPeriod, stop)) {
    deps_.shadow->Judge(stop);
    failing_ = deps_.failing();
    deps_.shadow->ShowFailing(failing_.count);
    NoteFailing(failing_);
    const base::SteadyTime now = deps_.clock.SteadyNow();
    if (now - read_at_ >= kReadPeriod) ReadShown(stop);
    const bool is_round = round_began_ != base::SteadyTime::InfinitePast();
    if (is_round) {
      if (EndRound(now - round_began_)) round_began_ = base::SteadyTime::InfinitePast();
    } else if (deps_.shadow->rounds() == 0 || deps_.shadow->NeedsRound()) {
      BeginRound(stop);
    }
    if (End(stop)) return absl::OkStatus();
  }
  EndStopped();
  return absl::OkStatus();
}

void ShadowWatch::ReadShown(const base::StopToken& stop) {
  read_at_ = deps_.clock.SteadyNow();
  if (deps_.read_shown_failures != nullptr) deps_.read_shown_failures(stop);
}

void ShadowWatch::BeginRound(const base::StopToken& stop) {
  round_began_ = deps_.clock.SteadyNow();
  deps_.shadow->BeginRound();
  deps_.look_at_everything(stop);
}

void ShadowWatch::NoteFailing(const kube::Shadow::Failing& failing) {
  const base::SteadyTime now = deps_.clock.SteadyNow();
  std::map<std::pair<std::string, std::string>, base::SteadyTime> since;
  for (const kube::Shadow::Failure& failure : failing.some) {
    std::pair<std::string, std::string> name{failure.controller, failure.key};
    const auto before = failing_since_.find(name);
    since.emplace(std::move(name), before == failing_since_.end() ? now : before->second);
  }
  failing_since_ = std::move(since);
}

bool ShadowWatch::AllStanding(const kube::Shadow::Failing& failing) const {
  const base::SteadyTime now = deps_.clock.SteadyNow();
  return std::all_of(failing.some.begin(), failing.some.end(), [&](const auto& failure) {
    const auto since = failing_since_.find({failure.controller, failure.key});
    return since != failing_since_.end() && now - since->second >= kStanding;
  });
}

bool ShadowWatch::EndRound(absl::Duration since_begin) {
  if (since_begin < kRound) return false;
  // A pass that has ended meanwhile may have failed, so failures are looked at again.
  if (deps_.is_idle() && AllStanding(deps_.failing())) {
    deps_.shadow->EndRound();
    return true;
  }
  if (since_begin < kLongestRound) return false;
  deps_.shadow->AbandonRound();
  return true;
}

bool ShadowWatch::End(const base::StopToken& stop) {
  if (deps_.end == nullptr || stop.stop_requested()) return false;
  const base::SteadyTime now = deps_.clock.SteadyNow();
  const bool is_over = deps_.time_limit > absl::ZeroDuration() && now - began_ >= deps_.time_limit;
  const bool is_round = round_began_ != base::SteadyTime::InfinitePast();
  if (is_round && !is_over) return false;
  kube::Shadow::Failing failing;
  const auto result = [&] {
    failing = deps_.failing();
    return ResultOf(
        deps_.shadow->Count(), failing,
        [this](const std::string& cluster) { return IsDown(cluster); }, is_over);
  };
  ShadowResult ended = result();
  if (ended.verdict == ShadowResult::Verdict::kUndecided && !is_over) return false;
  ReadShown(stop);  // The leader may have shown something since the last time.
  if (stop.stop_requested()) return false;
  ended = result();
  if (ended.verdict == ShadowResult::Verdict::kUndecided && !is_over) return false;
  deps_.end(ended, failing);
  return true;
}

bool ShadowWatch::IsDown(const std::string& cluster) const {
  return deps_.is_down != nullptr && deps_.is_down(cluster);
}

// The loops end at the same time, and forget what has failed: that of the last pass is reported.
void ShadowWatch::EndStopped() {
  if (deps_.end == nullptr) return;
  const ShadowResult result =
      ResultOf(deps_.shadow->Count(), failing_,
               [this](const std::string& cluster) { return IsDown(cluster); });
  deps_.end(Stopped(result), failing_);
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
    failing.some.push_back({"cache", absl::StrCat(server, " ", kind),
                            base::CutText(error.message(), kube::FailingKeys::kErrorBytes)});
  }
}

}  // namespace cmd
