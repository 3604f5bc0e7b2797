// The layer as the chain sees it: which hook is asked, what errors contain, what is counted.
#include "interpreter/webhook/webhook_backend.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "interpreter/webhook/failure.h"
#include "tests/interpreter/webhook/hooks.h"
#include "tests/interpreter/webhook/scripted_hooks.h"
#include "tests/support/fake_clock.h"

namespace {

using interpreter::IsPassOn;
using interpreter::webhook::BreakerChange;
using interpreter::webhook::CallRecord;
using interpreter::webhook::Dialect;
using interpreter::webhook::Hook;
using interpreter::webhook::WebhookBackend;
using tests::Json;
using tests::kWorkload;
using tests::Operation;
using tests::SetOf;
using tests::Workload;
using tests::WorkloadHook;

struct Fixture {
  tests::FakeClock clock;
  metrics::Registry registry;
  base::StopSource stop;
  tests::ScriptedHooks hooks{tests::Responding(R"({"healthy":true})")};
  std::vector<std::string> changes;
  int objects = 0;
  std::unique_ptr<WebhookBackend> backend =
      std::make_unique<WebhookBackend>(interpreter::webhook::WebhookBackendOptions{
          .client = {.transport = hooks.Factory(), .stop = stop.get_token()},
          .clock = &clock,
          .monitor = {.metrics = &registry,
                      .on_breaker_change = [this](const Hook& hook, const BreakerChange& change,
                                                  const auto&) {
                        changes.push_back(absl::StrCat(
                            hook.uid, change.open ? " open: " : " closed: ", change.reason));
                      }}});

  // Returns an object that was not asked about yet: only failures with several objects show that a
  // hook is down.
  kube::Object Another() {
    kube::Object object = Workload();
    object.Set({"metadata", "name"}, absl::StrCat("web", ++objects));
    return object;
  }
  std::string HealthError() {
    return std::string(backend->InterpretHealth(Another()).status().message());
  }
  absl::StatusOr<kube::Object> ReviseWith(const std::string& patch) {
    hooks.Set(tests::Responding(
        absl::StrCat(R"({"patchType":"JSONPatch","patch":")", absl::Base64Escape(patch), R"("})")));
    return backend->ReviseReplica(Workload(), 3);
  }
};

// Has an answer for every question about health.
class Fallback : public WebhookBackend {
 public:
  explicit Fallback(bool healthy) : WebhookBackend({}), healthy_(healthy) {}
  bool Has(const kube::Gvk&, Operation op) const override {
    return op == Operation::kInterpretHealth;
  }
  absl::StatusOr<interpreter::Answer> Ask(const interpreter::Question&) const override {
    return interpreter::Health(healthy_);
  }

 private:
  const bool healthy_;
};

constexpr char kFailed[] = R"(Internal error occurred: failed calling webhook "c/w": )";

}  // namespace

TEST_CASE_METHOD(Fixture, "before the first configuration there are no rules, and calls fail") {
  CHECK_FALSE(backend->Has(kWorkload, Operation::kInterpretHealth));
  CHECK(backend->RuleOf(kWorkload, Operation::kInterpretHealth).empty());
  const absl::Status status = backend->InterpretHealth(Workload()).status();
  CHECK(status.message() == "not yet ready to handle request");
  CHECK_FALSE(IsPassOn(status));
  CHECK(hooks.requests().empty());
}

TEST_CASE_METHOD(Fixture, "a matching hook is asked, and named as the rule") {
  backend->Replace(SetOf({WorkloadHook("z/z"), WorkloadHook()}));
  CHECK(backend->layer() == "webhook");
  CHECK(backend->Has(kWorkload, Operation::kInterpretHealth));
  CHECK(backend->RuleOf(kWorkload, Operation::kInterpretHealth) == "c/w");
  CHECK_FALSE(backend->Has({"", "v1", "Pod"}, Operation::kInterpretHealth));
  CHECK(backend->InterpretHealth(Workload()).value());
  CHECK(hooks.requests().size() == 1);
}

TEST_CASE_METHOD(Fixture, "every call has a uid of its own") {
  backend->Replace(SetOf({WorkloadHook()}));
  for (int i = 0; i < 2; ++i) REQUIRE(backend->InterpretHealth(Workload()).ok());
  const auto uid = [&](size_t i) {
    return Json(hooks.requests()[i].body).Get({"request", "uid"}).ToString();
  };
  CHECK(uid(0).size() == 36);
  CHECK(uid(0) != uid(1));
}

