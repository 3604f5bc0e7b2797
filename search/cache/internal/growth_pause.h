// When caches that have not fitted into the memory are tried again. Private to search/cache/.
#ifndef SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_
#define SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_

#include <algorithm>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace search {

// A kind that does not fit is read up to the limit each time, with hundreds of requests to its
// member; so the pause doubles from ten seconds to an hour. Not thread-safe.
class GrowthPause {
 public:
  // OK, or why nothing is begun now.
  absl::Status Check(base::SteadyTime now) const { return now < until_ ? why_ : absl::OkStatus(); }
  // First lists were broken off.
  void Begin(const absl::Status& why, base::SteadyTime now) {
    why_ = why;
    until_ = now + next_;
    next_ = std::min(2 * next_, absl::Hours(1));
  }
  // Something else is to be cached: it may fit.
  void Reset() { *this = GrowthPause(); }

 private:
  absl::Status why_;
  base::SteadyTime until_ = base::SteadyTime::InfinitePast();
  absl::Duration next_ = absl::Seconds(10);
};

}  // namespace search

#endif  // SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_
