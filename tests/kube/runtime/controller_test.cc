#include "kube/runtime/controller.h"

#include <catch2/catch.hpp>

#include <stdexcept>

#include "absl/strings/match.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/runtime/sync_timer.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Pod;

// Runs a function, and records the requests.
class ScriptedReconciler : public Reconciler {
 public:
  using Script = std::function<absl::StatusOr<Action>(const Request&, const base::StopToken&)>;
  struct Record {
    absl::Mutex mu;
    std::vector<std::string> requests ABSL_GUARDED_BY(mu);

    size_t size() {
      absl::MutexLock lock(&mu);
      return requests.size();
    }
  };

  ScriptedReconciler(Record& record, Script script) : record_(record), script_(std::move(script)) {}
  absl::StatusOr<Action> Reconcile(const Request& request, const base::StopToken& stop) override {
    {
      absl::MutexLock lock(&record_.mu);
      record_.requests.push_back(request.ToString());
    }
    return script_(request, stop);
  }

 private:
  Record& record_;
  Script script_;
};

struct Fixture : tests::ManagerFixture {
  ScriptedReconciler::Record record;

  // Reconcilers write to the record until the manager has ended.
  ~Fixture() override { base::IgnoreError(Finish(), "the test has looked at what matters to it"); }
  Controller& Build(ScriptedReconciler::Script script) {
    return ControllerBuilder(Make()).Named("c").Build(
        std::make_unique<ScriptedReconciler>(record, std::move(script)));
  }
  bool AwaitReconciles(size_t n) {
    return Eventually([&] { return record.size() >= n; });
  }
  double Total(const std::string& result) {
    return registry
        .GetCounter("controller_runtime_reconcile_total", "",
                    {{"controller", "c"}, {"result", result}})
        .Value();
  }
  double Count(const std::string& name) {
    return registry.GetCounter("controller_runtime_" + name, "", {{"controller", "c"}}).Value();
  }
  const Request item{.key = {"ns", "a"}};
};

absl::StatusOr<Action> Succeed(const Request&, const base::StopToken&) { return Action::Done(); }

TEST_CASE_METHOD(Fixture, "the metrics of a controller exist before it has done anything") {
  Build(Succeed);
  const std::string text = registry.Expose();
  for (const char* result : {"success", "error", "requeue", "requeue_after"}) {
    CHECK(
        absl::StrContains(text, absl::StrCat("controller_runtime_reconcile_total{controller=\"c\","
                                             "result=\"",
                                             result, "\"} 0")));
  }
  CHECK(
      absl::StrContains(text, "controller_runtime_max_concurrent_reconciles{controller=\"c\"} 1"));
  CHECK(absl::StrContains(text, "controller_runtime_active_workers{controller=\"c\"} 0"));
  CHECK(absl::StrContains(text, "controller_runtime_reconcile_panics_total{controller=\"c\"} 0"));
}

TEST_CASE_METHOD(Fixture, "a reconcile that reads what it has not declared fails") {
  const Resource secrets{{"", "v1", "Secret"}, "secrets", true};
  const bool declares = GENERATE(false, true);
  const ScriptedReconciler::Script reads = [&](const Request& request, const base::StopToken&) {
    cluster.Find(secrets, request.key);
    cluster.Find(kPods, request.key);
    return absl::StatusOr<Action>(Action::Done());
  };
  ControllerBuilder builder(Make());
  builder.Named("c").Watches(kPods);
  if (declares) builder.Reads(secrets);
  builder.Build(std::make_unique<ScriptedReconciler>(record, reads));
  informers.Get(secrets);  // As if another controller had declared it.
  server->Put(kPods, Pod("a"));
  Start();
  CHECK(Eventually([&] { return Total(declares ? "success" : "error") == 1; }));
  CHECK(Total(declares ? "error" : "success") == 0);
}

TEST_CASE_METHOD(Fixture, "kinds that users choose are read without being named") {
  const Resource secrets{{"", "v1", "Secret"}, "secrets", true};
  const ScriptedReconciler::Script reads = [&](const Request& request, const base::StopToken&) {
    cluster.Find(secrets, request.key);
    return absl::StatusOr<Action>(Action::Done());
  };
  ControllerBuilder(Make()).Named("c").Watches(kPods).ReadsWatchedKinds().Build(
      std::make_unique<ScriptedReconciler>(record, reads));
  server->Put(kPods, Pod("a"));
  Start();
  CHECK(Eventually([&] { return Total("success") == 1; }));
}

