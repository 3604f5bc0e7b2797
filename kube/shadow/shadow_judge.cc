// How a shadow finds out whether its writes are still due: Judge() repeats what a write was
// answered with. It reads the object and computes the write again, without the precondition. A
// write is withdrawn when the server would refuse it or nothing would change, and also when a field
// that it changes has another value than it had: whoever has written that has woken the loop, which
// makes the write again if it still wants it. Other fields of the object, and other items of a list
// whose items have names, may change: they are not the write's, though its request may contain
// them.
//
// An attempt whose object could not be read becomes a write, or nothing, when there is an answer.
// It waits that long also when the loop itself no longer wants it, because nobody can know that.
//
// A server that swallows requests costs the time-out of one. So the clusters whose last answer was
// none come after all others, and one of them at a time, each in its turn: however many they are,
// the writes of the others are judged first, and again after one time-out.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kube/shadow/internal/shadow_record.h"
#include "kube/shadow/internal/shadow_write.h"
#include "kube/shadow/shadow.h"

namespace kube {

std::vector<Shadow::Key> Shadow::ToJudge() const {
  std::vector<std::pair<base::SteadyTime, Key>> kept;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [key, record] : records_) {
      if (record.IsKept()) kept.emplace_back(record.judged_at, key);
    }
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Key> keys;
  for (auto& [time, key] : kept) keys.push_back(std::move(key));
  return keys;
}

std::optional<Shadow::Record> Shadow::Find(const Key& key) const {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(key);
  if (found == records_.end() || !found->second.IsKept()) return std::nullopt;
  return found->second;
}

void Shadow::Judge(const base::StopToken& stop) {
  const std::vector<Key> keys = ToJudge();
  const std::set<std::string> silent = SilentToAsk();
  JudgeThose(keys, kMostReads, silent, stop);
  JudgeSilent(keys, silent, stop);
  if (!stop.stop_requested()) ShowGauge();
}

std::set<std::string> Shadow::SilentToAsk() const {
  absl::MutexLock lock(&mu_);
  return silent_;
}

void Shadow::JudgeThose(const std::vector<Key>& keys, int most_reads,
                        std::set<std::string> left_out, const base::StopToken& stop) {
  int reads = 0;
  for (const Key& key : keys) {
    if (stop.stop_requested()) return;
    const std::optional<Record> record = Find(key);
    if (!record.has_value()) continue;
    if (record->server.expired()) {  // The cluster has left, or is reached in another way by now.
      Settle(key, *record, std::nullopt);
      continue;
    }
    const std::string& cluster = std::get<0>(key);
    if (left_out.contains(cluster)) continue;
    if (reads++ == most_reads) break;
    // One wait for each server that does not answer is enough.
    if (!JudgeOne(key, *record, stop)) left_out.insert(cluster);
  }
}

void Shadow::JudgeSilent(const std::vector<Key>& keys, const std::set<std::string>& silent,
                         const base::StopToken& stop) {
  std::map<std::string, std::vector<Key>> by_cluster;
  for (const Key& key : keys) {
    if (silent.contains(std::get<0>(key))) by_cluster[std::get<0>(key)].push_back(key);
  }
  if (by_cluster.empty()) return;
  auto next = by_cluster.upper_bound(asked_last_);
  if (next == by_cluster.end()) next = by_cluster.begin();
  asked_last_ = next->first;
  JudgeThose(next->second, kMostSilentReads, {}, stop);
}

bool Shadow::JudgeOne(const Key& key, const Record& record, const base::StopToken& stop) {
  const std::shared_ptr<Transport> server = record.server.lock();
  if (server == nullptr) return true;  // Just now.
  const bool is_read = !internal::PathToRead(record.request).empty();
  auto answer = internal::AskShadowed(*server, record.request, true, stop);
  if (stop.stop_requested()) return true;
  if (is_read && answer.ok()) Hear(std::get<0>(key), answer->response);
  if (!answer.ok()) Hear(std::get<0>(key), answer.status());
  if (!answer.ok() || !answer->is_known) {
    LeaveUnjudged(key);
  } else {
    Settle(key, record, std::move(answer->write));
  }
  return answer.ok();
}

void Shadow::LeaveUnjudged(const Key& key) {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(key);
  if (found == records_.end() || !found->second.IsKept()) return;
  found->second.judged_at = clock_.SteadyNow();
  found->second.unanswered = true;
}

void Shadow::Settle(const Key& key, const Record& judged,
                    std::optional<internal::ShadowedWrite> now) {
  absl::MutexLock lock(&mu_);
  const auto found = records_.find(key);
  if (found == records_.end() || !found->second.IsKept()) return;
  Record& record = found->second;
  const bool is_new_attempt = record.attempts != judged.attempts;
  if (judged.due && now.has_value() && judged.write.changes.AreAmong(now->changes)) {
    StaysDue(key, record);
  } else if (is_new_attempt) {
    return;
  } else if (judged.due) {
    Withdraw(key, record);
  } else {
    Adopt(key, std::move(now));
  }
}

void Shadow::Adopt(const Key& key, std::optional<internal::ShadowedWrite> now) {
  const Record tried = records_[key];
  Erase(key);
  const std::shared_ptr<Transport> server = tried.server.lock();
  if (!now.has_value() || server == nullptr) return;
  const auto& [cluster, verb, path, mark] = key;
  const Key due = KeyOf({cluster, verb, path}, *now);
  const auto found = records_.find(due);
  const base::SteadyTime last_attempt =
      found == records_.end() ? tried.last_attempt
                              : std::max(tried.last_attempt, found->second.last_attempt);
  Record* const record = Attempted(due, BytesOf(*now, tried.request), server);
  if (record == nullptr) return;
  record->attempts += tried.attempts - 1;
  record->last = tried.last;
  record->last_attempt = last_attempt;
  Take(*record, *std::move(now), tried.request);
  Weigh(due, *record);
  StaysDue(due, *record);
}

void Shadow::StaysDue(const Key& key, Record& record) {
  const base::SteadyTime now = clock_.SteadyNow();
  record.judged_at = now;
  record.unanswered = false;
  record.shown = now - record.due_since >= kHold && record.IsConfirmed();
  if (record.shown && !record.logged) Report(key, record);
}

}  // namespace kube
