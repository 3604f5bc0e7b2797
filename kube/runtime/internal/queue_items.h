// The items of a WorkQueue and the lanes that they wait in.
#ifndef KUBE_RUNTIME_INTERNAL_QUEUE_ITEMS_H_
#define KUBE_RUNTIME_INTERNAL_QUEUE_ITEMS_H_

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "kube/runtime/reconciler.h"

namespace kube::internal {

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
  // For Lanes, while the item is held or parked.
  Lane* lane = nullptr;
  base::SteadyTime lane_entered;
  bool quick = false;  // True if its lane was not slow when the item was taken.
  bool old = false;    // True if it has been held long enough to make its lane slow.
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

// A lane, and its part of the sums of Lanes.
struct Lane {
  const std::string* name = nullptr;
  UrgentItems parked;
  int held = 0;
  int old_held = 0;       // How many of the held items have become slow.
  bool was_slow = false;  // True if the last item was slow.
  bool is_front = false;  // Its first parked item is in Lanes::slow_fronts_.
  bool is_idle = false;   // It is in Lanes::idle_, with idle_since.
  base::SteadyTime idle_since;

  bool IsSlow() const { return was_slow || old_held > 0; }
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_QUEUE_ITEMS_H_
