#include "controllers/taint_manager/eviction_queue.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tests/support/loops_fixture.h"

namespace {

using controllers::EvictionOutcome;
using controllers::EvictionPace;
using controllers::EvictionQueue;

struct Fixture : tests::LoopsFixture {
  absl::Mutex mu;
  std::vector<std::string> looked ABSL_GUARDED_BY(mu);
  absl::StatusOr<EvictionOutcome> answer ABSL_GUARDED_BY(mu) = EvictionOutcome{.evicted = true};
  std::shared_ptr<EvictionQueue> queue;

  Fixture() { Make(); }
  void Run() {
    queue = std::make_shared<EvictionQueue>(
        "binding-eviction", "ResourceBinding", Context(),
        [this](const kube::Request& request, const base::StopToken&) {
          absl::MutexLock lock(&mu);
          looked.push_back(request.key.name);
          return answer;
        });
    controllers::AddWorkers(queue, *manager);
    Start();
  }
  static kube::Request Of(const std::string& name) {
    return {.key = {"ns", name}, .cluster = "m1"};
  }
  void Add(const std::string& name, absl::Duration after = absl::ZeroDuration(),
           int64_t version = 1) {
    queue->Add(Of(name), after, version);
  }
  size_t Looked() {
    absl::MutexLock lock(&mu);
    return looked.size();
  }
  bool LooksAt(size_t count) {
    return tests::Eventually([&] { return Looked() == count; });
  }
  void Answer(absl::StatusOr<EvictionOutcome> next) {
    absl::MutexLock lock(&mu);
    answer = std::move(next);
  }
  std::vector<std::string> LookedAt() {
    absl::MutexLock lock(&mu);
    return looked;
  }
  double Waiting() {
    return registry
        .GetGauge("eviction_kind_total", "",
                  {{"member_cluster", "m1"}, {"resource_kind", "ResourceBinding"}})
        .Value();
  }
  double Total(const std::string& result) {
    return registry
        .GetCounter("eviction_processing_total", "",
                    {{"name", "binding-eviction"}, {"result", result}})
        .Value();
  }
};

TEST_CASE_METHOD(Fixture, "each of three workers rests after an eviction") {
  flags.taint_eviction.rate = 0.5;
  Run();
  for (int i = 0; i < 7; ++i) Add(absl::StrCat("b", i));
  REQUIRE(LooksAt(3));
  clock.Advance(absl::Milliseconds(1900));
  CHECK(Looked() == 3);
  // They begin to rest a moment after they have looked, so the clock is moved until they go on.
  REQUIRE(tests::Eventually([&] {
    if (Looked() < 6) clock.Advance(absl::Milliseconds(500));
    return Looked() >= 6;
  }));
  REQUIRE(tests::Eventually([&] {
    if (Looked() < 7) clock.Advance(absl::Milliseconds(500));
    return Looked() == 7;
  }));
  CHECK(tests::Eventually([&] { return Waiting() == 0; }));
  CHECK(Total("success") == 7);
}

TEST_CASE_METHOD(Fixture, "a look that evicts nothing costs no time") {
  flags.taint_eviction.rate = 0;
  Run();
  Answer(EvictionOutcome{});
  for (int i = 0; i < 50; ++i) Add(absl::StrCat("b", i));
  CHECK(LooksAt(50));
  CHECK(tests::Eventually([&] { return Waiting() == 0; }));
}

TEST_CASE_METHOD(Fixture, "a manager with bindings to evict is not idle") {
  absl::Mutex hold;
  hold.Lock();
  const auto evict = [&hold](const kube::Request&, const base::StopToken&) {
    absl::MutexLock lock(&hold);
    return absl::StatusOr<EvictionOutcome>(EvictionOutcome{});
  };
  queue = std::make_shared<EvictionQueue>("binding-eviction", "ResourceBinding", Context(), evict);
  controllers::AddWorkers(queue, *manager);
  Add("later", absl::Seconds(60));
  CHECK(manager->IsIdle());
  Add("now");
  Start();
  CHECK_FALSE(manager->IsIdle());
  hold.Unlock();
  CHECK(tests::Eventually([&] { return manager->IsIdle(); }));
}

TEST_CASE_METHOD(Fixture, "a binding that cannot be evicted counts as failing until it can") {
  Run();
  Answer(absl::UnavailableError("no answer"));
  Add("b");
  REQUIRE(LooksAt(1));
  REQUIRE(tests::Eventually([&] { return manager->Failing(10).count == 1; }));
  CHECK(manager->Failing(10).some[0].controller == "binding-eviction");
  CHECK(manager->Failing(10).some[0].error == "no answer");
  Answer(EvictionOutcome{.evicted = true});
  CHECK(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return manager->Failing(10).count == 0;
  }));
}