TEST_CASE_METHOD(Fixture, "the time of a sync is observed with its result, if it has one") {
  Make();
  for (const absl::Status& result :
       {absl::OkStatus(), absl::AbortedError("conflict"), absl::CancelledError("stop"),
        absl::UnavailableError("down"), absl::OkStatus()}) {
    const SyncTimer timer(*manager, "sync_duration_seconds", "Of a test.");
    clock.Advance(absl::Milliseconds(3));
    timer.Observe(result);
  }
  const std::string text = registry.Expose();
  CHECK(absl::StrContains(text, "sync_duration_seconds_count{result=\"success\"} 2"));
  CHECK(absl::StrContains(text, "sync_duration_seconds_count{result=\"error\"} 1"));
  CHECK(absl::StrContains(text, "sync_duration_seconds_bucket{result=\"error\",le=\"0.002\"} 0"));
  CHECK(absl::StrContains(text, "sync_duration_seconds_bucket{result=\"error\",le=\"0.004\"} 1"));
}

TEST_CASE_METHOD(Fixture, "objects of a watched informer are reconciled, then their changes") {
  server->Put(kPods, Pod("a"));
  ControllerBuilder(Make())
      .Named("c")
      .Watches(kPods, {.when = {.update = GenerationChanged}})
      .Build(std::make_unique<ScriptedReconciler>(record, Succeed));
  Start();
  REQUIRE(AwaitReconciles(1));
  server->Put(kPods, Pod("a"));  // The generation does not change.
  Object changed = Pod("a");
  changed.Set({"metadata", "generation"}, 2);
  server->Put(kPods, changed);
  server->Put(kPods, Pod("b"));
  REQUIRE(AwaitReconciles(3));
  REQUIRE(Finish().ok());
  CHECK(record.requests == std::vector<std::string>{"ns/a", "ns/a", "ns/b"});
  CHECK(Total("success") == 3);
}

TEST_CASE_METHOD(Fixture, "--vmodule selects the controllers whose passes are logged") {
  const auto [rule, of_c, of_other] =
      GENERATE(table<const char*, bool, bool>({{"c=4", true, false},
                                               {"other=4", false, true},
                                               {"controller=4", true, true},
                                               {"c=3", false, false}}));
  base::InitLogging("test", {.vmodule = rule});
  const tests::CapturedStderr log;
  Controller& c = Build([](const Request& request, const base::StopToken&) {
    return absl::StatusOr<Action>(request.key.name == "a" ? Action::Done()
                                                          : Action::After(absl::Seconds(90)));
  });
  Controller& other = ControllerBuilder(*manager).Named("other").Build(
      std::make_unique<ScriptedReconciler>(record, Succeed));
  c.queue().Add(item);
  c.queue().Add({.key = {"ns", "later"}});
  other.queue().Add(item);
  Start();
  REQUIRE(Eventually([&] { return record.size() == 3 && manager->IsIdle(); }));
  REQUIRE(Finish().ok());
  base::InitLogging("test", {});
  const std::string text = log.Text();
  CHECK(absl::StrContains(text, "reconciled controller=c request=ns/a took=0 outcome=done") ==
        of_c);
  CHECK(absl::StrContains(text, "request=ns/later took=0 outcome=\"again after 1m30s\"") == of_c);
  CHECK(absl::StrContains(text, "reconciled controller=other request=ns/a") == of_other);
}

TEST_CASE_METHOD(Fixture, "the line about a pass that did not succeed says so") {
  base::InitLogging("test", {.verbosity = 4});
  const tests::CapturedStderr log;
  Controller& c = Build([](const Request& request, const base::StopToken&) {
    return absl::StatusOr<Action>(request.key.name == "a" ? absl::AbortedError("conflict")
                                                          : absl::InternalError("broken"));
  });
  c.queue().Add(item);
  c.queue().Add({.key = {"ns", "b"}});
  Start();
  REQUIRE(AwaitReconciles(2));
  REQUIRE(Finish().ok());
  base::InitLogging("test", {});
  CHECK(absl::StrContains(log.Text(), "request=ns/a took=0 outcome=conflict"));
  CHECK(absl::StrContains(log.Text(), "request=ns/b took=0 outcome=error"));
}

TEST_CASE_METHOD(Fixture, "an error is retried with back-off until it succeeds") {
  int failures = 3;
  Controller& controller = Build([&](const Request&, const base::StopToken&) {
    return failures-- > 0 ? absl::StatusOr<Action>(absl::InternalError("broken")) : Action::Done();
  });
  Start();
  controller.queue().Add(item, 7);
  for (size_t n = 1; n <= 3; ++n) {
    REQUIRE(Eventually([&] { return Total("error") == n; }));
    clock.Advance(absl::Seconds(1));
  }
  REQUIRE(Eventually([&] { return Total("success") == 1; }));
  CHECK(Count("reconcile_errors_total") == 3);
  CHECK(controller.queue().Requeues(item) == 0);
}