TEST_CASE_METHOD(Fixture, "a rule that went away after it was asked for is passed on") {
  backend->Replace(SetOf({}));
  CHECK(IsPassOn(backend->InterpretHealth(Workload()).status()));
}

TEST_CASE_METHOD(Fixture, "patches are applied to the object that was sent") {
  backend->Replace(SetOf({WorkloadHook()}));
  const kube::Object revised =
      ReviseWith(R"([{"op":"replace","path":"/spec/replicas","value":3}])").value();
  CHECK(revised == Workload(3));
  for (const char* nothing : {"[]", R"([{"op":"replace","path":"/spec/replicas","value":2}])"}) {
    CHECK(ReviseWith(nothing).value() == Workload());
  }
  hooks.Set(tests::Responding("{}"));
  const kube::Object object = Workload();
  CHECK(backend->AggregateStatus(object, nullptr)->root().SharesWith(object.root()));
}

TEST_CASE_METHOD(Fixture, "a patch that does not fit is an error that names the hook") {
  backend->Replace(SetOf({WorkloadHook()}));
  for (const char* patch :
       {R"([{"op":"remove","path":"/spec/no"}])", R"([{"op":"test","path":"/kind","value":"X"}])",
        R"([{"op":"replace","path":"/a/b","value":1}])", R"([{"op":"explode","path":"/a"}])",
        R"([3])", R"({"spec":1})", R"([{"op":"add","path":"","value":3}])", "no"}) {
    CAPTURE(patch);
    const absl::Status status = ReviseWith(patch).status();
    CHECK_FALSE(status.ok());
    CHECK_THAT(std::string(status.message()), Catch::StartsWith(R"(webhook "c/w": )"));
  }
  CHECK_THAT(
      registry.Expose(),
      Catch::Contains(
          R"(karmada_interpreter_webhook_failures_total{dialect="ResourceInterpreterContext",hook="c/w",reason="patch"} 8)"));
}

TEST_CASE_METHOD(Fixture, "a patch that moves a large value again and again is refused") {
  backend->Replace(SetOf({WorkloadHook()}));
  kube::Object large = Workload();
  json::Value list = json::Value::Array();
  for (int i = 0; i < 100000; ++i) list.Append(i);
  large.Set({"spec", "list"}, list);
  const auto change = [&](const std::string& operations, int times) {
    std::string patch = operations;
    for (int i = 1; i < times; ++i) absl::StrAppend(&patch, ",", operations);
    hooks.Set(tests::Responding(absl::StrCat(R"({"patchType":"JSONPatch","patch":")",
                                             absl::Base64Escape(absl::StrCat("[", patch, "]")),
                                             R"("})")));
    return backend->ReviseReplica(large, 3);
  };
  const std::string moves =
      R"({"op":"move","from":"/spec","path":"/s"},{"op":"move","from":"/s","path":"/spec"})";
  const std::string shifts =
      R"({"op":"add","path":"/spec/list/0","value":1},{"op":"remove","path":"/spec/list/0"})";
  for (const std::string& operations : {moves, shifts}) {
    CHECK(change(operations, 10).value() == large);
    CHECK_THAT(std::string(change(operations, 10000).status().message()),
               Catch::StartsWith(R"(webhook "c/w": )") && Catch::Contains("too much work"));
  }
}

TEST_CASE_METHOD(Fixture, "an exploring hook may answer an aggregation with the whole status") {
  backend->Replace(SetOf({WorkloadHook("c/w", Dialect::kExploreReview)}));
  hooks.Set(tests::Responding(R"({"status":{"ready":3}})"));
  const auto aggregated = backend->AggregateStatus(Workload(), nullptr);
  REQUIRE(aggregated.ok());
  CHECK(aggregated->status() == Json(R"({"ready":3})"));
  CHECK(aggregated->spec() == Workload().spec());
}

TEST_CASE_METHOD(Fixture, "errors name the hook, as upstream's do") {
  backend->Replace(SetOf({WorkloadHook()}));
  hooks.Set(tests::Http(500, "oops"));
  CHECK(HealthError() ==
        absl::StrCat(kFailed,
                     "failed to call webhook: an error on the server (\"oops\") has "
                     "prevented the request from succeeding"));
  hooks.Set(tests::Responding(R"({"successful":false,"status":{"code":403,"message":"no"}})"));
  CHECK(HealthError() ==
        absl::StrCat(kFailed, "webhook call failed, get status code: 403, msg: no"));
  hooks.Set(tests::Responding("{}"));
  CHECK(HealthError() == absl::StrCat(kFailed,
                                      "received invalid webhook response: webhook returned "
                                      "nil response.healthy"));
}

