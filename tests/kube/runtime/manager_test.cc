#include "kube/runtime/manager.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "kube/http/http_transport.h"
#include "kube/runtime/internal/http_endpoints.h"
#include "kube/runtime/startup_health.h"
#include "tests/base/raw_client.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

using tests::Eventually;
using Lines = std::vector<std::string>;

struct Script {
  absl::Status result;        // The result of Run.
  bool until_stopped = true;  // Otherwise Run returns at once.
  std::function<void()> at_end;
};

// Runnables that record when they start and end.
class Diary {
 public:
  std::unique_ptr<Runnable> Make(const std::string& name, Script script = {}) {
    return std::make_unique<Entry>(*this, name, std::move(script));
  }
  Lines lines() {
    absl::MutexLock lock(&mu_);
    return lines_;
  }
  bool Has(const std::string& line) {
    const Lines all = lines();
    return std::find(all.begin(), all.end(), line) != all.end();
  }
  void Write(std::string line) {
    absl::MutexLock lock(&mu_);
    lines_.push_back(std::move(line));
  }

 private:
  class Entry : public Runnable {
   public:
    Entry(Diary& diary, std::string name, Script script)
        : diary_(diary), name_(std::move(name)), script_(std::move(script)) {}
    std::string name() const override { return name_; }
    absl::Status Run(const base::StopToken& stop) override {
      diary_.Write("start " + name_);
      if (script_.until_stopped) {
        absl::Mutex mu;
        bool stopped = false;
        base::StopCallback wake(stop, [&] {
          absl::MutexLock lock(&mu);
          stopped = true;
        });
        absl::MutexLock lock(&mu, absl::Condition(&stopped));
      }
      if (script_.at_end) script_.at_end();
      diary_.Write("end " + name_);
      return script_.result;
    }

   private:
    Diary& diary_;
    const std::string name_;
    const Script script_;
  };

  absl::Mutex mu_;
  Lines lines_ ABSL_GUARDED_BY(mu_);
};

struct Fixture : tests::ManagerFixture {
  Diary diary;
  const Resource leases{{"coordination.k8s.io", "v1", "Lease"}, "leases", true};
};

TEST_CASE_METHOD(Fixture, "loops stop before what always runs") {
  Make();
  manager->Add(diary.Make("loop"));
  manager->Add(diary.Make("always"), Manager::Group::kAlways);
  Start();
  REQUIRE(Eventually([&] { return diary.lines().size() == 2; }));
  CHECK(manager->IsLeader());
  REQUIRE(Finish().ok());
  const Lines lines = diary.lines();
  CHECK(Lines(lines.begin() + 2, lines.end()) == Lines{"end loop", "end always"});
}

TEST_CASE_METHOD(Fixture, "without an election the metric says that this process leads") {
  const auto shown = [&] {
    const std::string text = registry.Expose();
    return absl::StrContains(text, "leader_election_master_status{name=\"the-lease\"} 1");
  };
  SECTION("with the name of a lease") { Make(); }
  SECTION("but not beside a leader, without a name") {
    options.lease_name.clear();
    Make();
  }
  CHECK_FALSE(shown());
  Start();
  REQUIRE(Eventually([&] { return manager->IsLeader(); }));
  CHECK(shown() == !options.lease_name.empty());
  REQUIRE(Finish().ok());
}

TEST_CASE_METHOD(Fixture, "what is added while running starts at once, after the stop never") {
  Make();
  Start();
  REQUIRE(Eventually([&] { return manager->IsLeader(); }));
  manager->Add(diary.Make("late"));
  CHECK(Eventually([&] { return diary.Has("start late"); }));
  REQUIRE(Finish().ok());
  manager->Add(diary.Make("too late"));
  CHECK_FALSE(diary.Has("start too late"));
}

TEST_CASE_METHOD(Fixture, "the loops start with the lease, and it is kept until they have ended") {
  options.leader_elect = true;
  server->FailNext("POST", 403, "Forbidden");
  bool led_to_the_end = false;
  Make();
  manager->Add(diary.Make("loop", {.at_end = [&] { led_to_the_end = manager->IsLeader(); }}));
  manager->Add(diary.Make("always"), Manager::Group::kAlways);
  Start();
  REQUIRE(server->AwaitRequests("POST", 1));
  REQUIRE(Eventually([&] { return diary.Has("start always"); }));
  CHECK_FALSE(manager->IsLeader());
  CHECK_FALSE(diary.Has("start loop"));

  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(4.4));  // The longest time between two attempts.
  REQUIRE(Eventually([&] { return diary.Has("start loop"); }));
  REQUIRE(Finish().ok());
  CHECK(led_to_the_end);
  const Object lease = server->Find(leases, {options.lease_namespace, options.lease_name});
  CHECK(lease.spec()["holderIdentity"].AsString() == "me");
}

