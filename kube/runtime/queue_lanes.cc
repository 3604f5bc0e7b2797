// How it works. A lane is slow if its last item was, or if one that is held has become so. An item
// becomes so with time alone: `young_` has the held items for which that is still to come, and each
// call begins by taking out those whose time has come. So each lane knows whether it is slow, and
// three sums over all lanes are kept true to every change of a lane (Change): how many items of
// slow lanes are held, which of their parked items is the next, and which lanes are idle.
//
// A lane is known while it has items, and a slow one for some time beyond that. There may be a lane
// for each object, and objects go.

#include "kube/runtime/internal/queue_lanes.h"

#include <algorithm>

namespace kube::internal {

// REQUIRES: AddToSums follows before anything else is asked.
void Lanes::RemoveFromSums(Lane& lane) {
  if (lane.IsSlow()) slow_held_ -= lane.held;
  if (lane.is_front) slow_fronts_.erase(*lane.parked.begin());
  lane.is_front = false;
  if (lane.is_idle) idle_.erase({lane.idle_since, &lane});
  lane.is_idle = false;
}

void Lanes::AddToSums(Lane& lane) {
  if (!lane.IsSlow()) return;
  slow_held_ += lane.held;
  if (lane.held > 0 || lane.parked.empty()) return;
  slow_fronts_.insert(*lane.parked.begin());
  lane.is_front = true;
}

template <class ChangeFn>
void Lanes::Change(Lane& lane, ChangeFn change) {
  RemoveFromSums(lane);
  change();
  AddToSums(lane);
}

void Lanes::Pass(base::SteadyTime now) {
  while (!quick_.empty() && now - quick_.front() >= kSlowItem) quick_.pop_front();
  while (!young_.empty() && now - young_.begin()->first >= kSlowItem) {
    QueueEntry& entry = young_.begin()->second->second;
    young_.erase(young_.begin());
    Change(*entry.lane, [&] {
      entry.old = true;
      ++entry.lane->old_held;
    });
  }
  while (!idle_.empty() && now - idle_.begin()->first >= kRemembered) {
    Lane& lane = *idle_.begin()->second;
    idle_.erase(idle_.begin());
    lanes_.erase(std::string(*lane.name));
  }
}

Lane& Lanes::LaneOf(QueueItem& item) {
  const auto [entry, is_new] = lanes_.try_emplace(options_.of(item.first));
  if (is_new) entry->second.name = &entry->first;
  return entry->second;
}

bool Lanes::HasPlace(const Lane& lane) const {
  if (!lane.IsSlow()) return lane.held < options_.max_held;
  return lane.held == 0 && slow_held_ < options_.max_held_slow;
}

bool Lanes::Enter(QueueItem& item, base::SteadyTime now) {
  if (!options_.of) return true;
  Pass(now);
  QueueEntry& entry = item.second;
  Lane& lane = LaneOf(item);
  entry.lane = &lane;
  const bool has_place = HasPlace(lane);
  Change(lane, [&] {
    if (has_place) {
      ++lane.held;
    } else {
      lane.parked.insert(&item);
    }
  });
  if (!has_place) {
    ++parked_;
    return false;
  }
  entry.old = false;
  entry.lane_entered = now;
  young_.insert({now, &item});
  entry.quick = !lane.IsSlow();
  if (entry.quick) quick_.push_back(now);
  return true;
}

QueueItem* Lanes::Unpark(Lane& lane) {
  QueueItem* const item = *lane.parked.begin();
  Change(lane, [&] { lane.parked.erase(lane.parked.begin()); });
  --parked_;
  item->second.lane = nullptr;
  return item;
}

std::vector<QueueItem*> Lanes::Leave(QueueItem& item, base::SteadyTime now) {
  std::vector<QueueItem*> ready;
  if (!options_.of) return ready;
  Pass(now);
  QueueEntry& entry = item.second;
  Lane& lane = *entry.lane;
  entry.lane = nullptr;
  if (entry.quick) {  // The item may have stopped being quick meanwhile.
    const auto found = std::find(quick_.begin(), quick_.end(), entry.lane_entered);
    if (found != quick_.end()) quick_.erase(found);
  }
  if (!entry.old) young_.erase({entry.lane_entered, &item});
  const bool was_slow = lane.IsSlow();
  const int slow_held = slow_held_;
  Change(lane, [&] {
    --lane.held;
    if (entry.old) --lane.old_held;
    lane.was_slow = entry.old;
  });
  const bool is_slow = lane.IsSlow();
  for (int i = lane.held; !is_slow && i < options_.max_held && !lane.parked.empty(); ++i) {
    ready.push_back(Unpark(lane));
  }
  // The freed places may be ones that slow lanes share. By the order of adding, none of many slow
  // lanes waits for ever.
  int freed = was_slow || is_slow ? std::max(1, slow_held - slow_held_) : 0;
  for (; freed > 0 && !slow_fronts_.empty() && slow_held_ < options_.max_held_slow; --freed) {
    ready.push_back(Unpark(*(*slow_fronts_.begin())->second.lane));
  }
  ForgetOrRemember(lane, now);
  return ready;
}

void Lanes::ForgetOrRemember(Lane& lane, base::SteadyTime now) {
  if (lane.held > 0 || !lane.parked.empty()) return;
  if (!lane.IsSlow()) {
    lanes_.erase(std::string(*lane.name));
    return;
  }
  lane.idle_since = now;
  lane.is_idle = true;
  idle_.insert({now, &lane});
}

void Lanes::Raise(QueueItem& item, int priority) {
  Lane& lane = *item.second.lane;
  Change(lane, [&] {
    lane.parked.erase(&item);
    item.second.priority = priority;
    lane.parked.insert(&item);
  });
}

}  // namespace kube::internal
