// A state that replaces another one keeps its place, so that a document which changes all the time
// is still written, and one that failed still waits for its next try.

#include "search/opensearch/write_queue.h"

#include <utility>

namespace search {

void WriteQueue::Count(const PendingWrite& write, bool added) {
  const bool deletion = write.json == nullptr && !write.exact_version.has_value();
  const auto count = [added](size_t& number) { number = added ? number + 1 : number - 1; };
  if (deletion) count(deletions_);
  if (write.compared) count(compared_);
}

void WriteQueue::Put(const DocumentKey& key, PendingWrite write, base::SteadyTime now) {
  const auto [entry, added] = entries_.try_emplace(key);
  write.attempts = entry->second.attempts;
  write.compared = write.compared || entry->second.compared;
  if (!added) Count(entry->second, false);
  entry->second = std::move(write);
  Count(entry->second, true);
  if (added) order_.push_back({key, now});
}

void WriteQueue::PutIfAbsent(const DocumentKey& key, PendingWrite write, base::SteadyTime now) {
  if (!entries_.contains(key)) Put(key, std::move(write), now);
}

void WriteQueue::PutBack(Item item, base::SteadyTime at) {
  const auto [entry, added] = entries_.try_emplace(item.first);
  if (!added) {
    if (item.second.compared && !std::exchange(entry->second.compared, true)) ++compared_;
    return;
  }
  entry->second = std::move(item.second);
  Count(entry->second, true);
  delayed_.emplace(at, std::move(item.first));
}

void WriteQueue::EraseSlice(int64_t slice) {
  absl::erase_if(entries_, [&](const auto& entry) {
    if (entry.first.slice != slice) return false;
    Count(entry.second, false);
    return true;
  });
  std::erase_if(order_, [slice](const Place& place) { return place.key.slice == slice; });
  std::erase_if(delayed_, [slice](const auto& entry) { return entry.second.slice == slice; });
}

std::vector<WriteQueue::Item> WriteQueue::Take(size_t max, base::SteadyTime now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    order_.push_back({std::move(delayed_.begin()->second), delayed_.begin()->first});
    delayed_.erase(delayed_.begin());
  }
  std::vector<Item> taken;
  while (taken.size() < max && !order_.empty()) {
    const auto found = entries_.find(order_.front().key);
    Count(found->second, false);
    taken.emplace_back(std::move(order_.front().key), std::move(found->second));
    entries_.erase(found);
    order_.pop_front();
  }
  return taken;
}

base::SteadyTime WriteQueue::oldest() const {
  return order_.empty() ? base::SteadyTime::InfiniteFuture() : order_.front().since;
}

base::SteadyTime WriteQueue::next_retry() const {
  return delayed_.empty() ? base::SteadyTime::InfiniteFuture() : delayed_.begin()->first;
}

}  // namespace search
