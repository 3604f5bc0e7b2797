// The events of a kind in one cluster, bounded by time and by bytes. Each has a position, which
// only grows; versions may repeat, and may go back with the server. A reader that follows the
// history remembers a position; one that arrives with a version gets the position of the first
// event that it may not have seen. Trimming moves complete_after_ up: below that version nothing
// can be continued. The history has no lock of its own: WatchCache guards it.

#include "kube/cache/internal/event_history.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/cache/encoded_object.h"

namespace kube::internal {
namespace {

// A watcher that continues at a lower version has not seen the event.
int64_t OwedBelow(const WatchCache::Event& event) {
  return event.belated ? event.version + 1 : event.version;
}

// What an event costs beside the texts: its entry, and an object that no table holds any more.
constexpr size_t kPerEvent = 1 << 10;

}  // namespace

void EventHistory::Add(WatchCache::Event event, base::SteadyTime now) {
  // The state after the change is held by the table, or by the next event of the same object.
  const size_t bytes =
      kPerEvent + (event.before == nullptr ? 0 : Encoded(*event.before).text_bytes());
  bytes_ += bytes;
  // The first events of a step may be owed at higher versions than those that follow.
  const int64_t earlier = events_.empty() ? complete_after_ : events_.back().owed_below;
  const int64_t owed_below = std::max(earlier, OwedBelow(event));
  events_.push_back({std::move(event), now, bytes, owed_below});
}

void EventHistory::Trim(base::SteadyTime now) {
  while (!events_.empty()) {
    const Entry& oldest = events_.front();
    // A few events stay whatever their age, so that watches of quiet kinds can be continued.
    const bool old = now - oldest.at > longest_ && events_.size() > kAlwaysKept;
    if (!old && bytes_ <= max_bytes_) return;
    complete_after_ = std::max(complete_after_, oldest.owed_below);
    bytes_ -= oldest.bytes;
    events_.pop_front();
    ++first_;
  }
}

void EventHistory::Reset(int64_t version) {
  first_ = end() + 1;  // One position is left out, so that none of the old ones is valid.
  events_.clear();
  bytes_ = 0;
  complete_after_ = version;
  narrowed_at_ = -1;
}

void EventHistory::Narrow(int64_t version) {
  narrowings_ = NarrowingsAt(version) + 1;
  narrowed_at_ = version;
  narrowed_position_ = end();
  // What was narrowed at this version cannot be told from what the version has shown before.
  complete_after_ = std::max(complete_after_, version + 1);
}

absl::StatusOr<uint64_t> EventHistory::PositionAfter(int64_t version, int narrowings) const {
  if (narrowings > 0 && narrowings == NarrowingsAt(version) && narrowed_position_ >= first_) {
    return narrowed_position_;
  }
  if (version < complete_after_) {
    return absl::OutOfRangeError(
        absl::StrCat("too old resource version: ", version, " (", complete_after_, ")"));
  }
  const auto after = std::partition_point(events_.begin(), events_.end(), [&](const Entry& entry) {
    return entry.owed_below <= version;
  });
  return first_ + static_cast<uint64_t>(after - events_.begin());
}

absl::Status EventHistory::Read(uint64_t& position, size_t limit,
                                std::vector<WatchCache::Event>& events) const {
  if (position < first_) {
    return absl::OutOfRangeError("the watch is too slow: events that it has not read are gone");
  }
  for (; position < end() && limit > 0; ++position, --limit) {
    events.push_back(events_[position - first_].event);
  }
  return absl::OkStatus();
}

absl::Status EventHistory::Since(
    int64_t version, absl::FunctionRef<void(const WatchCache::Event& event)> visit) const {
  const auto position = PositionAfter(version, 0);
  if (!position.ok()) return position.status();
  for (uint64_t i = *position - first_; i < events_.size(); ++i) {
    if (!events_[i].event.IsSeenAt(version)) visit(events_[i].event);
  }
  return absl::OkStatus();
}

}  // namespace kube::internal
