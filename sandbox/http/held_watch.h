// The part of a watch that holds back what a lag or a gate does not let through yet, and tells the
// interference what is held and what is sent.
#ifndef SANDBOX_HTTP_HELD_WATCH_H_
#define SANDBOX_HTTP_HELD_WATCH_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/http/interference.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// What a watch has to send: an event, or a bookmark without an object.
struct WatchLine {
  Event::Type type = Event::Type::kBookmark;
  kube::ObjectPtr object;
  int64_t version = 0;
  bool ends_initial_events = false;
};

// "ADDED" and so on.
absl::string_view TypeText(Event::Type type);

// Thread-safe. Lines are sent in the order in which they came, one at a time and holding no lock,
// on the thread that brings them or on the one that lets them through.
class HeldWatch : public std::enable_shared_from_this<HeldWatch> {
 public:
  struct Parts {
    std::shared_ptr<Interference> interference;
    RequestPtr request;               // The request that opened the watch.
    std::shared_ptr<Lag> lag;         // May be null.
    std::shared_ptr<WatchGate> gate;  // May be null.
  };
  struct Actions {
    std::function<void(const WatchLine&)> send;
    std::function<void(const WatchLine&)> send_half;  // Cuts the connection within the line.
    std::function<void()> expire;  // Sends the event 410 Expired and ends the watch.
    std::function<void()> cut;     // Cuts the connection.
  };
  // The actions must not keep the session alive, which has this object.
  HeldWatch(Parts parts, Actions actions);

  // Has the lag and the gate know this watch. Call it before the first line.
  void Attach();
  // REQUIRES: one call at a time.
  void Push(WatchLine line);
  // Sends what lag and gate let through.
  void Pump();

  // The version of the first event that only the gate holds.
  std::optional<int64_t> NextVersion() const;
  // Sends this event although the gate is closed. Returns false when there is none.
  bool PassOne();
  std::vector<Delivery> Held() const;
  // End the watch, after what is being sent at the moment, and drop what is held.
  void Expire();
  void Cut();

  // Drops everything; nothing is sent any more but what is being sent.
  void Stop();
  bool ended() const;
  // Waits until nothing is being sent, unless it is on this thread.
  void AwaitQuiet();

 private:
  enum class Ending { kNone, kExpire, kCut, kStopped };

  void End(Ending ending);
  const WatchLine* NextEvent() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool LagLets(const WatchLine& line) const;
  bool Lets(const WatchLine& line) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<WatchLine> TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsHeld(const WatchLine& line) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Delivery DeliveryOf(const WatchLine& line) const;
  void Send(const WatchLine& line);
  void Finish(Ending ending);

  const Parts parts_;
  const Actions actions_;
  mutable absl::Mutex mu_;
  std::deque<WatchLine> lines_ ABSL_GUARDED_BY(mu_);
  // The number of events that the gate lets through although it is closed.
  int passes_ ABSL_GUARDED_BY(mu_) = 0;
  // True while the interference is told about the last line, which is not sent before.
  bool announcing_ ABSL_GUARDED_BY(mu_) = false;
  Ending ending_ ABSL_GUARDED_BY(mu_) = Ending::kNone;
  std::thread::id pumper_ ABSL_GUARDED_BY(mu_);  // The thread that sends at the moment.
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_HELD_WATCH_H_
