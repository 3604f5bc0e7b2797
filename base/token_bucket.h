// A rate with a burst: a bucket that holds up to `burst` tokens and gains `qps` a second, as
// client-go's flow control has it.
//
//   if (!bucket.TryTake(now)) return;                // Leave out what exceeds the rate.
//   const absl::Duration wait = bucket.Reserve(now); // Or run into debt, and wait so long.
#ifndef BASE_TOKEN_BUCKET_H_
#define BASE_TOKEN_BUCKET_H_

#include "absl/time/time.h"
#include "base/clock.h"

namespace base {

// Begins full. The caller passes the time, which does not run backwards. Not thread-safe.
class TokenBucket {
 public:
  // With 0 for `qps` there are no tokens after the burst. A burst below 1 counts as 1.
  TokenBucket(double qps, double burst)
      : qps_(qps), burst_(burst < 1 ? 1 : burst), tokens_(burst_) {}

  // Returns how long it takes until there is a token; zero if there is one. Takes none.
  absl::Duration WaitFor(SteadyTime now) const;
  // Takes a token, even one that does not exist yet. Returns what WaitFor would have returned.
  absl::Duration Reserve(SteadyTime now);
  // Takes a token if there is one, and returns whether it did.
  bool TryTake(SteadyTime now);

 private:
  double TokensAt(SteadyTime now) const;

  double qps_;
  double burst_;
  double tokens_;  // At filled_at_; negative while tokens are promised that do not exist yet.
  SteadyTime filled_at_ = SteadyTime::InfinitePast();
};

}  // namespace base

#endif  // BASE_TOKEN_BUCKET_H_
