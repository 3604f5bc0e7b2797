#include "base/token_bucket.h"

#include <catch2/catch.hpp>

namespace base {
namespace {

TEST_CASE("a bucket begins full, and is filled at its rate up to the burst") {
  TokenBucket bucket(/*qps=*/10, /*burst=*/3);
  SteadyTime now;
  for (int i = 0; i < 3; ++i) CHECK(bucket.TryTake(now));
  CHECK_FALSE(bucket.TryTake(now));
  now = now + absl::Milliseconds(101);
  CHECK(bucket.TryTake(now));
  CHECK_FALSE(bucket.TryTake(now));
  now = now + absl::Hours(1);
  for (int i = 0; i < 3; ++i) CHECK(bucket.TryTake(now));
  CHECK_FALSE(bucket.TryTake(now));
}

TEST_CASE("who reserves a token that does not exist yet is told how long it takes") {
  TokenBucket bucket(/*qps=*/2, /*burst=*/1);
  const SteadyTime now;
  CHECK(bucket.WaitFor(now) == absl::ZeroDuration());
  CHECK(bucket.Reserve(now) == absl::ZeroDuration());
  CHECK(bucket.WaitFor(now) == absl::Milliseconds(500));
  CHECK(bucket.Reserve(now) == absl::Milliseconds(500));
  CHECK(bucket.Reserve(now) == absl::Seconds(1));
  // The debt is paid before anybody else has a token.
  CHECK(bucket.WaitFor(now + absl::Seconds(1)) == absl::Milliseconds(500));
  CHECK_FALSE(bucket.TryTake(now + absl::Milliseconds(1499)));
  CHECK(bucket.TryTake(now + absl::Milliseconds(1501)));
}

TEST_CASE("a burst below one counts as one, and a clock that is read late changes nothing") {
  TokenBucket bucket(/*qps=*/1, /*burst=*/0);
  const SteadyTime now = SteadyTime() + absl::Seconds(10);
  CHECK(bucket.TryTake(now));
  CHECK_FALSE(bucket.TryTake(now - absl::Seconds(5)));
  CHECK(bucket.WaitFor(now) == absl::Seconds(1));
  TokenBucket without_rate(/*qps=*/0, /*burst=*/1);
  CHECK(without_rate.Reserve(now) == absl::ZeroDuration());
  CHECK(without_rate.WaitFor(now + absl::Hours(1)) == absl::InfiniteDuration());
}

}  // namespace
}  // namespace base