TEST_CASE_METHOD(Fixture, "nothing is queued until the controller runs, then what is there") {
  server->Put(kPods, Pod("a"));
  Controller& controller = ControllerBuilder(Make()).Named("c").Watches(kPods).Build(
      std::make_unique<ScriptedReconciler>(record, Succeed));
  REQUIRE(informers.Get(kPods)->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
  CHECK(controller.queue().size() == 0);
  Start();
  CHECK(AwaitReconciles(1));
}

TEST_CASE_METHOD(Fixture, "a terminal error is counted and not retried") {
  Controller& controller = Build([](const Request&, const base::StopToken&) {
    return absl::StatusOr<Action>(base::Terminal(absl::InvalidArgumentError("no such field")));
  });
  Start();
  controller.queue().Add(item);
  REQUIRE(Eventually([&] { return Count("terminal_reconcile_errors_total") == 1; }));
  CHECK(Count("reconcile_errors_total") == 1);
  CHECK(Eventually([&] { return controller.queue().Idle(); }));
  CHECK(controller.queue().size() == 0);
}

TEST_CASE_METHOD(Fixture, "an exception counts as a panic and is retried as an error") {
  Controller& controller = Build([](const Request&, const base::StopToken&) {
    throw std::runtime_error("library");
    return absl::StatusOr<Action>(Action::Done());
  });
  Start();
  controller.queue().Add(item);
  REQUIRE(Eventually([&] { return Total("error") == 1; }));
  CHECK(Count("reconcile_panics_total") == 1);
  REQUIRE(Eventually([&] { return controller.queue().size() == 1; }));
}

TEST_CASE_METHOD(Fixture, "an action says when the item comes again") {
  int calls = 0;
  Controller& controller = Build([&](const Request&, const base::StopToken&) {
    ++calls;
    if (calls == 1) return absl::StatusOr<Action>(Action::After(absl::Minutes(5)));
    return absl::StatusOr<Action>(Action::Done());
  });
  Start();
  controller.queue().Add(item, 3);
  REQUIRE(Eventually([&] { return Total("requeue_after") == 1 && controller.queue().Idle(); }));
  CHECK(controller.queue().Requeues(item) == 0);
  clock.Advance(absl::Minutes(4));
  CHECK(controller.queue().Idle());
  clock.Advance(absl::Minutes(1));
  REQUIRE(Eventually([&] { return Total("success") == 1; }));
}

TEST_CASE_METHOD(Fixture,
                 "a controller whose kind cannot be listed fails, naming kind and reason") {
  options.cache_sync_timeout = absl::Seconds(60);
  server->FailNext("GET", 403, "Forbidden", 1000);
  const auto informer = informers.Get(kPods);
  ControllerBuilder(Make()).Named("c").Watches(informer).Build(
      std::make_unique<ScriptedReconciler>(record, Succeed));
  Start();
  REQUIRE(Eventually([&] { return !informer->last_error().ok(); }));
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(20));
    return ended.load();
  }));
  const absl::Status failed = Join();
  CHECK(absl::IsUnavailable(failed));
  CHECK(absl::StrContains(failed.message(), "starting c"));
  CHECK(absl::StrContains(failed.message(), "v1/pods"));
  CHECK(absl::StrContains(failed.message(), "Forbidden"));
}

TEST_CASE_METHOD(Fixture, "an object that is owned queues the one that controls it") {
  const Resource deployments{{"apps", "v1", "Deployment"}, "deployments", true};
  ControllerBuilder(Make())
      .Named("c")
      .Owns(kPods, deployments)
      .Build(std::make_unique<ScriptedReconciler>(record, Succeed));
  Start();
  const auto owned = [&](const char* name, const char* group, const char* kind) {
    Object pod = Pod(name);
    const OwnerRef owner{absl::StrCat(group, "/v1"), kind, "web", "u", true};
    pod.Set({"metadata", "ownerReferences"}, json::Value::Array({owner.ToJson()}));
    server->Put(kPods, pod);
  };
  owned("a", "example.io", "Deployment");
  owned("b", "apps", "ReplicaSet");
  server->Put(kPods, Pod("c"));
  owned("d", "apps", "Deployment");
  REQUIRE(AwaitReconciles(1));
  REQUIRE(Finish().ok());
  CHECK(record.requests == std::vector<std::string>{"ns/web"});
}

TEST_CASE_METHOD(Fixture, "workers start only when what the reconciler reads is in the cache") {
  server->Put(kPods, Pod("a"));
  size_t seen = 0;
  const auto count = [&](const Request&, const base::StopToken&) -> absl::StatusOr<Action> {
    seen = informers.Find(kPods)->store().ByIndex("by label", "x").size();
    return Action::Done();
  };
  Object labelled = Pod("b");
  labelled.SetLabel("owner", "x");
  server->Put(kPods, labelled);
  Controller& controller = ControllerBuilder(Make())
                               .Named("c")
                               .Reads(kPods, "by label", IndexByLabel("owner"))
                               .Build(std::make_unique<ScriptedReconciler>(record, count));
  controller.queue().Add({.key = {"", "x"}});
  Start();
  REQUIRE(AwaitReconciles(1));
  REQUIRE(Finish().ok());
  CHECK(seen == 1);
}

