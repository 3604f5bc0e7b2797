// These tests run in simulated time, each thread as in a program that knows nothing of it.
#include "tests/prove/time/time_driver.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/threads.h"

extern char** environ;

namespace prove {
namespace {

bool Never() { return false; }

TEST_CASE("An hour passes in a moment when all wait") {
  TimeDriver time;
  const absl::Time wall = absl::Now();
  const base::SteadyTime steady = base::RealClock().SteadyNow();
  CHECK(!time.RunFor(absl::Hours(1), Never));
  CHECK(absl::Now() - wall >= absl::Hours(1));
  CHECK(absl::Now() - wall < absl::Hours(1) + absl::Seconds(1));
  CHECK(base::RealClock().SteadyNow() - steady >= absl::Hours(1));
}

TEST_CASE("The wall clock follows each jump, however often it is read") {
  TimeDriver time;
  for (int i = 0; i < 300; ++i) {
    const absl::Time wall = absl::Now();
    time.RunFor(absl::Seconds(1), Never);
    REQUIRE(absl::Now() - wall >= absl::Seconds(1));
  }
}

TEST_CASE("Waits end in the order of their times, whatever they wait with") {
  TimeDriver time;
  std::mutex mu;
  std::vector<std::string> ended;
  const auto end = [&](const char* what) {
    std::lock_guard lock(mu);
    ended.emplace_back(what);
  };
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    base::RealClock().SleepFor(absl::Minutes(3), {});
    end("clock");
  });
  threads.emplace_back([&] {
    std::this_thread::sleep_for(std::chrono::minutes(1));
    end("sleep");
  });
  threads.emplace_back([&] {
    poll(nullptr, 0, 120'000);
    end("poll");
  });
  threads.emplace_back([&] {
    std::mutex own;
    std::condition_variable never;
    std::unique_lock lock(own);
    never.wait_for(lock, std::chrono::minutes(4), [] { return false; });
    end("condition variable");
  });
  CHECK(time.RunFor(absl::Minutes(10), [&] {
    std::lock_guard lock(mu);
    return ended.size() == 4;
  }));
  CHECK(ended == std::vector<std::string>{"sleep", "poll", "clock", "condition variable"});
  CHECK(time.Now() < absl::Minutes(70));
  for (std::thread& t : threads) t.join();
}

TEST_CASE("Time stands still while a thread works") {
  TimeDriver time;
  std::atomic<bool> end = false;
  std::atomic<int64_t> rounds = 0;
  std::thread sleeper([&] {
    base::RealClock().SleepFor(absl::Seconds(5), {});
    end = true;
  });
  std::thread worker([&] {
    while (rounds < 20'000'000) ++rounds;
  });
  CHECK(time.RunFor(absl::Seconds(6), [&] { return end.load(); }));
  CHECK(rounds == 20'000'000);
  sleeper.join();
  worker.join();
}

TEST_CASE("Another process has the same time") {
  TimeDriver time;
  const absl::Duration before = time.Now();
  char sh[] = "/bin/sleep", seconds[] = "50";
  char* words[] = {sh, seconds, nullptr};
  pid_t pid = 0;
  REQUIRE(posix_spawn(&pid, sh, nullptr, nullptr, words, environ) == 0);
  time.Watch(pid);
  CHECK(time.RunFor(absl::Hours(1), [&] {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  }));
  CHECK(time.Now() - before >= absl::Seconds(50));
  CHECK(time.Now() - before < absl::Seconds(51));
  waitpid(pid, nullptr, 0);
  time.Forget(pid);
}

TEST_CASE("Time passes while a process is stopped, and what was due meanwhile is due at once") {
  TimeDriver time;
  char sh[] = "/bin/sleep", seconds[] = "50";
  char* words[] = {sh, seconds, nullptr};
  pid_t pid = 0;
  REQUIRE(posix_spawn(&pid, sh, nullptr, nullptr, words, environ) == 0);
  time.Watch(pid);
  const auto ended = [&] {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  };
  CHECK(!time.RunFor(absl::Seconds(10), ended));
  time.Stop(pid);
  CHECK(!time.RunFor(absl::Hours(1), ended));
  time.Continue(pid);
  CHECK(time.RunFor(absl::Seconds(1), ended));
  waitpid(pid, nullptr, 0);
  time.Forget(pid);
}

TEST_CASE("The wall clock of a process is stepped, and its steady clock is not") {
  TimeDriver time;
  const absl::Time wall = absl::Now();
  const base::SteadyTime steady = base::RealClock().SteadyNow();
  time.SetWallOffset(getpid(), -absl::Hours(5));
  CHECK(absl::Now() < wall - absl::Hours(4));
  CHECK(base::RealClock().SteadyNow() - steady < absl::Seconds(1));
  std::atomic<bool> woken = false;
  std::thread sleeper([&] {
    base::RealClock().SleepFor(absl::Seconds(5), {});
    woken = true;
  });
  const absl::Duration before = time.Now();
  CHECK(time.RunFor(absl::Minutes(1), [&] { return woken.load(); }));
  CHECK(time.Now() - before < absl::Seconds(6));
  sleeper.join();
  time.SetWallOffset(getpid(), absl::ZeroDuration());
}

TEST_CASE("What works without end is reported, and not waited for without end", "[.slow]") {
  TimeDriver time;
  std::atomic<bool> end = false;
  std::thread worker([&] {
    while (!end) std::this_thread::yield();
  });
  CHECK(!time.AwaitIdle());
  CHECK(time.busy_without_end());
  end = true;
  worker.join();
}

}  // namespace
}  // namespace prove