TEST_CASE_METHOD(Fixture, "a lease that is to be released is kept until the loops have ended") {
  options.leader_elect = true;
  options.release_lease = true;
  const auto holder = [&] {
    return server->Find(leases, {options.lease_namespace, options.lease_name})
        .spec()["holderIdentity"]
        .ToString();
  };
  std::string at_end;
  Make();
  manager->Add(diary.Make("loop", {.at_end = [&] { at_end = holder(); }}));
  Start();
  REQUIRE(Eventually([&] { return diary.Has("start loop"); }));
  REQUIRE(Finish().ok());
  CHECK(at_end == "me");
  CHECK(holder().empty());
}

TEST_CASE_METHOD(Fixture, "a process that ends to begin again gives its lease back") {
  options.leader_elect = true;
  Make();
  manager->Add(diary.Make("loop"));
  Start();
  REQUIRE(Eventually([&] { return diary.Has("start loop"); }));
  manager->GiveLeaseBackAtEnd();
  REQUIRE(Finish().ok());
  CHECK(server->Find(leases, {options.lease_namespace, options.lease_name})
            .spec()["holderIdentity"]
            .AsString()
            .empty());
}

TEST_CASE_METHOD(Fixture, "a lost lease aborts work in progress and ends the run with an error") {
  options.leader_elect = true;
  bool aborted = false;
  Make();
  manager->Add(
      diary.Make("loop", {.at_end = [&] { aborted = manager->abort_token().stop_requested(); }}));
  Start();
  REQUIRE(Eventually([&] { return diary.Has("start loop"); }));
  server->FailNext("PUT", 403, "Forbidden", 1000);
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return diary.Has("end loop");
  }));
  CHECK(absl::IsAborted(Join()));
  CHECK(aborted);
  CHECK_FALSE(manager->IsLeader());
}

TEST_CASE_METHOD(Fixture, "a runnable that fails stops the manager with its error") {
  Make();
  manager->Add(diary.Make("good"));
  manager->Add(diary.Make("bad", {.result = absl::DataLossError("no"), .until_stopped = false}));
  Start();
  const absl::Status failed = Join();
  CHECK(failed.code() == absl::StatusCode::kDataLoss);
  CHECK(absl::StrContains(failed.message(), "bad: no"));
  CHECK(diary.Has("end good"));
}

TEST_CASE_METHOD(Fixture, "a runnable that has waited in vain is not one that still runs") {
  Make();
  manager->Add(diary.Make(
      "loop", {.result = absl::DeadlineExceededError("not listed"), .until_stopped = false}));
  Start();
  const absl::Status ended = Join();
  CHECK(absl::IsUnavailable(ended));
  CHECK(absl::StrContains(ended.message(), "not listed"));
}

TEST_CASE_METHOD(Fixture,
                 "a manager that is begun and ended in two calls needs no thread to wait") {
  std::atomic<int> failures = 0;
  Make();
  manager->Add(diary.Make("good"));
  SECTION("and ends when its caller wants it to") {
    REQUIRE(manager->Begin([&] { ++failures; }).ok());
    REQUIRE(Eventually([&] { return diary.Has("start good"); }));
    CHECK(manager->IsLeader());
    CHECK(manager->End().ok());
    CHECK(failures == 0);
  }
  SECTION("and tells its caller when it would end by itself") {
    manager->Add(diary.Make("bad", {.result = absl::DataLossError("no"), .until_stopped = false}));
    REQUIRE(manager->Begin([&] { ++failures; }).ok());
    REQUIRE(Eventually([&] { return failures > 0; }));
    const absl::Status failed = manager->End();
    CHECK(failed.code() == absl::StatusCode::kDataLoss);
    CHECK(absl::StrContains(failed.message(), "bad: no"));
  }
  CHECK(diary.Has("end good"));
  CHECK_FALSE(manager->IsLeader());
}

TEST_CASE_METHOD(Fixture, "a lost lease is told to the caller that has begun the manager") {
  options.leader_elect = true;
  std::atomic<bool> failed = false;
  Make();
  manager->Add(diary.Make("loop"));
  REQUIRE(manager->Begin([&] { failed = true; }).ok());
  REQUIRE(Eventually([&] { return diary.Has("start loop"); }));
  server->FailNext("PUT", 403, "Forbidden", 1000);
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return failed.load();
  }));
  CHECK(absl::IsAborted(manager->End()));
}