TEST_CASE_METHOD(Fixture, "a manager is idle while no request is due or being worked on") {
  absl::Mutex mu;
  bool release = false;
  Controller& controller = Build([&](const Request&, const base::StopToken&) {
    absl::MutexLock lock(&mu, absl::Condition(&release));
    return absl::StatusOr<Action>(Action::After(absl::Minutes(1)));
  });
  CHECK(manager->IsIdle());
  controller.queue().Add(item);
  CHECK_FALSE(manager->IsIdle());  // Nobody has taken it.
  Start();
  REQUIRE(AwaitReconciles(1));
  CHECK_FALSE(manager->IsIdle());  // It is being worked on.
  {
    absl::MutexLock lock(&mu);
    release = true;
  }
  CHECK(Eventually([&] { return manager->IsIdle(); }));  // It waits for a minute.
  CHECK(controller.queue().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a manager is never idle between two requests that follow each other") {
  constexpr size_t kPasses = 2000;
  WorkQueue* queue = nullptr;
  queue = &Build([&](const Request& request, const base::StopToken&) {
             if (record.size() < kPasses) queue->Add(request);
             return absl::StatusOr<Action>(Action::Done());
           }).queue();
  queue->Add(item);
  Start();
  while (!manager->IsIdle()) {
  }
  CHECK(record.size() == kPasses);
}

TEST_CASE_METHOD(Fixture, "a stop lets the running reconcile end and leaves the queue") {
  absl::Mutex mu;
  bool running = false, release = false;
  bool token_stopped = true;
  Controller& controller = Build([&](const Request&, const base::StopToken& token) {
    absl::MutexLock lock(&mu);
    running = true;
    mu.Await(absl::Condition(&release));
    token_stopped = token.stop_requested();
    return absl::StatusOr<Action>(Action::Done());
  });
  std::thread runner([&] { result = controller.Run(stop.get_token()); });
  controller.queue().Add(item);
  controller.queue().Add({.key = {"ns", "waiting"}});
  {
    absl::MutexLock lock(&mu);
    mu.Await(absl::Condition(&running));
  }
  stop.request_stop();
  {
    absl::MutexLock lock(&mu);
    release = true;
  }
  runner.join();
  CHECK(result.ok());
  CHECK(record.size() == 1);
  CHECK_FALSE(token_stopped);
  CHECK(Total("success") == 1);
}

TEST_CASE_METHOD(Fixture,
                 "a reconcile that outlives most of the graceful period is asked to abort") {
  Controller& controller = Build([&](const Request&, const base::StopToken& token) {
    clock.SleepFor(absl::InfiniteDuration(), token);
    return absl::StatusOr<Action>(absl::CancelledError("stopped"));
  });
  Start();
  controller.queue().Add(item);
  REQUIRE(AwaitReconciles(1));
  clock.AwaitWaiters(1);
  stop.request_stop();
  clock.AwaitWaiters(2);
  clock.Advance(absl::Seconds(20));
  CHECK(Finish().ok());
  CHECK(Total("error") == 0);  // While stopping, a cancelled reconcile is not an error.
}

TEST_CASE_METHOD(Fixture, "equal requests never run at once, others do") {
  absl::Mutex mu;
  int running = 0, most = 0, wanted = 1;
  ControllerBuilder builder(Make());
  Controller& controller = builder.Named("c").WithWorkers(4).Build(
      std::make_unique<ScriptedReconciler>(record, [&](const Request&, const base::StopToken&) {
        const auto enough = [&] { return most >= wanted; };
        absl::MutexLock lock(&mu);
        most = std::max(most, ++running);
        mu.AwaitWithTimeout(absl::Condition(&enough), absl::Minutes(1));
        --running;
        return absl::StatusOr<Action>(Action::Done());
      }));
  SECTION("equal") {
    Start();
    for (int i = 0; i < 20; ++i) {
      controller.queue().Add(item);
      REQUIRE(AwaitReconciles(i + 1));
    }
    REQUIRE(Finish().ok());
    CHECK(most == 1);
  }
  SECTION("different") {
    wanted = 2;
    for (int i = 0; i < 20; ++i) controller.queue().Add({.key = {"ns", absl::StrCat(i)}});
    Start();
    REQUIRE(AwaitReconciles(20));
    REQUIRE(Finish().ok());
    CHECK(most > 1);
  }
}

}  // namespace
}  // namespace kube