TEST_CASE("whoever asks is notified of every call: hook, operation, time and outcome") {
  tests::FakeClock clock;
  tests::ScriptedHooks hooks([&](const kube::HttpRequest& request) {
    clock.Advance(absl::Milliseconds(30));
    return tests::Responding(R"({"healthy":true})")(request);
  });
  std::vector<std::string> calls;
  WebhookBackend backend(
      {.client = {.transport = hooks.Factory()},
       .clock = &clock,
       .monitor = {.on_call = [&](const CallRecord& call, const absl::Status& status) {
         calls.push_back(absl::StrCat(call.hook.uid, " ", interpreter::OperationName(call.op), " ",
                                      absl::FormatDuration(call.took), " ", status.message()));
       }}});
  backend.Replace(SetOf({WorkloadHook()}));
  REQUIRE(backend.InterpretHealth(Workload()).ok());
  hooks.Set(tests::Failing(absl::UnavailableError("down")));
  REQUIRE_FALSE(backend.ReflectStatus(Workload()).ok());
  CHECK(calls == std::vector<std::string>{"c/w InterpretHealth 30ms ",
                                          "c/w InterpretStatus 0 failed to call webhook: down"});
}

TEST_CASE_METHOD(Fixture, "an unusable hook fails without being called") {
  Hook hook = WorkloadHook();
  hook.unusable = absl::FailedPreconditionError("could not get REST client: no");
  backend->Replace(SetOf({hook}));
  for (int i = 0; i < 10; ++i) {
    CHECK(HealthError() == absl::StrCat(kFailed, "could not get REST client: no"));
  }
  CHECK(hooks.requests().empty());
  CHECK(changes.empty());
}

TEST_CASE_METHOD(Fixture,
                 "a hook that ignores failures passes on, but not at the end of the program") {
  Hook hook = WorkloadHook();
  hook.ignores_failures = true;
  backend->Replace(SetOf({hook}));
  hooks.Set(tests::Http(500, "oops"));
  const absl::Status ignored = backend->InterpretHealth(Workload()).status();
  CHECK(IsPassOn(ignored));
  CHECK_THAT(std::string(ignored.message()), Catch::Contains("oops"));
  stop.request_stop();
  const absl::Status stopped = backend->InterpretHealth(Workload()).status();
  CHECK(absl::IsCancelled(stopped));
  CHECK_FALSE(IsPassOn(stopped));
}

TEST_CASE_METHOD(Fixture, "in the chain an ignored failure lets the next layer answer") {
  Hook hook = WorkloadHook();
  hooks.Set(tests::Http(500, "oops"));
  WebhookBackend& webhooks = *backend;
  std::vector<std::unique_ptr<interpreter::Backend>> layers;
  layers.push_back(std::move(backend));
  layers.push_back(std::make_unique<Fallback>(true));
  const auto chain = interpreter::NewChain(std::move(layers));
  webhooks.Replace(SetOf({hook}));
  CHECK_FALSE(chain->InterpretHealth(Workload()).ok());
  hook.ignores_failures = true;
  webhooks.Replace(SetOf({hook}));
  CHECK(chain->InterpretHealth(Workload()).value());
}

TEST_CASE_METHOD(Fixture, "a hook that is down is left alone, and this is reported once") {
  backend->Replace(SetOf({WorkloadHook()}));
  hooks.Set(tests::Failing(absl::UnavailableError("cannot connect")));
  for (int i = 0; i < 5; ++i) CHECK_FALSE(HealthError().empty());
  CHECK(hooks.requests().size() == 5);
  const absl::Status suspended = backend->InterpretHealth(Workload()).status();
  CHECK(absl::IsUnavailable(suspended));
  CHECK(suspended.message() == absl::StrCat(kFailed,
                                            "calls are suspended since 2023-11-14T22:13:20Z: ",
                                            "failed to call webhook: cannot connect"));
  CHECK(hooks.requests().size() == 5);
  CHECK(changes == std::vector<std::string>{"c/w open: failed to call webhook: cannot connect"});
  CHECK_THAT(
      registry.Expose(),
      Catch::Contains(
          R"(karmada_interpreter_webhook_open{dialect="ResourceInterpreterContext",hook="c/w"} 1)") &&
          Catch::Contains(
              R"(failures_total{dialect="ResourceInterpreterContext",hook="c/w",reason="connection"} 5)") &&
          Catch::Contains(
              R"(failures_total{dialect="ResourceInterpreterContext",hook="c/w",reason="suspended"} 1)"));

  hooks.Set(tests::Responding(R"({"healthy":true})"));
  clock.Advance(absl::Seconds(5));
  CHECK(backend->InterpretHealth(Workload()).value());
  CHECK(changes.size() == 2);
  CHECK_THAT(
      registry.Expose(),
      Catch::Contains(
          R"(karmada_interpreter_webhook_open{dialect="ResourceInterpreterContext",hook="c/w"} 0)") &&
          Catch::Contains(
              R"(duration_seconds_count{dialect="ResourceInterpreterContext",hook="c/w",operation="InterpretHealth",result="error"} 5)") &&
          Catch::Contains(
              R"(duration_seconds_count{dialect="ResourceInterpreterContext",hook="c/w",operation="InterpretHealth",result="success"} 1)"));
}