TEST_CASE_METHOD(Fixture,
                 "a runnable that ends in order, or because it was stopped, is not a failure") {
  Make();
  manager->Add(diary.Make("short", {.until_stopped = false}));
  manager->Add(diary.Make("long", {.result = absl::CancelledError("stopped")}));
  Start();
  REQUIRE(Eventually([&] { return diary.Has("end short") && diary.Has("start long"); }));
  CHECK(Finish().ok());
}

TEST_CASE_METHOD(Fixture, "a runnable that does not stop within the graceful period is named") {
  options.leader_elect = options.release_lease = GENERATE(false, true);
  absl::Mutex mu;
  bool release = false;
  Make();
  manager->Add(diary.Make(
      "stubborn", {.at_end = [&] { absl::MutexLock lock(&mu, absl::Condition(&release)); }}));
  manager->Add(diary.Make("docile"));
  Start();
  REQUIRE(Eventually([&] { return diary.lines().size() == 2; }));
  stop.request_stop();
  REQUIRE(Eventually([&] { return diary.Has("end docile"); }));
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(20));
  REQUIRE(Eventually([&] { return manager->abort_token().stop_requested(); }));
  clock.AwaitWaiters(1);
  clock.Advance(absl::Seconds(10));
  const absl::Status exceeded = Join();
  CHECK(absl::IsDeadlineExceeded(exceeded));
  // The lease is not released: another leader's loops would meet it.
  if (options.leader_elect) {
    const Object lease = server->Find(leases, {options.lease_namespace, options.lease_name});
    CHECK(lease.spec()["holderIdentity"].AsString() == "me");
  }
  CHECK(absl::StrContains(exceeded.message(), "stubborn"));
  CHECK_FALSE(absl::StrContains(exceeded.message(), "docile"));
  {
    absl::MutexLock lock(&mu);
    release = true;
  }
  manager.reset();  // Waits for the stubborn runnable.
}

TEST_CASE_METHOD(Fixture,
                 "a runnable that does not stop is named also when the run ends with a failure") {
  absl::Mutex mu;
  bool release = false;
  Make();
  manager->Add(diary.Make(
      "stubborn", {.at_end = [&] { absl::MutexLock lock(&mu, absl::Condition(&release)); }}));
  manager->Add(diary.Make("bad", {.result = absl::DataLossError("no"), .until_stopped = false}));
  Start();
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(5));
    return ended.load();
  }));
  const absl::Status exceeded = Join();
  CHECK(absl::IsDeadlineExceeded(exceeded));
  CHECK(absl::StrContains(exceeded.message(), "bad: no"));
  CHECK(absl::StrContains(exceeded.message(), "stubborn"));
  {
    absl::MutexLock lock(&mu);
    release = true;
  }
  manager.reset();
}

TEST_CASE_METHOD(Fixture, "workers that wait for a slow server do not cost the lease") {
  // Two clients of one server, whose writes of Pods are never answered.
  Client election{server, {.name = "election"}, clock, nullptr};
  options.leader_elect = true;
  Make().UseForElection(election);
  Start();
  REQUIRE(Eventually([&] { return manager->IsLeader(); }));
  server->Block("PATCH");
  base::StopSource stop_workers;
  std::vector<std::thread> workers;
  for (int i = 0; i < 55; ++i) {
    workers.emplace_back([&] {
      base::IgnoreError(client
                            .Patch(tests::kPods, {"ns", "a"}, PatchType::kMerge,
                                   json::Value::Object(), {}, stop_workers.get_token())
                            .status(),
                        "it is never answered");
    });
  }
  REQUIRE(server->AwaitRequests("PATCH", 20));  // The client sends so many at a time.
  const auto renewed = [&] {
    return server->Find(leases, {"leases", "the-lease"}).spec()["renewTime"].ToString();
  };
  for (int i = 0; i < 10; ++i) {
    const std::string before = renewed();
    base::SteadyTime advance_at = base::SteadyTime::InfinitePast();
    CHECK(Eventually([&] {
      // Advance again if the first time was too early, before the election waited for its next
      // turn.
      if (renewed() == before && base::RealClock().SteadyNow() >= advance_at) {
        clock.Advance(absl::Seconds(2));
        advance_at = base::RealClock().SteadyNow() + absl::Seconds(10);
      }
      return renewed() != before;
    }));
  }
  CHECK(manager->IsLeader());
  stop_workers.request_stop();
  for (std::thread& worker : workers) worker.join();
}

TEST_CASE_METHOD(Fixture, "election timings that cannot work are refused") {
  options.leader_elect = true;
  options.renew_deadline = options.lease_duration;
  Make();
  CHECK(absl::IsInvalidArgument(manager->Run(stop.get_token())));
}

