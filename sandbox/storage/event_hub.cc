// How it works. Writers queue items while they hold the store's lock, which gives the items their
// order, and call Deliver() after releasing it. A new subscriber is an item as well: it does not
// get the changes queued before it, then gets the initial objects, and then the changes queued
// after it.

#include "sandbox/storage/event_hub.h"

#include <utility>

namespace sandbox {

int64_t EventHub::QueueSubscriber(GroupName table, std::vector<ChangePtr> initial, int64_t version,
                                  Sink sink) {
  const int64_t id = delivery_.Add({std::move(table), std::move(sink)});
  delivery_.Queue({.to = id, .starts = true, .initial = std::move(initial), .version = version});
  return id;
}

void EventHub::QueueChange(ChangePtr change, int64_t to) {
  const int64_t version = change->version;
  delivery_.Queue({.to = to, .change = std::move(change), .version = version});
}

void EventHub::QueueBookmark(int64_t id, int64_t version) {
  delivery_.Queue({.to = id, .version = version});
}

void EventHub::Deliver() {
  delivery_.Deliver([this](const Item& item) { Handle(item); });
}

void EventHub::Handle(const Item& item) {
  if (item.starts) return Start(item);
  if (item.to != 0) {
    Call(item.to, item.change, item.version);
  } else if (item.change != nullptr) {
    for (const int64_t id : ReceiversOf(item.change->table)) Call(id, item.change, item.version);
  } else {
    delivery_.CallAll([&](const Subscriber& to) { to.sink(nullptr, item.version); });
  }
}

void EventHub::Start(const Item& item) {
  const bool is_there = delivery_.Call(item.to, [&](const Subscriber& to) {
    absl::MutexLock lock(&mu_);
    if (delivery_.Join(item.to)) by_table_[to.table].insert(item.to);
  });
  if (!is_there) return;  // It was removed before its turn came.
  for (const ChangePtr& change : item.initial) Call(item.to, change, change->version);
  // The end of the beginning: the subscriber has everything up to this version.
  Call(item.to, nullptr, item.version);
}

void EventHub::Call(int64_t id, const ChangePtr& change, int64_t version) {
  delivery_.Call(id, [&](const Subscriber& to) { to.sink(change, version); });
}

std::vector<int64_t> EventHub::ReceiversOf(const GroupName& table) {
  std::vector<int64_t> ids;
  absl::MutexLock lock(&mu_);
  for (const GroupName& of : {table, GroupName{}}) {
    const auto found = by_table_.find(of);
    if (found != by_table_.end()) ids.insert(ids.end(), found->second.begin(), found->second.end());
  }
  return ids;
}

void EventHub::EraseFromTable(int64_t id, const Delivery::ReceiverPtr& removed) {
  if (removed == nullptr) return;
  absl::MutexLock lock(&mu_);
  const auto found = by_table_.find(removed->table);
  if (found == by_table_.end()) return;
  found->second.erase(id);
  if (found->second.empty()) by_table_.erase(found);
}

void EventHub::Remove(int64_t id) { EraseFromTable(id, delivery_.Remove(id)); }

void EventHub::RemoveSoon(int64_t id) { EraseFromTable(id, delivery_.RemoveSoon(id)); }

}  // namespace sandbox
