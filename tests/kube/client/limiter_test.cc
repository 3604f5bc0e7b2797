#include "kube/client/internal/limiter.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/support/fake_clock.h"

namespace kube {
namespace {

using Outcome = ConcurrencyLimiter::Outcome;

// Makes one call that takes `took` and has this outcome.
void Call(ConcurrencyLimiter& limiter, tests::FakeClock& clock, Outcome outcome,
          absl::Duration took = absl::Milliseconds(5)) {
  REQUIRE(limiter.Acquire(base::SteadyTime::InfiniteFuture(), {}).ok());
  const base::SteadyTime started = clock.SteadyNow();
  clock.Advance(took);
  limiter.Release(outcome, started);
}

}  // namespace

TEST_CASE("The limit grows only while it is what holds calls back") {
  tests::FakeClock clock;
  ConcurrencyLimiter limiter(clock, {.initial = 2, .max = 4});
  for (int i = 0; i < 50; ++i) Call(limiter, clock, Outcome::kGood);
  CHECK(limiter.limit() == 2);
  for (int i = 0; i < 50; ++i) {
    const int taken = limiter.limit();
    for (int n = 0; n < taken; ++n) REQUIRE(limiter.Acquire(clock.SteadyNow(), {}).ok());
    for (int n = 0; n < taken; ++n) limiter.Release(Outcome::kGood, clock.SteadyNow());
  }
  CHECK(limiter.limit() == 4);
}

TEST_CASE(
    "Overload halves the limit, once for all calls of one moment, and not below the minimum") {
  tests::FakeClock clock;
  ConcurrencyLimiter limiter(clock, {.initial = 16, .min = 3});
  const base::SteadyTime started = clock.SteadyNow();
  for (int i = 0; i < 5; ++i) REQUIRE(limiter.Acquire(clock.SteadyNow(), {}).ok());
  clock.Advance(absl::Milliseconds(1));
  for (int i = 0; i < 5; ++i) limiter.Release(Outcome::kOverloaded, started);
  CHECK(limiter.limit() == 8);
  for (int i = 0; i < 10; ++i) Call(limiter, clock, Outcome::kOverloaded, absl::Seconds(1));
  CHECK(limiter.limit() == 3);
}

TEST_CASE("A limit that has fallen rises again under a light load, to where it began") {
  tests::FakeClock clock;
  ConcurrencyLimiter limiter(clock, {.initial = 16, .min = 1});
  for (int i = 0; i < 10; ++i) Call(limiter, clock, Outcome::kOverloaded, absl::Seconds(1));
  REQUIRE(limiter.limit() == 1);
  // One call at a time: by as many good answers as the limit is high it rises by one.
  for (int i = 0; i < 20; ++i) Call(limiter, clock, Outcome::kGood);
  CHECK(limiter.limit() == 6);
  for (int i = 0; i < 1000; ++i) Call(limiter, clock, Outcome::kGood);
  CHECK(limiter.limit() == 16);
}

TEST_CASE("Answers much slower than the best seen count as overload, alike slow ones do not") {
  tests::FakeClock clock;
  ConcurrencyLimiter limiter(clock, {.initial = 10});
  Call(limiter, clock, Outcome::kGood, absl::Milliseconds(10));
  Call(limiter, clock, Outcome::kGood, absl::Seconds(5));
  CHECK(limiter.limit() == 8);

  ConcurrencyLimiter slow_server(clock, {.initial = 10});
  for (int i = 0; i < 5; ++i) Call(slow_server, clock, Outcome::kGood, absl::Seconds(3));
  CHECK(slow_server.limit() == 10);
}

TEST_CASE("Calls that broke change nothing") {
  tests::FakeClock clock;
  ConcurrencyLimiter limiter(clock, {.initial = 10});
  for (int i = 0; i < 5; ++i) Call(limiter, clock, Outcome::kNeutral, absl::Seconds(20));
  CHECK(limiter.limit() == 10);
}

TEST_CASE("A call over the limit waits for a place, its deadline or a stop") {
  tests::FakeClock clock;
  ConcurrencyLimiter limiter(clock, {.initial = 1});
  REQUIRE(limiter.Acquire(base::SteadyTime::InfiniteFuture(), {}).ok());

  absl::Status got;
  auto acquire = [&](const base::StopToken& stop) {
    return std::thread(
        [&, stop] { got = limiter.Acquire(clock.SteadyNow() + absl::Seconds(5), stop); });
  };
  SECTION("a place") {
    std::thread waiter = acquire({});
    clock.AwaitWaiters(1);
    limiter.Release(Outcome::kGood, clock.SteadyNow());
    waiter.join();
    CHECK(got.ok());
  }
  SECTION("its deadline") {
    std::thread waiter = acquire({});
    clock.AwaitWaiters(1);
    clock.Advance(absl::Seconds(6));
    waiter.join();
    CHECK(absl::IsDeadlineExceeded(got));
  }
  SECTION("a stop") {
    base::StopSource stop;
    std::thread waiter = acquire(stop.get_token());
    clock.AwaitWaiters(1);
    stop.request_stop();
    waiter.join();
    CHECK(absl::IsCancelled(got));
  }
}

TEST_CASE("The pace of requests lets a burst pass and then one call per interval") {
  tests::FakeClock clock;
  RequestPace bucket(clock, /*qps=*/10, /*burst=*/3);
  const base::SteadyTime deadline = clock.SteadyNow() + absl::Seconds(1);
  for (int i = 0; i < 3; ++i) REQUIRE(bucket.Take(deadline, {}).ok());

  absl::Status got = absl::UnknownError("not yet");
  std::thread waiter([&] { got = bucket.Take(deadline, {}); });
  clock.AwaitWaiters(1);
  clock.Advance(absl::Milliseconds(101));
  waiter.join();
  CHECK(got.ok());
}

TEST_CASE("The pace of requests refuses at once what would come too late") {
  tests::FakeClock clock;
  RequestPace bucket(clock, /*qps=*/1, /*burst=*/1);
  REQUIRE(bucket.Take(base::SteadyTime::InfiniteFuture(), {}).ok());
  CHECK(absl::IsDeadlineExceeded(bucket.Take(clock.SteadyNow() + absl::Milliseconds(500), {})));
  clock.Advance(absl::Seconds(1));
  CHECK(bucket.Take(clock.SteadyNow(), {}).ok());
}

}  // namespace kube
