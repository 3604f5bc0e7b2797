// The recent changes of one resource, for watchers that continue.
#ifndef KUBE_CACHE_INTERNAL_EVENT_HISTORY_H_
#define KUBE_CACHE_INTERNAL_EVENT_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "kube/cache/watch_cache.h"

namespace kube::internal {

// Positions number all events that were ever added. Not thread-safe.
class EventHistory {
 public:
  EventHistory(absl::Duration longest, size_t max_bytes)
      : longest_(longest), max_bytes_(max_bytes) {}

  // Steps must not go back (see cache_step.h). The event is kept at least until the next call of
  // Trim.
  void Add(WatchCache::Event event, base::SteadyTime now);
  // Drops events that are too old or too many.
  void Trim(base::SteadyTime now);
  // Forgets everything; who was following cannot continue. The history begins again after
  // `version`.
  void Reset(int64_t version);

  // Takes note that objects were dropped at this version (WatchCache::KeepOnly). From then on
  // nobody can continue at it or at an older version, but a reader with a position can. REQUIRES:
  // the events of the narrowing have been added.
  void Narrow(int64_t version);

  // As in WatchCache.
  absl::StatusOr<uint64_t> PositionAfter(int64_t version, int narrowings) const;
  int NarrowingsAt(int64_t version) const { return version == narrowed_at_ ? narrowings_ : 0; }
  absl::Status Read(uint64_t& position, size_t limit, std::vector<WatchCache::Event>& events) const;
  // Calls `visit` with each event that a watcher at `version` has not seen, in order; or returns an
  // error as PositionAfter.
  absl::Status Since(int64_t version,
                     absl::FunctionRef<void(const WatchCache::Event& event)> visit) const;

  uint64_t end() const { return first_ + events_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    WatchCache::Event event;
    base::SteadyTime at;
    size_t bytes;
    // A watcher that continues at a lower version is owed this event or an earlier one.
    int64_t owed_below;
  };
  static constexpr size_t kAlwaysKept = 100;

  const absl::Duration longest_;
  const size_t max_bytes_;
  std::deque<Entry> events_;
  uint64_t first_ = 1;           // The position of the first event.
  int64_t complete_after_ = -1;  // The history has every event that is owed from here on.
  // The last narrowings: at which version, how many, and the position behind the last one.
  int64_t narrowed_at_ = -1;
  int narrowings_ = 0;
  uint64_t narrowed_position_ = 0;
  size_t bytes_ = 0;
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_EVENT_HISTORY_H_
