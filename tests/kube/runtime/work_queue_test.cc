#include "kube/runtime/work_queue.h"

#include <catch2/catch.hpp>

#include <thread>

#include "base/metrics.h"
#include "kube/runtime/internal/rate_limiter.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

Request Item(const std::string& name) { return {.key = {"ns", name}}; }

struct Fixture {
  tests::FakeClock clock;
  metrics::Registry registry;
  WorkQueue queue{{.name = "q", .registry = &registry}, clock};

  std::string Take() {
    const auto taken = queue.Get();
    return taken.has_value() ? taken->request.key.name : "(none)";
  }
  void TakeAndFinish(const std::string& name) {
    CHECK(Take() == name);
    queue.Done(Item(name));
  }
  double Counter(const std::string& name) {
    return registry.GetCounter(name, "", {{"name", "q"}, {"controller", "q"}}).Value();
  }
  double Depth(const std::string& priority) {
    return registry
        .GetGauge("workqueue_depth", "",
                  {{"name", "q"}, {"controller", "q"}, {"priority", priority}})
        .Value();
  }
};

TEST_CASE_METHOD(Fixture, "items come in the order they were added") {
  for (const char* name : {"b", "a", "c"}) queue.Add(Item(name));
  TakeAndFinish("b");
  TakeAndFinish("a");
  TakeAndFinish("c");
  CHECK(queue.Idle());
}

TEST_CASE_METHOD(Fixture, "higher priority wins, equal priorities stay fair") {
  queue.Add(Item("initial1"), kInitialListPriority);
  queue.Add(Item("initial2"), kInitialListPriority);
  queue.Add(Item("fresh1"));
  queue.Add(Item("urgent"), 10);
  queue.Add(Item("fresh2"));
  for (const char* name : {"urgent", "fresh1", "fresh2", "initial1", "initial2"}) {
    TakeAndFinish(name);
  }
}

TEST_CASE_METHOD(Fixture, "an item added twice is handed out once, at the higher priority") {
  queue.Add(Item("a"), kInitialListPriority);
  queue.Add(Item("b"));
  queue.Add(Item("a"), 5);
  queue.Add(Item("a"), kInitialListPriority);
  CHECK(queue.size() == 2);
  const auto taken = queue.Get();
  CHECK(taken->request == Item("a"));
  CHECK(taken->priority == 5);
}

TEST_CASE_METHOD(Fixture, "an item added while being processed comes again afterwards") {
  queue.Add(Item("a"));
  CHECK(Take() == "a");
  queue.Add(Item("a"));
  queue.Add(Item("b"));
  TakeAndFinish("b");  // Not a second "a".
  queue.Done(Item("a"));
  TakeAndFinish("a");
  CHECK(queue.Idle());
}

TEST_CASE_METHOD(Fixture, "a delayed item becomes due with time") {
  queue.AddAfter(Item("late"), absl::Seconds(10));
  queue.AddAfter(Item("soon"), absl::Seconds(5));
  CHECK(queue.size() == 2);
  CHECK(queue.Idle());
  clock.Advance(absl::Seconds(5));
  CHECK_FALSE(queue.Idle());
  TakeAndFinish("soon");
  CHECK(queue.Idle());
  clock.Advance(absl::Seconds(5));
  TakeAndFinish("late");
}

TEST_CASE_METHOD(Fixture, "a worker that waits is woken when an item becomes due or is added") {
  queue.AddAfter(Item("later"), absl::Seconds(10));
  std::vector<std::string> taken;
  std::thread worker([&] {
    for (int i = 0; i < 2; ++i) taken.push_back(Take());
  });
  clock.AwaitWaiters(1);
  queue.Add(Item("now"));
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(10));
  worker.join();
  CHECK(taken == std::vector<std::string>{"now", "later"});
}

TEST_CASE_METHOD(Fixture, "the earlier of two times counts") {
  queue.AddAfter(Item("a"), absl::Seconds(10));
  SECTION("sooner") { queue.AddAfter(Item("a"), absl::Seconds(1)); }
  SECTION("later changes nothing") {
    queue.AddAfter(Item("a"), absl::Seconds(20));
    clock.Advance(absl::Seconds(9));
  }
  SECTION("now") { queue.Add(Item("a")); }
  clock.Advance(absl::Seconds(1));
  TakeAndFinish("a");
  clock.Advance(absl::Hours(1));
  CHECK(queue.Idle());
}

