// The lanes of a WorkQueue: which of its items may be held at once (LaneOptions).
#ifndef KUBE_RUNTIME_INTERNAL_QUEUE_LANES_H_
#define KUBE_RUNTIME_INTERNAL_QUEUE_LANES_H_

#include <cstddef>
#include <list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/runtime/internal/queue_items.h"
#include "kube/runtime/work_queue.h"

namespace kube::internal {

// Items are not owned; they must stay where they are while they are held or parked. Each call costs
// O(log n), however many lanes there are. Not thread-safe.
class Lanes {
 public:
  // An item that took longer makes its lane slow.
  static constexpr absl::Duration kSlowItem = absl::Seconds(1);
  // For so long an idle lane is known to be slow. Then it is forgotten, as a quick one is at once.
  static constexpr absl::Duration kRemembered = absl::Minutes(10);

  explicit Lanes(LaneOptions options) : options_(std::move(options)) {}

  // Returns whether as many quick items are held as workers shall hold.
  bool IsFull() const {
    return options_.of && static_cast<int>(quick_.size()) >= options_.max_held_quick;
  }
  // Returns when the next item stops being quick. REQUIRES: IsFull().
  base::SteadyTime NextRoom() const { return quick_.front() + kSlowItem; }
  size_t parked() const { return parked_; }
  // How many lanes are known.
  size_t size() const { return lanes_.size(); }

  // Takes into account that time has passed. To be called before IsFull counts.
  void Pass(base::SteadyTime now);
  // Returns whether the item may be held from now on; otherwise it is parked. REQUIRES: the item is
  // neither held nor parked.
  bool Enter(QueueItem& item, base::SteadyTime now);
  // Ends the hold of an item. Returns parked items that may be taken now, and are not parked any
  // more; Enter decides again.
  std::vector<QueueItem*> Leave(QueueItem& item, base::SteadyTime now);
  // Changes the priority of a parked item.
  void Raise(QueueItem& item, int priority);

 private:
  Lane& LaneOf(QueueItem& item);
  bool HasPlace(const Lane& lane) const;
  void RemoveFromSums(Lane& lane);
  void AddToSums(Lane& lane);
  // Changes a lane by calling `change`, and keeps the sums true.
  template <class ChangeFn>
  void Change(Lane& lane, ChangeFn change);
  QueueItem* Unpark(Lane& lane);
  void ForgetOrRemember(Lane& lane, base::SteadyTime now);

  const LaneOptions options_;
  absl::node_hash_map<std::string, Lane> lanes_;
  size_t parked_ = 0;
  // When each item that is quick was taken, oldest first.
  std::list<base::SteadyTime> quick_;
  // The held items that have not been held for as long as kSlowItem, by the time of taking.
  std::set<std::pair<base::SteadyTime, QueueItem*>> young_;
  int slow_held_ = 0;        // How many items of slow lanes are held.
  UrgentItems slow_fronts_;  // The first parked item of each slow lane of which none is held.
  // Slow lanes without items, by the time since which they have none.
  std::set<std::pair<base::SteadyTime, Lane*>> idle_;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_QUEUE_LANES_H_
