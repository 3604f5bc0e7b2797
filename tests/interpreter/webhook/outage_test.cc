// Hooks that are down, and objects that break a hook that is not.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "interpreter/webhook/webhook_backend.h"
#include "tests/interpreter/webhook/hooks.h"
#include "tests/interpreter/webhook/scripted_hooks.h"
#include "tests/support/fake_clock.h"

namespace {

using interpreter::webhook::BreakerChange;
using interpreter::webhook::Dialect;
using interpreter::webhook::Hook;
using interpreter::webhook::KindQuestion;
using interpreter::webhook::WebhookBackend;
using tests::Operation;
using tests::SetOf;
using tests::WorkloadHook;

const auto kHealthy = tests::Responding(R"({"healthy":true})");
const auto kRefused = tests::Failing(absl::UnavailableError("connection refused"));

kube::Object Named(const std::string& name) {
  return kube::Object::Make(tests::kWorkload, {"default", name});
}

std::string NameIn(const kube::HttpRequest& request) {
  return tests::Json(request.body).Get({"request", "object", "metadata", "name"}).ToString();
}

// Gives one answer for objects whose name begins with "bad", and another one for the others.
tests::ScriptedHooks::Answer BadIf(tests::ScriptedHooks::Answer bad,
                                   tests::ScriptedHooks::Answer good) {
  return [=](const kube::HttpRequest& request) {
    return absl::StartsWith(NameIn(request), "bad") ? bad(request) : good(request);
  };
}

struct Fixture {
  tests::FakeClock clock;
  metrics::Registry registry;
  tests::ScriptedHooks hooks{kHealthy};
  std::vector<std::string> changes;
  WebhookBackend backend{
      {.client = {.transport = hooks.Factory()},
       .clock = &clock,
       .monitor = {
           .metrics = &registry,
           .on_breaker_change =
               [this](const Hook& hook, const BreakerChange& change,
                      const std::set<KindQuestion>& unanswered) {
                 changes.push_back(absl::StrCat(
                     hook.uid, change.open ? " open" : " closed",
                     absl::StrJoin(unanswered, "", [](std::string* out, const KindQuestion& kind) {
                       absl::StrAppend(out, " ", kind.gvk.kind, " ", OperationName(kind.operation));
                     })));
               },
           .on_worth_asking =
               [this](const Hook& hook, const std::set<KindQuestion>& ignored) {
                 changes.push_back(absl::StrCat(hook.uid, " waits ", ignored.size()));
               },
           .on_probe_wanted = [this] { ++probes_wanted; }}}};
  int probes_wanted = 0;

