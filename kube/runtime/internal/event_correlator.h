// Decides how an event is written: not at all, as a new Event, or counted on an earlier one. The
// rules are those of client-go's EventCorrelator, and one more: an event is not repeated while
// nothing has changed.
#ifndef KUBE_RUNTIME_INTERNAL_EVENT_CORRELATOR_H_
#define KUBE_RUNTIME_INTERNAL_EVENT_CORRELATOR_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/runtime/events.h"
#include "kube/runtime/internal/lru_cache.h"
#include "kube/runtime/internal/rate_limiter.h"

namespace kube::internal {

// What a loop records, and when.
struct EventNote {
  std::string source;
  InvolvedObject about;
  EventType type = EventType::kNormal;
  std::string reason;
  std::string message;
  absl::Time time;        // Written into the Event.
  base::SteadyTime at;    // For intervals.
  bool standing = false;  // EventSink::RecordStanding.
};

// Not thread-safe.
class EventCorrelator {
 public:
  // How to write an event: if there is a patch, it is applied to the existing Event; without one,
  // or when that Event has expired, the whole object is created.
  struct Decision {
    Object event;
    json::Value patch;  // Null when the Event is to be created.
    std::string key;    // For the call of Written.
    base::SteadyTime at;
  };
  // With `every_success`, a Normal event about an object without a version is never a repetition:
  // who records it knows that something has changed.
  explicit EventCorrelator(bool every_success = false);
  // Returns nullopt when the event is to be dropped.
  std::optional<Decision> Correlate(const EventNote& note);
  // Records that the event of the decision was written.
  void Written(const Decision& decision);
  // Drops what has no effect on later events any more. Correlate does so, too.
  void Forget(base::SteadyTime now);
  // Returns how many entries there are, in all tables.
  size_t size() const;

 private:
  // The last event of one source about one object for one reason.
  struct LastSaid {
    std::string words;  // A digest of the type, the message and the object's version.
    base::SteadyTime at = base::SteadyTime::InfinitePast();
  };
  struct SpamBucket {
    base::TokenBucket tokens;
    SpamBucket();
  };
  // Digests of the different messages of otherwise similar events.
  struct Similar {
    absl::flat_hash_set<std::string> messages;
    base::SteadyTime last = base::SteadyTime::InfinitePast();
  };
  struct Observed {
    std::string name;
    std::string first_time;
    int64_t count = 0;
  };

  bool IsRepetition(const EventNote& note);
  bool IsSpam(const EventNote& note);
  // Returns the message to write, and sets `key`: events with the same key are equal.
  std::string Aggregate(const EventNote& note, std::string& key);
  Object NewEvent(const EventNote& note, const std::string& message);
  std::string NewSuffix(const EventNote& note);
  std::string NewName(const EventNote& note);

  const bool every_success_;
  LruCache<LastSaid> said_;
  LruCache<SpamBucket> buckets_;
  LruCache<Similar> similar_;
  LruCache<Observed> observed_;
  int64_t last_nanos_ = 0;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_EVENT_CORRELATOR_H_
