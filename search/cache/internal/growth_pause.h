// In which order caches are begun when something has not fitted into the memory. Private to
// search/cache/.
#ifndef SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_
#define SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "search/cache/internal/member_cache.h"

namespace search {

// Once something has not fitted, what is not cached is read one after the other, lest all of it
// comes to the limit together; and what was broken off has a pause of its own. Not thread-safe.
class GrowthPause {
 public:
  // Returns whether this cache may begin now: OK, or why not.
  absl::Status Check(const internal::MemberCachePtr& cache, base::SteadyTime now) {
    if (!IsActive()) return absl::OkStatus();
    if (now < cache->paused_until()) return Because("it had no room, and is tried again later");
    const internal::MemberCachePtr before = begun_.lock();
    if (before != nullptr && before != cache && before->IsBeingRead() &&
        now - begun_at_ < kPatience) {
      return Because("it waits for what is being read");
    }
    begun_ = cache;
    begun_at_ = now;
    return absl::OkStatus();
  }
  // A cache was refused, or broken off.
  void Note(const absl::Status& why) { why_ = why; }
  // Something else is to be cached: it may fit.
  void Reset() { *this = GrowthPause(); }
  // Returns whether something has not fitted.
  bool IsActive() const { return !why_.ok(); }

 private:
  // How long a first list is waited for.
  static constexpr absl::Duration kPatience = absl::Minutes(5);

  absl::Status Because(absl::string_view what) const {
    return {why_.code(), absl::StrCat(what, "; memory was short before: ", why_.message())};
  }

  absl::Status why_;                            // OK while everything has fitted.
  std::weak_ptr<internal::MemberCache> begun_;  // The last one that was let begin.
  base::SteadyTime begun_at_;
};

}  // namespace search

#endif  // SEARCH_CACHE_INTERNAL_GROWTH_PAUSE_H_