TEST_CASE_METHOD(Fixture, "a delayed item that becomes due while it is processed waits for that") {
  queue.Add(Item("a"));
  CHECK(Take() == "a");
  queue.AddAfter(Item("a"), absl::Seconds(1));
  queue.Add(Item("b"));
  clock.Advance(absl::Seconds(2));
  TakeAndFinish("b");
  queue.Done(Item("a"));
  TakeAndFinish("a");
}

TEST_CASE_METHOD(Fixture, "back-off doubles from 5 ms until the item is forgotten") {
  for (const int ms : {5, 10, 20, 40}) {
    queue.AddRateLimited(Item("a"));
    clock.Advance(absl::Milliseconds(ms - 1));
    CHECK(queue.Idle());
    clock.Advance(absl::Milliseconds(1));
    TakeAndFinish("a");
  }
  CHECK(queue.Requeues(Item("a")) == 4);
  queue.Forget(Item("a"));
  CHECK(queue.Requeues(Item("a")) == 0);
  queue.AddRateLimited(Item("a"));
  clock.Advance(absl::Milliseconds(5));
  TakeAndFinish("a");
}

TEST_CASE_METHOD(Fixture, "after a shut-down what is due is drained and nothing is added") {
  queue.Add(Item("due"));
  queue.AddAfter(Item("delayed"), absl::Seconds(1));
  queue.ShutDown();
  queue.Add(Item("more"));
  queue.AddRateLimited(Item("more"));
  TakeAndFinish("due");
  CHECK(Take() == "(none)");
  CHECK(queue.size() == 0);
}

TEST_CASE_METHOD(Fixture, "a shut-down wakes all workers") {
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&] { queue.Get(); });
  }
  clock.AwaitWaiters(1);  // The other workers wait without a deadline.
  queue.ShutDown();
  for (std::thread& worker : workers) worker.join();
  CHECK(queue.Idle());
}

TEST_CASE_METHOD(Fixture, "metrics carry client-go's names and follow the queue") {
  CHECK(Depth("0") == 0);
  queue.Add(Item("a"));
  queue.Add(Item("a"));
  queue.Add(Item("b"), kInitialListPriority);
  CHECK(Depth("0") == 1);
  CHECK(Depth("-100") == 1);
  CHECK(Counter("workqueue_adds_total") == 2);

  queue.Add(Item("b"));  // Raises its priority.
  CHECK(Depth("0") == 2);
  CHECK(Depth("-100") == 0);

  Take();
  clock.Advance(absl::Seconds(3));
  queue.UpdateMetrics();
  CHECK(Depth("0") == 1);
  const metrics::Labels labels = {{"name", "q"}, {"controller", "q"}};
  CHECK(registry.GetGauge("workqueue_unfinished_work_seconds", "", labels).Value() == 3);
  CHECK(registry.GetGauge("workqueue_longest_running_processor_seconds", "", labels).Value() == 3);

  queue.Done(Item("a"));
  queue.AddRateLimited(Item("a"));
  CHECK(Counter("workqueue_retries_total") == 1);
  CHECK(Counter("workqueue_adds_total") == 2);  // The item counts once it is due.
  const std::string text = registry.Expose();
  CHECK(text.find("workqueue_queue_duration_seconds_sum") != std::string::npos);
  CHECK(text.find("workqueue_work_duration_seconds_count{controller=\"q\",name=\"q\"} 1") !=
        std::string::npos);
}

TEST_CASE("the limiter takes the longer of the item's back-off and the common bucket") {
  using internal::RateLimiter;
  const base::SteadyTime now;
  SECTION("the back-off ends at its maximum") {
    RateLimiter limiter({.max_delay = absl::Seconds(1), .qps = 0});
    for (int i = 0; i < 100; ++i) limiter.Next(Item("a"), now);
    CHECK(limiter.Next(Item("a"), now) == absl::Seconds(1));
    CHECK(limiter.Next(Item("b"), now) == absl::Milliseconds(5));
  }
  SECTION("once the burst is used up everybody waits") {
    RateLimiter limiter({.qps = 10, .burst = 2});
    limiter.Next(Item("a"), now);
    limiter.Next(Item("b"), now);
    CHECK(limiter.Next(Item("c"), now) == absl::Milliseconds(100));
    CHECK(limiter.Next(Item("d"), now) == absl::Milliseconds(200));
    CHECK(limiter.Next(Item("e"), now + absl::Seconds(10)) == absl::Milliseconds(5));
  }
}

TEST_CASE("requests print as cluster, kind and key") {
  CHECK(Item("a").ToString() == "ns/a");
  const Request full{.key = {"", "n"}, .gvk = {"apps", "v1", "Deployment"}, .cluster = "m1"};
  CHECK(full.ToString() == "m1/Deployment n");
}

}  // namespace
}  // namespace kube