TEST_CASE_METHOD(Fixture, "refusals and bad patches do not suspend a hook that answers") {
  backend->Replace(SetOf({WorkloadHook()}));
  hooks.Set(tests::Responding(R"({"successful":false,"status":{"code":403,"message":"no"}})"));
  for (int i = 0; i < 10; ++i) CHECK_FALSE(HealthError().empty());
  for (int i = 0; i < 10; ++i) CHECK_FALSE(ReviseWith("[3]").ok());
  CHECK(hooks.requests().size() == 20);
}

TEST_CASE_METHOD(Fixture, "one hook that is down does not suspend another") {
  Hook other = WorkloadHook("a/other");
  other.client.server = "https://other.example";
  other.rules[0].operations = {Operation::kInterpretStatus};
  backend->Replace(SetOf({other, WorkloadHook()}));
  hooks.Set(tests::Http(500, ""));
  for (int i = 0; i < 6; ++i) CHECK_FALSE(backend->ReflectStatus(Another()).ok());
  hooks.Set(tests::Responding(R"({"healthy":true})"));
  CHECK(backend->InterpretHealth(Workload()).value());
  CHECK_FALSE(backend->ReflectStatus(Workload()).ok());
}

TEST_CASE_METHOD(Fixture, "a new configuration keeps what is known of equal hooks only") {
  backend->Replace(SetOf({WorkloadHook()}));
  hooks.Set(tests::Failing(absl::UnavailableError("cannot connect")));
  for (int i = 0; i < 5; ++i) CHECK_FALSE(HealthError().empty());
  backend->Replace(SetOf({WorkloadHook(), WorkloadHook("z/z")}));
  CHECK_THAT(HealthError(), Catch::Contains("calls are suspended"));
  Hook corrected = WorkloadHook();
  corrected.client.server = "https://other.example";
  backend->Replace(SetOf({corrected}));
  CHECK_THAT(HealthError(), !Catch::Contains("calls are suspended"));
  CHECK_THAT(
      registry.Expose(),
      Catch::Contains(
          R"(karmada_interpreter_webhook_open{dialect="ResourceInterpreterContext",hook="c/w"} 0)"));
  backend->Replace(SetOf({}));
  CHECK_THAT(registry.Expose(), !Catch::Contains(R"(hook="c/w")"));
}

TEST_CASE_METHOD(Fixture, "a call under way ends with the configuration it began with") {
  backend->Replace(SetOf({WorkloadHook()}));
  const auto answer = tests::Responding(R"({"healthy":true})");
  hooks.Set([&](const kube::HttpRequest& request) {
    backend->Replace(SetOf({}));
    return answer(request);
  });
  CHECK(backend->InterpretHealth(Workload()).value());
  CHECK_THAT(registry.Expose(), !Catch::Contains(R"(hook="c/w")"));
}

TEST_CASE_METHOD(Fixture, "configurations may change while calls are made") {
  const auto set = SetOf({WorkloadHook()});
  backend->Replace(set);
  std::atomic<int> wrong = 0, running = 2;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      for (int n = 0; n < 300; ++n) {
        const auto healthy = backend->InterpretHealth(Workload());
        if (healthy.ok() ? !*healthy : !IsPassOn(healthy.status())) ++wrong;
      }
      --running;
    });
  }
  while (running > 0) {
    backend->Replace(SetOf({}));
    backend->Replace(SetOf({WorkloadHook(), WorkloadHook("z/z")}));
    CHECK_FALSE(registry.Expose().empty());
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
  backend->Replace(set);
  CHECK(backend->hooks() == set);
}