TEST_CASE_METHOD(Fixture, "a binding that is tolerated waits, and is looked at again") {
  Run();
  Answer(EvictionOutcome{.again = absl::Seconds(5)});
  Add("b", absl::Seconds(60));
  Add("b", absl::Seconds(30));  // The earlier time counts.
  CHECK(Waiting() == 1);
  CHECK(Looked() == 0);
  clock.Advance(absl::Seconds(30));
  REQUIRE(LooksAt(1));
  CHECK(Waiting() == 1);
  Answer(EvictionOutcome{.evicted = true});
  REQUIRE(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Looked() == 2;
  }));
  CHECK(tests::Eventually([&] { return Waiting() == 0; }));
}

TEST_CASE_METHOD(Fixture, "a failure is counted and tried again") {
  Run();
  Answer(absl::PermissionDeniedError("no"));
  Add("b");
  REQUIRE(LooksAt(1));
  CHECK(tests::Eventually([&] { return Total("error") == 1; }));
  CHECK(Waiting() == 1);
  Answer(EvictionOutcome{.evicted = true});
  REQUIRE(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Looked() >= 2;
  }));
  CHECK(tests::Eventually([&] { return Total("success") == 1; }));
  CHECK(tests::Eventually([&] { return Waiting() == 0; }));
}

TEST_CASE_METHOD(Fixture, "what has failed keeps its back-off until its binding changes") {
  Run();
  Answer(absl::PermissionDeniedError("no"));
  const auto fails = [&](double times) {
    return tests::Eventually([&] { return Total("error") == times; });
  };
  Add("b");
  REQUIRE(fails(1));
  CHECK(queue->IsSettled(Of("b"), 1));
  Add("b");  // The next pass over the cluster finds it as it was.
  Add("c");
  REQUIRE(fails(2));
  CHECK(LookedAt() == std::vector<std::string>{"b", "c"});
  CHECK_FALSE(queue->IsSettled(Of("b"), 2));
  Add("b", absl::ZeroDuration(), 2);
  REQUIRE(fails(3));
  CHECK(LookedAt() == std::vector<std::string>{"b", "c", "b"});
  CHECK(Waiting() == 2);
}

TEST_CASE_METHOD(Fixture, "what has failed often waits for a minute, not for its whole back-off") {
  Run();
  Answer(absl::UnavailableError("no"));
  const auto fails = [&](double times) {
    return tests::Eventually([&] { return Total("error") == times; });
  };
  Add("b");
  REQUIRE(fails(1));
  for (int times = 2; times < 20; ++times) {  // The back-off grows to 1000 s.
    clock.Advance(absl::Seconds(1000));
    REQUIRE(fails(times));
  }
  clock.Advance(absl::Seconds(59));
  CHECK(queue->IsSettled(Of("b"), 1));
  clock.Advance(absl::Seconds(1));
  CHECK_FALSE(queue->IsSettled(Of("b"), 1));
  Answer(EvictionOutcome{.evicted = true});
  Add("b");  // The next pass over the cluster, after the server has recovered.
  CHECK(tests::Eventually([&] { return Total("success") == 1; }));
  CHECK(tests::Eventually([&] { return Waiting() == 0; }));
}

TEST_CASE_METHOD(Fixture, "what is due is settled, what is tolerated is not") {
  flags.taint_eviction.rate = 0;
  Run();
  for (int i = 0; i < 3; ++i) Add(absl::StrCat("b", i));
  REQUIRE(LooksAt(3));  // From here on all workers rest.
  REQUIRE(tests::Eventually([&] { return Waiting() == 0; }));
  CHECK_FALSE(queue->IsSettled(Of("b0"), 1));
  Add("due");
  Add("later", absl::Seconds(60));
  CHECK(queue->IsSettled(Of("due"), 1));
  CHECK(queue->IsSettled(Of("due"), 2));
  CHECK_FALSE(queue->IsSettled(Of("later"), 1));
  clock.Advance(absl::Seconds(60));
  CHECK(queue->IsSettled(Of("later"), 1));
  CHECK(Waiting() == 2);
}

TEST_CASE_METHOD(Fixture, "a stop does not wait for workers that rest") {
  flags.taint_eviction.rate = 0;  // They rest for half an hour.
  Run();
  for (int i = 0; i < 10; ++i) Add(absl::StrCat("b", i));
  REQUIRE(LooksAt(3));
  CHECK(Finish().ok());
  CHECK(Looked() == 3);
}

TEST_CASE_METHOD(Fixture, "the pace is that of the rate, and of the bucket of all workers") {
  config::RateLimits limits;
  limits.qps = 10;
  limits.bucket_size = 2;
  EvictionPace slow(0.5, limits, clock);
  CHECK(slow.AfterEviction() == absl::Seconds(2));
  CHECK(EvictionPace(0, limits, clock).AfterEviction() == absl::Seconds(1800));
  EvictionPace fast(100, limits, clock);
  CHECK(fast.AfterEviction() == absl::Milliseconds(10));
  CHECK(fast.AfterEviction() == absl::Milliseconds(10));
  CHECK(fast.AfterEviction() == absl::Milliseconds(100));
  CHECK(fast.AfterEviction() == absl::Milliseconds(200));
  clock.Advance(absl::Seconds(10));
  CHECK(fast.AfterEviction() == absl::Milliseconds(10));
}

}  // namespace
