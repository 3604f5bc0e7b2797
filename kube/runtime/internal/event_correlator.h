// Decides what becomes of an event: dropped, written anew, or counted on one written before. The
// rules are those of client-go's EventCorrelator, and one of our own: no repetition without a
// change.
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

// What a loop had to say, and when.
struct EventNote {
  std::string source;
  ObjectReference about;
  EventType type = EventType::kNormal;
  std::string reason;
  std::string message;
  absl::Time time;      // What is written into the Event.
  base::SteadyTime at;  // What intervals are measured by.
};

// Not thread-safe.
class EventCorrelator {
 public:
  // How to write an event: the patch, when there is one, on the Event that is there already; else
  // (or when that Event has expired) the whole object by a create.
  struct Decision {
    Object event;
    json::Value patch;  // Null: create.
    std::string key;    // For Written.
  };
  EventCorrelator();
  // nullopt: drop it.
  std::optional<Decision> Correlate(const EventNote& note);
  // What is said of `decision.event` was written.
  void Written(const Decision& decision);

 private:
  // The last event of one source about one object for one reason.
  struct LastSaid {
    std::string type, message, resource_version;
    base::SteadyTime at = base::SteadyTime::InfinitePast();
  };
  struct SpamBucket {
    TokenBucket tokens;
    SpamBucket();
  };
  // The different messages seen of otherwise similar events.
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
  // The message to write, and in `key` what makes events equal.
  std::string Aggregate(const EventNote& note, std::string& key);
  Object NewEvent(const EventNote& note, const std::string& message);
  std::string NewName(const EventNote& note);

  LruCache<LastSaid> said_;
  LruCache<SpamBucket> buckets_;
  LruCache<Similar> similar_;
  LruCache<Observed> observed_;
  int64_t last_nanos_ = 0;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_EVENT_CORRELATOR_H_
