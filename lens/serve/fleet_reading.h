// The last reading of the fleet by one viewer: made once for all who ask at the same time, and kept
// as the bytes of the answer.
#ifndef LENS_SERVE_FLEET_READING_H_
#define LENS_SERVE_FLEET_READING_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"
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

// Thread-safe.
class FleetReading {
 public:
  using Done = std::function<void(FleetAnswerPtr)>;

  // Calls `done` with an answer that is at most `max_age` old: at once, or when a reading ends.
  // Returns true when the caller has to make one, and to hand it to Finish().
  bool Want(absl::Duration max_age, base::SteadyTime now, Done done);
  // Ends the reading, and calls all who wait for it.
  void Finish(FleetAnswer answer);

  // Returns the last answer, also one that says why nothing could be read; nullptr before the
  // first.
  FleetAnswerPtr Last() const;
  // Returns whether it is time to read again, for those who follow what changes.
  bool IsDue(base::SteadyTime now) const;

 private:
  mutable absl::Mutex mu_;
  FleetAnswerPtr last_ ABSL_GUARDED_BY(mu_);
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Done> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace lens::serve

#endif  // LENS_SERVE_FLEET_READING_H_
