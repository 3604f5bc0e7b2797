// How it works. Writers queue items while they hold the store's lock, which gives the items their
// order, and call Deliver() after releasing it. One thread at a time takes item after item from the
// queue and calls the sinks; a thread that finds another one delivering leaves its items to that
// one. A new subscriber is an item as well: it does not get the changes queued before it, then gets
// the initial objects, and then the changes queued after it.
//
// A subscriber that is removed is marked under its own lock, and each call checks the mark first;
// Remove waits for a call that is under way, unless it is called in that very sink.
#include "sandbox/storage/event_hub.h"

#include <utility>

namespace sandbox {

int64_t EventHub::QueueSubscriber(GroupName table, std::vector<ChangePtr> initial, int64_t version,
                                  Sink sink) {
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->table = std::move(table);
  subscriber->sink = std::move(sink);
  absl::MutexLock lock(&mu_);
  subscriber->id = ++last_id_;
  by_id_[subscriber->id] = subscriber;
  Item item;
  item.joining = subscriber;
  item.initial = std::move(initial);
  item.version = version;
  queue_.push_back(std::move(item));
  return subscriber->id;
}

void EventHub::QueueChange(ChangePtr change) {
  absl::MutexLock lock(&mu_);
  Item item;
  item.version = change->version;
  item.change = std::move(change);
  queue_.push_back(std::move(item));
}

void EventHub::QueueBookmark(int64_t id, int64_t version) {
  absl::MutexLock lock(&mu_);
  Item item;
  item.only = id;
  item.version = version;
  queue_.push_back(std::move(item));
}

std::vector<EventHub::SubscriberPtr> EventHub::Receivers(const Item& item) {
  std::vector<SubscriberPtr> out;
  if (item.joining != nullptr) {
    // It may have been removed before its turn came.
    if (by_id_.count(item.joining->id) == 0) return out;
    by_table_[item.joining->table][item.joining->id] = item.joining;
    out.push_back(item.joining);
    return out;
  }
  const auto add_all = [&](const GroupName& table) {
    const auto it = by_table_.find(table);
    if (it == by_table_.end()) return;
    for (const auto& [id, subscriber] : it->second) out.push_back(subscriber);
  };
  if (item.change != nullptr) {
    add_all(item.change->table);
    add_all(GroupName{});
    return out;
  }
  if (item.only != 0) {
    const auto it = by_id_.find(item.only);
    if (it != by_id_.end()) out.push_back(it->second);
    return out;
  }
  for (const auto& [table, subscribers] : by_table_) add_all(table);
  return out;
}

bool EventHub::Next(Item& item, std::vector<SubscriberPtr>& to) {
  absl::MutexLock lock(&mu_);
  if (queue_.empty()) {
    delivering_ = false;
    return false;
  }
  item = std::move(queue_.front());
  queue_.pop_front();
  to = Receivers(item);
  return true;
}

void EventHub::Deliver() {
  {
    absl::MutexLock lock(&mu_);
    // Another thread delivers, and takes what was queued here too; so the order of the queue is
    // that of the calls. It looks at the queue under mu_, so nothing is left behind.
    if (delivering_) return;
    delivering_ = true;
  }
  Item item;
  std::vector<SubscriberPtr> to;
  while (Next(item, to)) {
    for (const SubscriberPtr& subscriber : to) {
      if (item.joining == nullptr) {
        Call(*subscriber, item.change, item.version);
        continue;
      }
      for (const ChangePtr& change : item.initial) Call(*subscriber, change, change->version);
      // The end of the beginning: the subscriber has everything up to this version.
      Call(*subscriber, nullptr, item.version);
    }
  }
}

void EventHub::Call(Subscriber& to, const ChangePtr& change, int64_t version) {
  {
    absl::MutexLock lock(&to.mu);
    if (to.removed) return;
    to.running = true;
    to.runner = std::this_thread::get_id();
  }
  to.sink(change, version);
  absl::MutexLock lock(&to.mu);
  to.running = false;
}

EventHub::SubscriberPtr EventHub::Take(int64_t id) {
  SubscriberPtr subscriber;
  {
    absl::MutexLock lock(&mu_);
    const auto it = by_id_.find(id);
    if (it == by_id_.end()) return nullptr;
    subscriber = it->second;
    by_id_.erase(it);
    const auto table = by_table_.find(subscriber->table);
    if (table != by_table_.end()) {
      table->second.erase(id);
      if (table->second.empty()) by_table_.erase(table);
    }
  }
  absl::MutexLock lock(&subscriber->mu);
  subscriber->removed = true;
  return subscriber;
}

void EventHub::Remove(int64_t id) {
  const SubscriberPtr subscriber = Take(id);
  if (subscriber == nullptr) return;
  absl::MutexLock lock(&subscriber->mu);
  // A sink that removes itself would wait for its own end.
  if (subscriber->running && subscriber->runner == std::this_thread::get_id()) return;
  const auto idle = [&subscriber]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !subscriber->running; };
  subscriber->mu.Await(absl::Condition(&idle));
}

void EventHub::RemoveSoon(int64_t id) { Take(id); }

}  // namespace sandbox
