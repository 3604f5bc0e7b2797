#include "kube/runtime/periodic.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "kube/runtime/worker_pool.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

using tests::Eventually;

struct Counts {
  std::atomic<int> ticks = 0, running = 0, most_running = 0;
  std::atomic<bool> blocks = false, was_told = false, goes_on = false, ends = false;
};

class Ticker : public Periodic {
 public:
  Ticker(const base::Clock& clock, Counts& counts) : Periodic(clock), counts_(counts) {}
  std::string name() const override { return "ticker"; }

 protected:
  absl::Duration Begin() override { return absl::Seconds(10); }
  absl::Duration Tick(const base::StopToken& stop) override {
    counts_.most_running = std::max<int>(counts_.most_running, ++counts_.running);
    if (counts_.blocks) {
      counts_.was_told = Eventually([&] { return counts_.goes_on || stop.stop_requested(); });
    }
    if (counts_.ends) EndWith(absl::AbortedError("it is enough"));
    --counts_.running;
    ++counts_.ticks;
    return absl::Seconds(10);
  }

 private:
  Counts& counts_;
};

struct Fixture : tests::ManagerFixture {
  Counts counts;
  Ticker* ticker = new Ticker(clock, counts);

  Fixture() { Make().Add(std::unique_ptr<Ticker>(ticker)); }
  // The runnable writes to the counts until the manager has ended.
  ~Fixture() override { base::IgnoreError(Finish(), "the test has looked at what matters to it"); }
};

TEST_CASE_METHOD(Fixture, "a periodic runnable is called at its times, and has no thread between") {
  Start();
  clock.AwaitWaiters(1);
  CHECK(counts.ticks == 0);
  for (int n = 1; n <= 3; ++n) {
    clock.AwaitWaiters(1);
    clock.Advance(absl::Seconds(10));
    CHECK(Eventually([&] { return counts.ticks == n; }));
  }
  CHECK(manager->pool().threads() <= WorkerPool::kAtRest);
  CHECK(counts.most_running == 1);
  CHECK(Finish().ok());
}

TEST_CASE_METHOD(Fixture, "a stop ends a periodic runnable that waits") {
  Start();
  clock.AwaitWaiters(1);
  CHECK(Finish().ok());
  CHECK(counts.ticks == 0);
}

TEST_CASE_METHOD(Fixture, "a stop waits for the call that is under way, which is told") {
  counts.blocks = true;
  Start();
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(10));
  REQUIRE(Eventually([&] { return counts.running == 1; }));
  CHECK(Finish().ok());
  CHECK(counts.was_told);
  CHECK(counts.ticks == 1);
}

TEST_CASE_METHOD(Fixture, "a periodic runnable that is woken is called before its time") {
  ticker->Wake();
  Start();
  CHECK(Eventually([&] { return counts.ticks == 1; }));
  ticker->Wake();
  CHECK(Eventually([&] { return counts.ticks == 2; }));
  CHECK(Finish().ok());
}

TEST_CASE_METHOD(Fixture, "a wake during a call is followed by another call") {
  counts.blocks = true;
  ticker->Wake();
  Start();
  REQUIRE(Eventually([&] { return counts.running == 1; }));
  ticker->Wake();
  counts.blocks = false;
  counts.goes_on = true;
  CHECK(Eventually([&] { return counts.ticks == 2; }));
  CHECK(Finish().ok());
}

TEST_CASE_METHOD(Fixture, "a periodic runnable ends with the result that it says") {
  counts.ends = true;
  ticker->Wake();
  Start();
  CHECK(Join().message() == "ticker: it is enough");
  CHECK(counts.ticks == 1);
}

TEST_CASE_METHOD(Fixture,
                 "without a pool a periodic runnable is woken, stopped and ended as well") {
  Ticker own(clock, counts);
  absl::Status result;
  std::thread thread([&] { result = own.Run(stop.get_token()); });
  own.Wake();
  CHECK(Eventually([&] { return counts.ticks == 1; }));
  counts.ends = true;
  own.Wake();
  thread.join();
  CHECK(result.message() == "it is enough");
  counts.ends = false;
  Ticker stopped(clock, counts);
  stop.request_stop();
  CHECK(stopped.Run(stop.get_token()).ok());
}

}  // namespace
}  // namespace kube
