// An answer is made from what was read: the templates that are not fine, as many as fit into the
// bounds, and how many they are by cluster and by policy. Who asks while a reading is made waits
// for its end, or gives up; who asks soon afterwards gets the same bytes. An answer that says why
// nothing could be read takes the place of the last one, whose counts are kept.

#include "lens/serve/fleet_reading.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/digest.h"
#include "lens/fleet/report.h"
#include "lens/serve/bounds.h"
#include "lens/serve/shown.h"
#include "lens/why/diagnosis.h"

namespace lens::serve {
namespace {

constexpr size_t kFingerprintBytes = 12;

// Leaves out templates of long groups; `left_out` says how many.
json::Value Cut(json::Value fleet, size_t most) {
  json::Value groups = json::Value::Array();
  for (const json::Value& group : fleet["groups"].items()) {
    json::Value shown = json::Value::Array();
    const auto templates = group["templates"].items();
    for (size_t i = 0; i < std::min(most, templates.size()); ++i) {
      json::Value one = templates[i];
      one.Set("type", TypeOf(one["apiVersion"].AsString(), one["kind"].AsString()));
      for (const absl::string_view field : {"headline", "advice"}) {
        one.Set(field, Shortened(one[field].AsString()));
      }
      shown.Append(std::move(one));
    }
    json::Value cut = group;
    cut.Set("leftOut", static_cast<int64_t>(templates.size() - shown.size()));
    cut.Set("templates", std::move(shown));
    groups.Append(std::move(cut));
  }
  fleet.Set("groups", std::move(groups));
  return fleet;
}

// What could not be read may have come back, and waiting for it made the reading long.
absl::Duration PauseAfter(const FleetAnswer& answer) {
  const bool was_late = absl::IsDeadlineExceeded(answer.status);
  if (!answer.status.ok() && !was_late) return kPause;
  return std::max(kPause, (answer.is_whole ? kPausePerReading : 1) * answer.took);
}

// Returns whether its counts may stand beside what is read now: for kCountsFor, or as long as it
// takes to read a large fleet again.
bool StillCounts(const FleetAnswer& answer, base::SteadyTime now) {
  return now - answer.ended <= std::max(kCountsFor, PauseAfter(answer) + 2 * answer.took);
}

json::Value CountOf(const std::map<std::string, size_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return static_cast<int64_t>(found == counts.end() ? 0 : found->second);
}

}  // namespace

FleetAnswer AnswerOf(const absl::StatusOr<fleet::Fleet>& read, absl::Duration took,
                     const base::Clock& clock) {
  FleetAnswer answer;
  answer.status = read.status();
  answer.at = clock.Now();
  answer.ended = clock.SteadyNow();
  answer.took = took;
  if (!read.ok()) return answer;
  for (const fleet::Trouble& trouble : read->troubles) {
    if (!trouble.cause.cluster.empty()) ++answer.by_cluster[trouble.cause.cluster];
    if (!trouble.policy.empty()) ++answer.by_policy[trouble.policy];
  }
  answer.headline = why::AsSentence(fleet::HeadlineOf(*read));
  answer.not_fine = read->troubles.size();
  answer.is_whole = read->is_whole;
  const json::Value whole = fleet::JsonOf(*read);
  std::string text;
  json::Value shown;
  for (size_t most = kMostTemplatesOfGroup; most > 0; most /= 2) {
    shown = Cut(whole, most);
    text = json::Write(shown);
    if (text.size() <= kMostFleetBytes) break;
  }
  answer.fingerprint = absl::BytesToHexString(base::Sha256(text).substr(0, kFingerprintBytes));
  shown.Set("readAt", kube::FormatTime(answer.at));
  shown.Set("tookSeconds", absl::ToDoubleSeconds(took));
  shown.Set("fingerprint", answer.fingerprint);
  answer.json = std::make_shared<const std::string>(json::Write(shown));
  return answer;
}

bool IsRecent(const FleetAnswer& answer, base::SteadyTime now) {
  return now - answer.ended < PauseAfter(answer);
}

json::Value NotFine::InCluster(const std::string& name) const {
  return is_known ? CountOf(last->by_cluster, name) : json::Value();
}

json::Value NotFine::OfPolicy(const std::string& name) const {
  return is_known ? CountOf(last->by_policy, name) : json::Value();
}

json::Value NotFine::ReadAt() const {
  return last == nullptr ? json::Value() : TimeAsJson(last->at);
}

absl::StatusOr<FleetReading::Place> FleetReading::Want(absl::Duration max_age, base::SteadyTime now,
                                                       Done done) {
  FleetAnswerPtr known;
  {
    absl::MutexLock lock(&mu_);
    const bool is_young = last_ != nullptr && last_->status.ok() && now - last_->ended <= max_age;
    if (!is_young) {
      if (waiting_.size() >= kMostWaiting) {
        return absl::ResourceExhaustedError("too many wait for what is being read at the moment");
      }
      waiting_.emplace(++last_ticket_, std::move(done));
      return Place{!std::exchange(reading_, true), last_ticket_};
    }
    known = last_;
  }
  done(known);
  return Place();
}

bool FleetReading::GiveUp(uint64_t ticket) {
  Done dropped;  // Destroyed without the lock.
  absl::MutexLock lock(&mu_);
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return false;
  dropped = std::move(found->second);
  waiting_.erase(found);
  return true;
}

bool FleetReading::Begin() {
  absl::MutexLock lock(&mu_);
  return !std::exchange(reading_, true);
}

void FleetReading::Finish(FleetAnswer answer) {
  const auto shared = std::make_shared<const FleetAnswer>(std::move(answer));
  std::map<uint64_t, Done> waiting;
  {
    absl::MutexLock lock(&mu_);
    last_ = shared;
    if (shared->status.ok()) last_good_ = shared;
    reading_ = false;
    waiting.swap(waiting_);
  }
  for (const auto& [ticket, done] : waiting) done(shared);
}

FleetAnswerPtr FleetReading::Last() const {
  absl::MutexLock lock(&mu_);
  return last_;
}

NotFine FleetReading::CountsAt(base::SteadyTime now) const {
  absl::MutexLock lock(&mu_);
  return {last_good_, last_good_ != nullptr && StillCounts(*last_good_, now)};
}

bool FleetReading::IsDue(base::SteadyTime now) const {
  absl::MutexLock lock(&mu_);
  if (reading_) return false;
  if (last_ == nullptr) return true;
  return !IsRecent(*last_, now);
}

}  // namespace lens::serve
