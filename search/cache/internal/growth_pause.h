// When caches that have not fitted into the memory are tried again. Private to search/cache/.
#ifndef SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_
#define SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_

#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "search/cache/internal/member_cache.h"

namespace search {

// A kind that does not fit is read up to the limit each time, with hundreds of requests to its
// member; so the pause doubles from ten seconds to an hour. Once something has not fitted, what is
// not cached is read one after the other, lest all of it comes to the limit together. Not
// thread-safe.
class GrowthPause {
 public:
  // Returns whether this cache may begin now: OK, or why not.
  absl::Status Check(const internal::MemberCachePtr& cache, base::SteadyTime now) {
    if (why_.ok()) return absl::OkStatus();
    const internal::MemberCachePtr before = begun_.lock();
    const bool is_read = before != nullptr && before != cache && before->IsBeingRead() &&
                         now - begun_at_ < kPatience;
    if (now < until_ || is_read) return why_;
    begun_ = cache;
    begun_at_ = now;
    return absl::OkStatus();
  }
  // A cache was refused.
  void Note(const absl::Status& why) { why_ = why; }
  // First lists were broken off.
  void Begin(const absl::Status& why, base::SteadyTime now) {
    why_ = why;
    until_ = now + next_;
    next_ = std::min(2 * next_, absl::Hours(1));
  }
  // Something else is to be cached: it may fit.
  void Reset() { *this = GrowthPause(); }

 private:
  // How long a first list is waited for.
  static constexpr absl::Duration kPatience = absl::Minutes(5);

  absl::Status why_;  // OK while everything has fitted.
  base::SteadyTime until_ = base::SteadyTime::InfinitePast();
  absl::Duration next_ = absl::Seconds(10);
  std::weak_ptr<internal::MemberCache> begun_;  // The last one that was let begin.
  base::SteadyTime begun_at_;
};

}  // namespace search

#endif  // SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_
