// Decides when watches deliver what they have: at once, later, one by one, or not at all, so that
// their clients have to list again.
#ifndef SANDBOX_HTTP_WATCH_GATE_H_
#define SANDBOX_HTTP_WATCH_GATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"

namespace sandbox {

class HeldWatch;
struct RequestFacts;

// One event or bookmark of a watch.
struct Delivery {
  std::shared_ptr<const RequestFacts> watch;  // The request that opened it.
  std::string type;                           // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR.
  kube::ObjectPtr object;                     // As stored; null for BOOKMARK and ERROR.
  // Of the change; of initial objects their own; of an ERROR 0.
  int64_t version = 0;
  // Whether it is the bookmark that ends the initial events.
  bool ends_initial_events = false;
};

// A test returns it from OnRequest for the watches that it is to decide about: for those of a kind
// one gate, so that the order between kinds is the order in which gates are released. Each watch
// delivers its own events in order, whatever happens. Thread-safe.
//
// What deliveries are released by happens on the calling thread. REQUIRES for Open, Release, Expire
// and Cut: the caller holds no lock that a function of Interference takes.
class WatchGate {
 public:
  WatchGate() = default;
  WatchGate(const WatchGate&) = delete;

  // From now on the watches hold back what they have to deliver, those that begin later too.
  void Hold();
  // Delivers what is held, watch by watch, and everything later at once.
  void Open();
  // Delivers the next `count` events of those that are held and that no lag holds, oldest versions
  // first whichever watch they belong to, each with the bookmarks before it. Returns how many there
  // were. The gate stays as it is.
  int Release(int count);
  // Returns what is held, watch by watch; what a lag holds included.
  std::vector<Delivery> Held() const;

  // Ends the watches with the event 410 Expired, so that their clients list again and see
  // everything that was held, merged. This is the only way in which an API server merges events.
  // What is held is dropped. The gate stays as it is: Open it, unless the next watches are to be
  // held as well.
  void Expire();
  // Cuts the connections of the watches. What is held is dropped; clients that go on from the last
  // version that they have seen get it again, event by event.
  void Cut();
  // Cuts the connection of the next watch that delivers an event in the midst of that event: what
  // the client gets ends somewhere within it.
  void CutWithinNext() { cut_within_next_ = true; }
  // The number of watches that go through this gate at present.
  int watches() const;

  // For the server.
  void Attach(std::weak_ptr<HeldWatch> watch);
  bool open() const { return open_; }
  bool TakeCutWithin() { return cut_within_next_.exchange(false); }

 private:
  std::vector<std::shared_ptr<HeldWatch>> Watches() const;

  mutable absl::Mutex mu_;
  // Read by watches that hold their own locks, which are taken under mu_ here.
  std::atomic<bool> open_ = true;
  std::atomic<bool> cut_within_next_ = false;
  std::vector<std::weak_ptr<HeldWatch>> watches_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_WATCH_GATE_H_
