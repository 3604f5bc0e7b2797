#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/internal/http_connection.h"

namespace base::internal {

bool ConnectionTable::Add(std::shared_ptr<HttpConnection> connection) {
  std::shared_ptr<HttpConnection> replaced;
  {
    absl::MutexLock lock(&mu_);
    if (sealed_) return false;
    if (unready_.size() >= max_unready_) {
      replaced = Take(unready_.begin()->second);
    } else if (open_.size() >= max_) {
      replaced = TakeLongestWaiting();
    }
    const HttpConnection* key = connection.get();
    open_.emplace(key, Entry{std::move(connection), ++last_});
    unready_.emplace(last_, key);
  }
  if (replaced != nullptr) replaced->Cut();
  return true;
}

void ConnectionTable::NoteReady(const HttpConnection* connection) {
  absl::MutexLock lock(&mu_);
  const auto open = open_.find(connection);
  if (open != open_.end()) unready_.erase(open->second.number);
}

std::shared_ptr<HttpConnection> ConnectionTable::TakeLongestWaiting() {
  const auto longest = std::min_element(
      open_.begin(), open_.end(),
      [](const auto& a, const auto& b) { return *a.second.connection < *b.second.connection; });
  return Take(longest->first);
}

std::shared_ptr<HttpConnection> ConnectionTable::Take(const HttpConnection* connection) {
  const auto open = open_.find(connection);
  if (open == open_.end()) return nullptr;
  unready_.erase(open->second.number);
  return std::move(open_.extract(open).mapped().connection);
}

void ConnectionTable::Remove(const HttpConnection* connection) {
  // Declared before the lock, because it may be the last reference.
  std::shared_ptr<HttpConnection> last;
  absl::MutexLock lock(&mu_);
  last = Take(connection);
}

std::vector<std::shared_ptr<HttpConnection>> ConnectionTable::All() const {
  std::vector<std::shared_ptr<HttpConnection>> all;
  absl::MutexLock lock(&mu_);
  all.reserve(open_.size());
  for (const auto& [key, entry] : open_) all.push_back(entry.connection);
  return all;
}

bool ConnectionTable::AwaitNone(absl::Duration patience) const {
  absl::MutexLock lock(&mu_);
  const auto none = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return open_.empty(); };
  const Clock& clock = RealClock();
  return clock.AwaitUntil(mu_, absl::Condition(&none), clock.SteadyNow() + patience);
}

void ConnectionTable::Seal() {
  absl::MutexLock lock(&mu_);
  sealed_ = true;
}

}  // namespace base::internal
