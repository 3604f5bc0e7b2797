// The last reading of the fleet by one viewer: made once for all who ask at the same time, and kept
// as the bytes of the answer.
#ifndef LENS_SERVE_FLEET_READING_H_
#define LENS_SERVE_FLEET_READING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/json.h"
#include "lens/fleet/fleet.h"

namespace lens::serve {

// What one reading has found. Immutable.
struct FleetAnswer {
  absl::Status status;      // Why it could not be read; the rest is empty then.
  base::SharedBytes json;   // As /api/fleet sends it.
  std::string fingerprint;  // Of what was found, whenever it was read.
  std::string headline;
  size_t not_fine = 0;
  bool is_whole = true;                  // Nothing that decides could not be read.
  absl::Time at = absl::InfinitePast();  // When it was read, for people.
  base::SteadyTime ended = base::SteadyTime::InfinitePast();  // The same, to know its age.
  absl::Duration took;
  std::map<std::string, size_t> by_cluster, by_policy;  // How many templates are not fine.
};
using FleetAnswerPtr = std::shared_ptr<const FleetAnswer>;

// Returns the answer for what was read just now; of each group as many templates as fit into the
// bounds.
FleetAnswer AnswerOf(const absl::StatusOr<fleet::Fleet>& read, absl::Duration took,
                     const base::Clock& clock);

// Returns whether it is too early to read again for those who follow what changes.
bool IsRecent(const FleetAnswer& answer, base::SteadyTime now);
// What a view shows of the last good reading beside what it reads itself.
struct NotFine {
  FleetAnswerPtr last;    // nullptr: there was none yet.
  bool is_known = false;  // Its counts may still be shown.

  // Return how many templates are not fine; null when that is not known.
  json::Value InCluster(const std::string& name) const;
  json::Value OfPolicy(const std::string& name) const;
  // Returns the time of the counts, or null.
  json::Value ReadAt() const;
};

// Thread-safe.
class FleetReading {
 public:
  using Done = std::function<void(FleetAnswerPtr)>;

  // What somebody who wants an answer gets.
  struct Place {
    bool has_to_read = false;  // The caller has to make a reading, and to hand it to Finish().
    uint64_t ticket = 0;       // For GiveUp(); 0 when `done` has been called already.
  };
  // Calls `done` with an answer that is at most `max_age` old: at once, or when a reading ends.
  // kResourceExhausted when kMostWaiting wait already.
  absl::StatusOr<Place> Want(absl::Duration max_age, base::SteadyTime now, Done done);
  // Says that nobody waits with this ticket any more. Returns false when `done` was called, or is
  // being called.
  bool GiveUp(uint64_t ticket);
  // Returns true when the caller has to make a reading, because nobody makes one.
  bool Begin();
  // Ends the reading, and calls all who wait for it.
  void Finish(FleetAnswer answer);

  // Returns the last answer, also one that says why nothing could be read; nullptr before the
  // first.
  FleetAnswerPtr Last() const;
  NotFine CountsAt(base::SteadyTime now) const;
  // Returns whether it is time to read again, for those who follow what changes.
  bool IsDue(base::SteadyTime now) const;

 private:
  mutable absl::Mutex mu_;
  FleetAnswerPtr last_ ABSL_GUARDED_BY(mu_), last_good_ ABSL_GUARDED_BY(mu_);
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t last_ticket_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, Done> waiting_ ABSL_GUARDED_BY(mu_);  // By ticket.
};

}  // namespace lens::serve

#endif  // LENS_SERVE_FLEET_READING_H_