  Fixture() { backend.Replace(SetOf({WorkloadHook()})); }
  absl::Status Ask(const std::string& name) {
    return backend.InterpretHealth(Named(name)).status();
  }
  void Open() {
    hooks.Set(kRefused);
    for (int i = 0; i < 5; ++i) CHECK_FALSE(Ask(absl::StrCat("o", i)).ok());
    REQUIRE(changes.size() == 1);
  }
  bool IsSuspended() { return absl::StrContains(Ask("probed").message(), "calls are suspended"); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an object that the hook answers badly suspends nothing") {
  const auto answer = GENERATE(values<tests::ScriptedHooks::Answer>(
      {tests::Http(400, "no"), tests::Http(404, ""), tests::Http(302, ""), tests::Http(200, ""),
       tests::Http(200, "<html>"), tests::Http(200, R"({"response":{"uid":"another"}})"),
       tests::Http(200, R"({"error":"no healthy upstream"})"), tests::Responding("{}"),
       tests::Responding(R"({"successful":false,"status":{"code":500}})")}));
  hooks.Set(BadIf(answer, kHealthy));
  for (int i = 0; i < 50; ++i) {
    REQUIRE_FALSE(Ask(absl::StrCat("bad", i % 3)).ok());
    clock.Advance(absl::Seconds(1));
  }
  CHECK(Ask("good").ok());
  CHECK(changes.empty());
}

TEST_CASE_METHOD(Fixture, "no connection, no answer in time and server errors suspend the calls") {
  hooks.Set(GENERATE(values<tests::ScriptedHooks::Answer>(
      {kRefused, tests::Failing(absl::DeadlineExceededError("no answer in time")),
       tests::Http(500, ""), tests::Http(429, ""), tests::Http(503, "")})));
  for (int i = 0; i < 5; ++i) CHECK_FALSE(Ask(absl::StrCat("o", i)).ok());
  CHECK(IsSuspended());
}

TEST_CASE_METHOD(Fixture, "objects that break the connection suspend nothing while others work") {
  hooks.Set(BadIf(kRefused, kHealthy));
  REQUIRE(Ask("good").ok());
  // The object that was answered an hour ago proves each time that the hook is up.
  clock.Advance(absl::Hours(1));
  for (int i = 0; i < 100; ++i) {
    REQUIRE_FALSE(Ask(absl::StrCat("bad", i % 4)).ok());
    clock.Advance(absl::Seconds(1));
  }
  CHECK(changes.empty());
  CHECK(Ask("good").ok());
  // Every five failures cost one more question.
  CHECK(hooks.requests().size() == 1 + 100 + 20 + 1);
}

TEST_CASE_METHOD(Fixture, "a cluster's only object suspends a hook that does not answer it") {
  REQUIRE(Ask("o").ok());
  hooks.Set(kRefused);
  for (int i = 0; i < 5; ++i) CHECK_FALSE(Ask("o").ok());
  CHECK(changes == std::vector<std::string>{"c/w open"});
}

TEST_CASE_METHOD(Fixture, "a suspended hook is probed in time, with no call of an object") {
  CHECK(backend.NextProbe() == base::SteadyTime::InfiniteFuture());
  Open();
  CHECK(backend.NextProbe() == clock.SteadyNow() + absl::Seconds(5));
  backend.Probe({});  // No probe is due.
  CHECK(hooks.requests().size() == 5);
  for (const int seconds : {5, 10, 20}) {
    clock.Advance(absl::Seconds(seconds));
    const size_t asked = hooks.requests().size();
    backend.Probe({});
    CHECK(hooks.requests().size() == asked + 1);
    CHECK(backend.NextProbe() == clock.SteadyNow() + absl::Seconds(2 * seconds));
  }
  hooks.Set(kHealthy);
  clock.Advance(absl::Seconds(40));
  backend.Probe({});
  CHECK(changes.back() == "c/w closed Workload InterpretHealth");
  CHECK(backend.NextProbe() == base::SteadyTime::InfiniteFuture());
  CHECK(Ask("o").ok());
}

TEST_CASE_METHOD(Fixture, "a probe that is stopped ends, and the hook stays suspended") {
  Open();
  clock.Advance(absl::Seconds(5));
  base::StopSource stop;
  hooks.Set([&](const kube::HttpRequest&) -> absl::StatusOr<kube::HttpResponse> {
    stop.request_stop();
    return absl::CancelledError("stopped");
  });
  backend.Probe(stop.get_token());
  CHECK(IsSuspended());
  CHECK_THAT(std::string(Ask("o").message()), Catch::EndsWith("connection refused"));
}

TEST_CASE_METHOD(Fixture, "probes ask in turns what was answered before and what was not") {
  REQUIRE(Ask("good").ok());
  hooks.Set(kRefused);
  for (const char* name : {"bad1", "bad2", "bad1", "bad2", "bad1"}) CHECK_FALSE(Ask(name).ok());
  REQUIRE(changes.size() == 1);
  CHECK_FALSE(Ask("refused").ok());
  const size_t before = hooks.requests().size();
  for (int i = 0; i < 5; ++i) {
    clock.Advance(absl::Seconds(60));
    backend.Probe({});
  }
  std::vector<std::string> asked;
  const auto requests = hooks.requests();
  for (size_t i = before; i < requests.size(); ++i) asked.push_back(NameIn(requests[i]));
  CHECK(asked == std::vector<std::string>{"good", "refused", "good", "bad2", "good"});
}

TEST_CASE_METHOD(Fixture, "an object that breaks its hook does not keep the hook suspended") {
  // No question was ever answered, so half a minute of failures suspends the hook.
  hooks.Set(BadIf(kRefused, kHealthy));
  for (int i = 0; i < 31; ++i) {
    CHECK_FALSE(Ask("bad").ok());
    clock.Advance(absl::Seconds(1));
  }
  REQUIRE(changes.size() == 1);
  while (backend.NextProbe() <= clock.SteadyNow()) backend.Probe({});
  CHECK_FALSE(Ask("good").ok());  // Refused, but the next probe asks about it.
  clock.Advance(absl::Seconds(60));
  backend.Probe({});
  CHECK(changes.size() == 2);
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(Ask("bad").ok());
    clock.Advance(absl::Seconds(1));
  }
  CHECK(changes.size() == 2);
}

TEST_CASE_METHOD(Fixture,
                 "a proxy's page is no sign that a hook is back, and is reported as it is") {
  Open();
  hooks.Set(tests::Http(200, "<html>"));
  clock.Advance(absl::Seconds(5));
  backend.Probe({});
  CHECK(changes.size() == 1);
  CHECK_THAT(std::string(Ask("o").message()), Catch::Contains("the body is not JSON"));
  CHECK(backend.NextProbe() == clock.SteadyNow() + absl::Seconds(5));
}

TEST_CASE_METHOD(Fixture,
                 "what is looked at again is what went unanswered, by kind and operation") {
  hooks.Set(kRefused);
  for (int i = 0; i < 5; ++i) CHECK_FALSE(Ask(absl::StrCat("o", i)).ok());
  CHECK_FALSE(backend.GetReplicas(Named("refused")).ok());
  hooks.Set(kHealthy);
  clock.Advance(absl::Seconds(5));
  REQUIRE(Ask("o").ok());
  CHECK(changes.back() == "c/w closed Workload InterpretReplica Workload InterpretHealth");
}

TEST_CASE_METHOD(Fixture, "hooks of both dialects with the same names have series of their own") {
  const Hook hook = WorkloadHook(), exploring = WorkloadHook("c/w", Dialect::kExploreReview);
  backend.Replace(SetOf({hook, exploring}));
  const auto open = [](const char* dialect) {
    return absl::StrCat("webhook_open{dialect=\"", dialect, "\",hook=\"c/w\"} 0");
  };
  CHECK_THAT(registry.Expose(), Catch::Contains(open("ResourceInterpreterContext")) &&
                                    Catch::Contains(open("ExploreReview")));
  backend.Replace(SetOf({exploring}));
  CHECK_THAT(registry.Expose(), !Catch::Contains(open("ResourceInterpreterContext")) &&
                                    Catch::Contains(open("ExploreReview")));
}

// A hook whose failures are ignored, and a layer behind it that calls everything healthy.
struct Lenient : Fixture {
  Lenient() {
    Hook hook = WorkloadHook();
    hook.ignores_failures = true;
    backend.Replace(SetOf({hook}));
  }
  std::vector<std::string> Probed(int times, absl::Duration pause) {
    const size_t before = hooks.requests().size();
    for (int i = 0; i < times; ++i) {
      clock.Advance(pause);
      backend.Probe({});
    }
    std::vector<std::string> names;
    const auto requests = hooks.requests();
    for (size_t i = before; i < requests.size(); ++i) names.push_back(NameIn(requests[i]));
    return names;
  }
};

TEST_CASE_METHOD(Lenient, "a single ignored failure is asked again, and heals") {
  hooks.Set(GENERATE(values<tests::ScriptedHooks::Answer>(
      {kRefused, tests::Http(500, ""), tests::Http(404, ""), tests::Http(200, "<html>"),
       tests::Responding(R"({"successful":false,"status":{"code":500}})")})));
  REQUIRE(interpreter::IsPassOn(Ask("o")));
  CHECK(probes_wanted == 1);
  CHECK(backend.NextProbe() == clock.SteadyNow() + absl::Seconds(5));
  CHECK(Probed(1, absl::Seconds(5)) == std::vector<std::string>{"o"});
  CHECK(changes.empty());
  CHECK(backend.NextProbe() == clock.SteadyNow() + absl::Seconds(10));
  hooks.Set(kHealthy);
  CHECK(Probed(1, absl::Seconds(10)) == std::vector<std::string>{"o"});
  CHECK(changes == std::vector<std::string>{"c/w waits 1"});
  CHECK(backend.NextProbe() == base::SteadyTime::InfiniteFuture());
}

TEST_CASE_METHOD(Lenient,
                 "an object that its hook never answers has the others looked at no more") {
  hooks.Set(BadIf(kRefused, kHealthy));
  REQUIRE(interpreter::IsPassOn(Ask("bad")));
  for (int i = 0; i < 100; ++i) CHECK(Ask("good").ok());
  const auto probed = Probed(60, absl::Minutes(1));  // One hour.
  CHECK(changes.empty());
  CHECK(probed.size() < 20);
  CHECK(backend.NextProbe() <= clock.SteadyNow() + absl::Minutes(5));
}

TEST_CASE_METHOD(Lenient,
                 "behind a question that fails for ever the others still have their turn") {
  hooks.Set(kRefused);
  REQUIRE(interpreter::IsPassOn(Ask("bad")));
  REQUIRE(interpreter::IsPassOn(Ask("o")));
  hooks.Set(BadIf(kRefused, kHealthy));
  CHECK(Probed(2, absl::Minutes(5)) == std::vector<std::string>{"bad", "o"});
  CHECK(changes == std::vector<std::string>{"c/w waits 1"});
  // Everything is looked at again, and the bad object fails again: the next pause is longer.
  REQUIRE(interpreter::IsPassOn(Ask("bad")));
  CHECK(backend.NextProbe() > clock.SteadyNow() + absl::Seconds(5));
}

TEST_CASE_METHOD(Lenient, "an object that is answered in its own time heals the others at once") {
  hooks.Set(kRefused);
  REQUIRE(interpreter::IsPassOn(Ask("o")));
  hooks.Set(kHealthy);
  REQUIRE(Ask("another").ok());
  CHECK(backend.NextProbe() == clock.SteadyNow() + absl::Seconds(5));
  REQUIRE(Ask("o").ok());
  CHECK(backend.NextProbe() == clock.SteadyNow());
  backend.Probe({});
  CHECK(changes == std::vector<std::string>{"c/w waits 1"});
}

TEST_CASE_METHOD(Lenient, "what was ignored before a suspension is looked at after it, too") {
  hooks.Set(kRefused);
  for (int i = 0; i < 5; ++i) REQUIRE(interpreter::IsPassOn(Ask(absl::StrCat("o", i))));
  CHECK(changes == std::vector<std::string>{"c/w open"});
  REQUIRE(interpreter::IsPassOn(backend.GetReplicas(Named("o")).status()));
  CHECK(backend.NextProbe() == clock.SteadyNow() + absl::Seconds(5));
  hooks.Set(kHealthy);
  Probed(1, absl::Seconds(5));
  CHECK(changes ==
        std::vector<std::string>{"c/w open", "c/w waits 2",
                                 "c/w closed Workload InterpretReplica Workload InterpretHealth"});
}

TEST_CASE_METHOD(Fixture, "a changed CA, timeout or policy has only what waits looked at again") {
  hooks.Set(kRefused);
  REQUIRE_FALSE(Ask("o").ok());
  Hook changed = WorkloadHook();
  changed.client.ca_pem = "another";
  backend.Replace(SetOf({changed}));
  CHECK(changes == std::vector<std::string>{"c/w waits 1"});
  hooks.Set(kHealthy);
  REQUIRE(Ask("o").ok());
  changed.timeout = absl::Seconds(3);
  backend.Replace(SetOf({changed}));
  CHECK(changes.size() == 1);  // No question waits any more.
}

TEST_CASE_METHOD(Fixture, "a suspended hook that is changed is reported as called again") {
  Open();
  Hook changed = WorkloadHook();
  changed.client.server = "https://elsewhere.example";
  backend.Replace(SetOf({changed}));
  REQUIRE(changes.size() >= 2);
  CHECK(changes.at(1) == "c/w closed");
  changes.clear();
  hooks.Set(kHealthy);
  CHECK(Ask("o").ok());
  changed.timeout = absl::Seconds(3);
  backend.Replace(SetOf({changed}));  // Its calls are not suspended any more.
  CHECK(changes.empty());
}

TEST_CASE_METHOD(Fixture, "a hook that becomes usable has what it could not be asked looked at") {
  Hook unusable = WorkloadHook();
  unusable.unusable = absl::InvalidArgumentError("could not get REST client: no");
  backend.Replace(SetOf({unusable}));
  REQUIRE_FALSE(Ask("o").ok());
  backend.Replace(SetOf({WorkloadHook()}));
  CHECK(changes == std::vector<std::string>{"c/w waits 1"});
}

TEST_CASE_METHOD(Fixture, "a changed Service has what waits for the hooks behind it looked at") {
  Hook hook = WorkloadHook();
  hook.client.server = "";
  hook.client.service = interpreter::webhook::ServiceReference{.ns = "ns", .name = "svc"};
  backend.Replace(SetOf({hook}));
  hooks.Set(kRefused);
  REQUIRE_FALSE(Ask("o").ok());
  backend.ServiceChanged({"ns", "another"});
  CHECK(changes.empty());
  backend.ServiceChanged({"ns", "svc"});
  CHECK(changes == std::vector<std::string>{"c/w waits 1"});
  backend.ServiceChanged({"ns", "svc"});
  CHECK(changes.size() == 1);
}

// A hook that has never answered has no other probes than the questions that wait for it.
struct TakenFixture : Fixture {
  TakenFixture() {
    Hook hook = WorkloadHook();
    hook.client.server = "";
    hook.client.service = interpreter::webhook::ServiceReference{.ns = "ns", .name = "svc"};
    backend.Replace(SetOf({hook}));
    Open();
    backend.ServiceChanged({"ns", "svc"});
    REQUIRE(changes.back() == "c/w waits 1");
    hooks.Set(kHealthy);
  }
  // Probes when it is time to; returns whether the hook's calls are suspended afterwards.
  bool ProbeLeavesItOpen() {
    clock.Advance(absl::Seconds(60));
    backend.Probe({});
    return changes.back() != "c/w closed Workload InterpretHealth";
  }
};

TEST_CASE_METHOD(TakenFixture, "a question that is refused after a changed Service is the probe") {
  // What waited is looked at again; the pause is not over yet.
  REQUIRE(absl::StrContains(Ask("o1").message(), "calls are suspended"));
  CHECK_FALSE(ProbeLeavesItOpen());
  CHECK(Ask("o1").ok());
}

TEST_CASE_METHOD(TakenFixture,
                 "a probe with nothing to ask keeps no later question from the hook") {
  CHECK(ProbeLeavesItOpen());  // The objects that waited were deleted, for example.
  SECTION("which becomes the probe itself when the pause is over") {
    clock.Advance(absl::Seconds(60));
    CHECK(Ask("new").ok());
    CHECK(changes.back() == "c/w closed");
  }
  SECTION("which is asked by the next probe when it came during the pause") {
    REQUIRE(absl::StrContains(Ask("new").message(), "calls are suspended"));
    CHECK_FALSE(ProbeLeavesItOpen());
    CHECK(Ask("new").ok());
  }
}
