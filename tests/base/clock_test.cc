#include "base/clock.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "base/internal/alarm.h"
#include "tests/support/fake_clock.h"

namespace {

using tests::FakeClock;

TEST_CASE("a fake clock stands still until it is moved") {
  FakeClock clock(absl::FromUnixSeconds(100));
  CHECK(clock.Now() == absl::FromUnixSeconds(100));
  clock.Advance(absl::Milliseconds(1500));
  CHECK(clock.Now() == absl::FromUnixMillis(101'500));
}

TEST_CASE("a wait ends when its deadline has come, and not before") {
  FakeClock clock;
  absl::Mutex mu;
  bool held = true;
  std::thread waiter([&] {
    absl::MutexLock lock(&mu);
    bool never = false;
    held = clock.AwaitUntil(mu, absl::Condition(&never), clock.SteadyNow() + absl::Seconds(10));
  });
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(9));
  CHECK(clock.waiters() == 1);
  clock.Advance(absl::Seconds(1));
  waiter.join();
  CHECK_FALSE(held);
  CHECK(clock.waiters() == 0);
}

TEST_CASE("a wait ends at once when its condition comes true") {
  FakeClock clock;
  absl::Mutex mu;
  bool ready = false, held = false;
  std::thread waiter([&] {
    absl::MutexLock lock(&mu);
    held = clock.AwaitUntil(mu, absl::Condition(&ready), base::SteadyTime::InfiniteFuture());
  });
  clock.AwaitWaiters(1);
  {
    absl::MutexLock lock(&mu);
    ready = true;
  }
  waiter.join();
  CHECK(held);
}

TEST_CASE("a wait whose deadline is past, or whose condition holds, does not wait") {
  FakeClock fake;
  for (const base::Clock* clock : {static_cast<const base::Clock*>(&fake), &base::RealClock()}) {
    absl::Mutex mu;
    absl::MutexLock lock(&mu);
    bool yes = true, no = false;
    CHECK(clock->AwaitUntil(mu, absl::Condition(&yes), base::SteadyTime::InfiniteFuture()));
    CHECK(clock->AwaitUntil(mu, absl::Condition(&yes), base::SteadyTime::InfinitePast()));
    CHECK_FALSE(clock->AwaitUntil(mu, absl::Condition(&no), clock->SteadyNow()));
  }
}

TEST_CASE("a sleep lasts until its end or until it is stopped") {
  FakeClock clock;
  base::StopSource stop;
  bool slept = false;
  const auto sleeper = [&] { slept = clock.SleepFor(absl::Seconds(5), stop.get_token()); };
  std::thread first(sleeper);
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(5));
  first.join();
  CHECK(slept);

  std::thread second(sleeper);
  clock.AwaitWaiters(1);
  stop.request_stop();
  second.join();
  CHECK_FALSE(slept);

  // The stop comes before the sleep.
  CHECK_FALSE(clock.SleepFor(absl::Seconds(5), stop.get_token()));
  CHECK(clock.SleepFor(absl::ZeroDuration(), base::StopToken()));
}

TEST_CASE("the machine's clock wakes a sleeper who is stopped") {
  base::StopSource stop;
  std::thread stopper([&] { stop.request_stop(); });
  CHECK_FALSE(base::RealClock().SleepFor(absl::Hours(1), stop.get_token()));
  stopper.join();
  CHECK(base::RealClock().SleepFor(absl::Milliseconds(1), base::StopToken()));
}

TEST_CASE("a step of the wall clock wakes nobody and lets nobody sleep longer") {
  FakeClock clock(absl::FromUnixSeconds(1'000'000));
  const base::SteadyTime before = clock.SteadyNow();
  std::thread sleeper([&] { clock.SleepFor(absl::Seconds(5), base::StopToken()); });
  clock.AwaitWaiters(1);
  for (const absl::Duration step : {absl::Hours(1), -absl::Hours(2)}) {
    clock.StepWall(step);
    CHECK(clock.SteadyNow() == before);
    CHECK(clock.waiters() == 1);
  }
  CHECK(clock.Now() == absl::FromUnixSeconds(1'000'000) - absl::Hours(1));
  clock.Advance(absl::Seconds(5));
  sleeper.join();
}

TEST_CASE("the machine's clock wakes each of many waiters at its own deadline") {
  const base::Clock& clock = base::RealClock();
  constexpr int kThreads = 16, kWaits = 40;
  absl::Mutex shared;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kWaits; ++i) {
        absl::Mutex own;
        absl::Mutex& mu = i % 2 == 0 ? shared : own;  // Some waiters share a mutex.
        absl::MutexLock lock(&mu);
        bool never = false;
        const base::SteadyTime deadline =
            clock.SteadyNow() + absl::Microseconds(100 * ((t * 7 + i * 13) % 30));
        if (clock.AwaitUntil(mu, absl::Condition(&never), deadline)) ++wrong;
        if (clock.SteadyNow() < deadline) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a wait with a near deadline does not wait for one with a far deadline") {
  const base::Clock& clock = base::RealClock();
  base::StopSource stop;
  std::thread far([&] { clock.SleepFor(absl::Hours(1), stop.get_token()); });
  CHECK(clock.SleepFor(absl::Milliseconds(2), base::StopToken()));
  stop.request_stop();
  far.join();
}

TEST_CASE("a stop is heard by every copy of the token and by late listeners") {
  base::StopSource source;
  const base::StopToken token = source.get_token();
  int heard = 0;
  base::StopCallback early(token, [&] { ++heard; });
  CHECK_FALSE(token.stop_requested());
  source.request_stop();
  source.request_stop();
  CHECK(token.stop_requested());
  CHECK(heard == 1);
  base::StopCallback late(token, [&] { ++heard; });
  CHECK(heard == 2);
  CHECK_FALSE(base::StopToken().stop_possible());
}

TEST_CASE("a mutex that is held for long is tried less and less often") {
  static auto* const alarm = new base::internal::Alarm;  // Its thread never ends.
  absl::Mutex mu;
  bool waits = false;
  std::thread waiter([&] {
    absl::MutexLock lock(&mu);
    waits = true;
    bool never = false;
    alarm->AwaitUntil(mu, absl::Condition(&never),
                      base::internal::ReadSteadyClock() + absl::Milliseconds(20));
  });
  const base::SteadyTime start = base::internal::ReadSteadyClock();
  absl::Duration held;
  {
    absl::MutexLock lock(&mu, absl::Condition(&waits));  // The waiter has let it go.
    do {
      absl::SleepFor(absl::Milliseconds(10));
      held = base::internal::ReadSteadyClock() - start;
    } while (held < absl::Milliseconds(300));
  }
  CHECK(alarm->tries() <= 10 + held / absl::Milliseconds(100));
  waiter.join();
}

}  // namespace
