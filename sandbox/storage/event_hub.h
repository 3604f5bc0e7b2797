// Delivers changes to subscribers, in the order of the writes, one at a time per hub and holding
// none of the server's locks (base/ordered_delivery.h).
#ifndef SANDBOX_STORAGE_EVENT_HUB_H_
#define SANDBOX_STORAGE_EVENT_HUB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/ordered_delivery.h"
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
  // Queues a change for the subscribers of its table, or for one alone that began before it.
  void QueueChange(ChangePtr change, int64_t to = 0);
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
    GroupName table;
    Sink sink;
  };
  struct Item {
    int64_t to = 0;       // The subscriber that starts, or that alone gets the item; or 0.
    bool starts = false;  // With `initial`.
    std::vector<ChangePtr> initial;
    ChangePtr change;  // Null for a bookmark.
    int64_t version = 0;
  };
  using Delivery = base::OrderedDelivery<Item, Subscriber>;

  void Handle(const Item& item);
  void Start(const Item& item);
  void Call(int64_t id, const ChangePtr& change, int64_t version);
  std::vector<int64_t> ReceiversOf(const GroupName& table);
  void EraseFromTable(int64_t id, const Delivery::ReceiverPtr& removed);

  Delivery delivery_;
  absl::Mutex mu_;
  // By table ("" for all tables), those that have started, so that the receivers of a change are
  // found fast.
  std::map<GroupName, std::set<int64_t>> by_table_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_STORAGE_EVENT_HUB_H_
