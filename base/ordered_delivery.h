// Delivers items to receivers in the order in which they were queued, one call at a time, and has
// no thread of its own: the thread that has queued something delivers, unless another thread is
// already doing so, which then gets to the new items as well.
//
// No lock is held during a call, so that receivers may use whatever has queued the items. The price
// is that the thread that delivers goes on until the queue is empty, and that nobody relieves it.
//
//   {
//     absl::MutexLock lock(&mu_);  // Gives the changes their order.
//     values_[name] = value;
//     delivery_.Queue({name, value});
//   }
//   delivery_.Deliver([this](const Change& change) {
//     delivery_.CallAll([&](const Sink& sink) { sink(change); });
//   });
//
// Those that unsubscribe while a delivery is under way: when Remove has returned, the receiver is
// not being called and will not be called again. For this it waits for a call that is under way. A
// call that removes its own receiver, or any other, on the thread that delivers does not wait: it
// would wait for itself, and no other receiver is being called. So a caller must hold no lock that
// the receiver takes.
#ifndef BASE_ORDERED_DELIVERY_H_
#define BASE_ORDERED_DELIVERY_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace base {

// Thread-safe. It calls nothing of others with its lock held, and destroys neither items nor
// receivers then, so its functions may be called with any lock held but where it is said otherwise.
template <class Item, class Receiver>
class OrderedDelivery {
 public:
  using ReceiverPtr = std::shared_ptr<const Receiver>;

  OrderedDelivery() = default;
  OrderedDelivery(const OrderedDelivery&) = delete;

  // Adds an item to the end of the queue; after Stop it is dropped. Items of several threads have
  // the order that a lock gives them which is held meanwhile. Call Deliver without that lock.
  void Queue(Item item) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (!stopped_) items_.push_back(std::move(item));
  }

  // Calls `handle` with each item until the queue is empty, unless a thread is doing so already; it
  // may be this one, which has come here by a call. REQUIRES: no lock is held that a call takes.
  template <class Handle>
  void Deliver(const Handle& handle) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (deliverer_ != std::thread::id()) return;
    deliverer_ = std::this_thread::get_id();
    while (!items_.empty()) {
      {
        const Item item = std::move(items_.front());
        items_.pop_front();
        mu_.Unlock();
        handle(item);
        // Destroyed without the lock: the last reference may free much, or call this object.
      }
      mu_.Lock();
    }
    deliverer_ = std::thread::id();
  }
  // Returns whether this thread is within a call of Deliver that delivers.
  bool DeliversHere() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return deliverer_ == std::this_thread::get_id();
  }

  // Adds a receiver and returns its id, which is greater than all before. Call reaches it at once,
  // CallAll from Join on. After Stop it is dropped.
  int64_t Add(Receiver receiver) ABSL_LOCKS_EXCLUDED(mu_) {
    auto added = std::make_shared<const Receiver>(std::move(receiver));
    absl::MutexLock lock(&mu_);
    const int64_t id = ++last_id_;
    if (!stopped_) receivers_[id].receiver = std::move(added);
    return id;
  }
  // Gives the receiver its place in the order: it is one of all for the items that follow. Returns
  // false if it was removed. REQUIRES: called within `handle`.
  bool Join(int64_t id) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto found = receivers_.find(id);
    if (found == receivers_.end()) return false;
    found->second.has_joined = true;
    return true;
  }
  // Returns the ids of those that have joined and that are `wanted`, which is called with the lock
  // held, in the order of Add.
  template <class Wanted>
  std::vector<int64_t> Joined(const Wanted& wanted) const ABSL_LOCKS_EXCLUDED(mu_) {
    std::vector<int64_t> ids;
    absl::MutexLock lock(&mu_);
    for (const auto& [id, entry] : receivers_) {
      if (entry.has_joined && wanted(*entry.receiver)) ids.push_back(id);
    }
    return ids;
  }

  // Calls `call` with the receiver, or with each that has joined in the order of Add. One that was
  // removed is not called (Call returns false), nor is any after Stop. REQUIRES: called within
  // `handle`.
  template <class Fn>
  bool Call(int64_t id, const Fn& call) ABSL_LOCKS_EXCLUDED(mu_) {
    ReceiverPtr receiver = Begin(id);
    if (receiver == nullptr) return false;
    call(*receiver);
    Finish(std::move(receiver));
    return true;
  }
  template <class Fn>
  void CallAll(const Fn& call) ABSL_LOCKS_EXCLUDED(mu_) {
    int64_t id = 0;
    while (ReceiverPtr receiver = BeginNext(id)) {
      call(*receiver);
      Finish(std::move(receiver));
    }
  }

  // Removes the receiver, waits for a call that is under way as described above, and returns it;
  // nullptr if it was not there.
  ReceiverPtr Remove(int64_t id) ABSL_LOCKS_EXCLUDED(mu_) {
    ReceiverPtr removed = RemoveSoon(id);
    absl::MutexLock lock(&mu_);
    const auto has_returned = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return called_ != id; };
    if (deliverer_ != std::this_thread::get_id()) mu_.Await(absl::Condition(&has_returned));
    return removed;
  }
  // As Remove, but without waiting: a call may still be under way.
  ReceiverPtr RemoveSoon(int64_t id) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto found = receivers_.find(id);
    if (found == receivers_.end()) return nullptr;
    ReceiverPtr removed = std::move(found->second.receiver);
    receivers_.erase(found);
    return removed;
  }

  // Drops what is queued, lets no further call begin, and waits for the delivery that is under way
  // to end, unless it is on this thread. REQUIRES: no lock is held that a call takes.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_) {
    std::deque<Item> dropped;  // Destroyed after the lock is released.
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    dropped.swap(items_);
    const auto is_idle = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return deliverer_ == std::thread::id();
    };
    if (deliverer_ != std::this_thread::get_id()) mu_.Await(absl::Condition(&is_idle));
  }

 private:
  struct Entry {
    ReceiverPtr receiver;
    bool has_joined = false;
  };

  ReceiverPtr Begin(int64_t id) {
    absl::MutexLock lock(&mu_);
    const auto found = receivers_.find(id);
    if (stopped_ || found == receivers_.end()) return nullptr;
    called_ = id;
    return found->second.receiver;
  }
  // Begins a call of the first that has joined after `id`, which becomes its id.
  ReceiverPtr BeginNext(int64_t& id) {
    absl::MutexLock lock(&mu_);
    auto next = receivers_.upper_bound(id);
    while (next != receivers_.end() && !next->second.has_joined) ++next;
    if (stopped_ || next == receivers_.end()) return nullptr;
    called_ = id = next->first;
    return next->second.receiver;
  }
  // Who has removed the receiver meanwhile is waiting, and destroys it: this gives it up before.
  void Finish(ReceiverPtr receiver) {
    receiver.reset();
    absl::MutexLock lock(&mu_);
    called_ = 0;
  }

  mutable absl::Mutex mu_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, Entry> receivers_ ABSL_GUARDED_BY(mu_);
  int64_t last_id_ ABSL_GUARDED_BY(mu_) = 0;
  std::thread::id deliverer_ ABSL_GUARDED_BY(mu_);  // The thread that empties the queue.
  int64_t called_ ABSL_GUARDED_BY(mu_) = 0;         // The receiver that is being called, or 0.
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace base

#endif  // BASE_ORDERED_DELIVERY_H_