// Returns the body of an answer with code 200, else the code or the error.
std::string Fetch(int port, const std::string& path) {
  ConnectionConfig config;
  config.server = absl::StrCat("http://127.0.0.1:", port);
  const auto transport = NewHttpTransport(config);
  REQUIRE(transport.ok());
  const auto answer = (*transport)->Send({.method = "GET", .path = path}, {});
  if (!answer.ok()) return answer.status().ToString();
  return answer->code == 200 ? answer->body : absl::StrCat(answer->code);
}

TEST_CASE_METHOD(Fixture, "health and metrics are served from before leadership until the end") {
  options.leader_elect = true;
  options.health_address = options.metrics_address = "127.0.0.1:0";
  server->FailNext("GET", 403, "Forbidden", 1000);
  Make();
  CHECK(manager->health_port() == 0);
  Start();
  REQUIRE(Eventually([&] { return manager->metrics_port() != 0; }));
  CHECK(Fetch(manager->health_port(), "/healthz") == "ok");
  CHECK(Fetch(manager->health_port(), "/metrics") == "404");
  for (const int port : {manager->health_port(), manager->metrics_port()}) {
    tests::RawClient client(port);
    client.Send("GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n");
    CHECK(client.ReadResponse().code == 405);  // The answer comes before the body was sent.
  }
  REQUIRE(server->AwaitRequests("GET", 1));
  CHECK(absl::StrContains(Fetch(manager->metrics_port(), "/metrics"),
                          "leader_election_master_status{name=\"the-lease\"} 0"));

  tests::ManagerFixture second;
  second.options.health_address = absl::StrCat("127.0.0.1:", manager->health_port());
  CHECK(absl::IsUnavailable(second.Make().Run(second.stop.get_token())));
  REQUIRE(Finish().ok());
  CHECK(manager->health_port() == 0);
}

TEST_CASE_METHOD(Fixture, "before there is a manager, /readyz at its address fails") {
  const StartupWait wait{"karmada-apis", "none is served yet"};
  auto waiting = ServeStartupHealth("127.0.0.1:0", wait);
  REQUIRE(waiting.ok());
  const int port = (*waiting)->port();
  CHECK(Fetch(port, "/healthz") == "ok");
  CHECK(Fetch(port, "/livez") == "ok");
  CHECK(Fetch(port, "/readyz") == "500");
  waiting->reset();
  options.health_address = absl::StrCat("127.0.0.1:", port);
  Make();
  Start();
  CHECK(Eventually([&] { return manager->health_port() == port; }));
  CHECK(*ServeStartupHealth("0", wait) == nullptr);
}

TEST_CASE("health endpoints answer as controller-runtime's") {
  struct Case {
    const char* path;
    bool verbose;
    int code;
    const char* body;
  };
  const Case c =
      GENERATE(Case{"/healthz", false, 200, "ok"}, Case{"/healthz/ping", false, 200, "ok"},
               Case{"/healthz", true, 200, "[+]ping ok\nhealthz check passed\n"},
               Case{"/readyz", false, 200, "ok"}, Case{"/livez", false, 200, "ok"},
               Case{"/readyz", true, 200,
                    "[+]ping ok\n[+]api-server ok\n[+]leader-election ok: leader\n"
                    "readyz check passed\n"},
               Case{"/other", false, 404, "404 page not found\n"},
               Case{"/healthz/nope", false, 404, "404 page not found\n"});
  base::HttpRequest request;
  request.method = "GET";
  request.path = c.path;
  if (c.verbose) request.query = {{"verbose", ""}};
  const base::HttpResponse answer = internal::AnswerHealth(request, [] {
    return std::vector<internal::HealthCheck>{{.name = "api-server"},
                                              {.name = "leader-election", .remark = "leader"}};
  });
  CHECK(answer.code == c.code);
  CHECK(answer.body == c.body);
}

TEST_CASE("the metrics endpoint serves the registry's text, and further pages beside it") {
  base::HttpRequest request;
  request.method = "GET";
  const auto answer = [&](const char* path) {
    request.path = path;
    return internal::AnswerMetrics(request, [] { return std::string("up 1\n"); },
                                   {{"/configz", [] { return "{}"; }}});
  };
  CHECK(answer("/metrics").body == "up 1\n");
  CHECK(absl::StrContains(answer("/metrics").content_type, "version=0.0.4"));
  CHECK(answer("/configz").body == "{}");
  CHECK(answer("/configz").content_type == "application/json");
  CHECK(answer("/").code == 404);
  request.method = "POST";
  CHECK(answer("/metrics").code == 405);
  CHECK(answer("/configz").code == 405);
}

}  // namespace
}  // namespace kube
