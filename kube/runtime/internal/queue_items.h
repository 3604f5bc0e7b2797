// The items of a WorkQueue and the lanes that they wait in.
#ifndef KUBE_RUNTIME_INTERNAL_QUEUE_ITEMS_H_
#define KUBE_RUNTIME_INTERNAL_QUEUE_ITEMS_H_

#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/runtime/reconciler.h"

namespace kube::internal {

// A lane whose item took longer is slow.
inline constexpr absl::Duration kSlowItem = absl::Seconds(1);

// What an item waits for.
enum class ItemState { kNothing, kDelayed, kReady, kParked, kBlocked };

struct Lane;

struct QueueEntry {
  ItemState state = ItemState::kNothing;
  int priority = 0;
  uint64_t sequence = 0;  // The order of adding keeps equal priorities fair.
  base::SteadyTime due;   // When its delay is over.
  // Set while a worker holds the item.
  bool held = false;
  base::SteadyTime taken;
  bool quick = false;  // True if its lane was not slow when the item was taken.
  Lane* lane = nullptr;
};

using QueueItem = std::pair<const Request, QueueEntry>;

struct ByUrgency {
  bool operator()(const QueueItem* a, const QueueItem* b) const {
    return std::make_tuple(-a->second.priority, a->second.sequence) <
           std::make_tuple(-b->second.priority, b->second.sequence);
  }
};

struct ByDueTime {
  bool operator()(const QueueItem* a, const QueueItem* b) const {
    return std::tie(a->second.due, a->second.sequence) <
           std::tie(b->second.due, b->second.sequence);
  }
};

using UrgentItems = std::set<QueueItem*, ByUrgency>;

struct Lane {
  UrgentItems parked;
  std::vector<base::SteadyTime> taken;  // When each of its held items was taken, oldest first.
  bool was_slow = false;                // True if the last item was slow.

  bool IsSlow(base::SteadyTime now) const {
    return was_slow || (!taken.empty() && now - taken.front() >= kSlowItem);
  }
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_QUEUE_ITEMS_H_
