// Delivers changes to subscribers, in the order of the writes, one at a time per hub and holding
// none of the server's locks. It has no thread of its own: the thread that has queued something
// delivers, unless another thread is already doing so.
#ifndef SANDBOX_STORAGE_EVENT_HUB_H_
#define SANDBOX_STORAGE_EVENT_HUB_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// One change in the store. Immutable except for the encodings, which are made once and shared.
struct Change {
  Event::Type type = Event::Type::kAdded;
  GroupName table;
  int64_t version = 0;  // resourceVersion of the change.
  kube::ObjectPtr object;
  kube::ObjectPtr previous;
};
using ChangePtr = std::shared_ptr<const Change>;

class EventHub {
 public:
  // A subscriber gets `initial` first, then every later change of its table, and nothing after it
  // is removed. An empty `table.name` stands for every table. A null ChangePtr is a bookmark at
  // `version`.
  using Sink = std::function<void(const ChangePtr& change, int64_t version)>;

  // Callers hold the store's lock during the Queue* calls, which determines the order, and call
  // Deliver() after releasing it.
  int64_t QueueSubscriber(GroupName table, std::vector<ChangePtr> initial, int64_t version,
                          Sink sink);
  void QueueChange(ChangePtr change);
  // Queues a bookmark for one subscriber (for all when `id` is 0).
  void QueueBookmark(int64_t id, int64_t version);

  // Delivers everything that is queued, unless another thread does.
  void Deliver();

  // When this returns, the sink is not running and will not run again (except when called in that
  // very sink). REQUIRES: the caller holds no lock that the sink takes.
  void Remove(int64_t id);
  // As Remove, but without waiting: a call of the sink may still be under way.
  void RemoveSoon(int64_t id);

 private:
  struct Subscriber {
    int64_t id = 0;
    GroupName table;
    Sink sink;
    absl::Mutex mu;
    bool removed ABSL_GUARDED_BY(mu) = false;
    bool running ABSL_GUARDED_BY(mu) = false;
    std::thread::id runner ABSL_GUARDED_BY(mu);
  };
  using SubscriberPtr = std::shared_ptr<Subscriber>;
  struct Item {
    SubscriberPtr joining;  // Set, with `initial`, when a subscriber starts.
    std::vector<ChangePtr> initial;
    ChangePtr change;  // Null for a bookmark.
    int64_t only = 0;  // The subscriber that a bookmark is for.
    int64_t version = 0;
  };

  SubscriberPtr Take(int64_t id);
  bool Next(Item& item, std::vector<SubscriberPtr>& to);
  std::vector<SubscriberPtr> Receivers(const Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void Call(Subscriber& to, const ChangePtr& change, int64_t version);

  absl::Mutex mu_;
  std::deque<Item> queue_ ABSL_GUARDED_BY(mu_);
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;
  int64_t last_id_ ABSL_GUARDED_BY(mu_) = 0;
  // By table ("" for all tables), in the order of subscription, so that the receivers of an event
  // are found fast.
  std::map<GroupName, std::map<int64_t, SubscriberPtr>> by_table_ ABSL_GUARDED_BY(mu_);
  std::unordered_map<int64_t, SubscriberPtr> by_id_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_STORAGE_EVENT_HUB_H_
