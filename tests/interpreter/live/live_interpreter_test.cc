#include "interpreter/live/live_interpreter.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "interpreter/rule_changes.h"
#include "tests/interpreter/webhook/scripted_hooks.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"
#include "tests/support/recording_events.h"

namespace {

using interpreter::Operation;
using tests::Eventually;

const kube::Gvk kWidget{"example.io", "v1", "Widget"};
const kube::Resource kWidgets{kWidget, "widgets", /*namespaced=*/true};

kube::Object Customization(const std::string& name, const std::string& healthy) {
  kube::Object object = kube::Object::Make(api::InterpreterCustomizations().gvk, {"", name});
  object.Set({"spec", "target"},
             json::Value::Object({{"apiVersion", "example.io/v1"}, {"kind", "Widget"}}));
  object.Set({"spec", "customizations", "healthInterpretation", "luaScript"},
             absl::StrCat("function InterpretHealth(obj) return ", healthy, " end"));
  return object;
}

kube::Object Asking(const std::string& name, const std::string& operation) {
  kube::Object object = kube::Object::Make(api::InterpreterWebhookConfigurations().gvk, {"", name});
  object.Set(
      {"webhooks"},
      json::Value::Array({tests::Json(absl::StrCat(R"({
      "name": "widgets.example.com",
      "clientConfig": {"url": "https://hook.example"},
      "interpreterContextVersions": ["v1alpha1"],
      "rules": [{"operations": [")",
                                                   operation, R"("], "apiGroups": ["example.io"],
                 "apiVersions": ["v1"], "kinds": ["Widget"]}]})"))}));
  return object;
}

// Returns a configuration with a rule about a resource of example.io.
kube::Object Exploring(const std::string& resource) {
  kube::Object object = kube::Object::Make(api::ExploringWebhookConfigurations().gvk, {"", "e"});
  object.Set({"webhooks"}, json::Value::Array({tests::Json(absl::StrCat(R"({
      "name": "explored.example.com",
      "clientConfig": {"url": "https://hook.example"},
      "exploreReviewVersions": ["v1alpha1"],
      "rules": [{"operations": ["*"], "apiGroups": ["example.io"],
                 "apiVersions": ["v1"], "resources": [")",
                                                                        resource, R"("]}]})"))}));
  return object;
}

struct Fixture : tests::ManagerFixture {
  tests::RecordingEvents* recorded = nullptr;  // Records all events.
  tests::ScriptedHooks hooks{tests::Failing(absl::UnavailableError("connection refused"))};
  std::optional<interpreter::live::LiveInterpreter> live;
  interpreter::RequirementRules requirements;
  interpreter::customized::MergeOptions merge;

  Fixture() {
    auto recording = std::make_unique<tests::RecordingEvents>();
    recorded = recording.get();
    events = std::move(recording);
    server->Serve({kWidgets});
  }
  ~Fixture() override {
    base::IgnoreError(Finish(), "the test has looked at what matters to it");
    live.reset();
  }
  // Starts a daemon. It knows what is on the server once it has loaded, and later changes some time
  // after they were made.
  void Begin() {
    live.emplace(Make(), interpreter::live::LiveOptions{.requirements = requirements,
                                                        .merge = merge,
                                                        .hook_transport = hooks.Factory()});
  }
  absl::Status Load() {
    Begin();
    return live->Load({});
  }
  const interpreter::Interpreter& interpreter() const { return live->interpreter(); }
  absl::StatusOr<bool> Health(const std::string& name = "w") const {
    const auto health = interpreter().InterpretHealth(kube::Object::Make(kWidget, {"ns", name}));
    if (!health.ok()) return health.status();
    return health->healthy;
  }
  // Asks about objects until the hook, which must be down, is suspended.
  void Suspend() {
    for (int i = 0; i < 5; ++i) CHECK_FALSE(Health(absl::StrCat("w", i)).ok());
    CHECK_THAT(std::string(Health().status().message()), Catch::Contains("calls are suspended"));
  }
  // What changes while nobody leads is published to nobody.
  void Lead() {
    Start();
    REQUIRE(Eventually([&] { return manager->IsLeader(); }));
  }
  // Changes are loaded a little after they came: once the clock has moved.
  bool EventuallyAfterSettling(const std::function<bool()>& condition) {
    return Eventually([&] {
      clock.Advance(absl::Seconds(1));
      return condition();
    });
  }
};

TEST_CASE_METHOD(Fixture, "what users customized is known before the loops start") {
  server->Put(api::InterpreterCustomizations(), Customization("widgets", "false"));
  Begin();
  CHECK_FALSE(Health().ok());  // Nothing is loaded yet: no answer is better than a wrong one.
  REQUIRE(live->Load({}).ok());
  CHECK(Health().value() == false);
  CHECK(interpreter().RulesFor(kWidget, Operation::kInterpretHealth).at(0).name == "widgets");
}

TEST_CASE_METHOD(Fixture, "without customizations the shipped ones and the built-in ones answer") {
  REQUIRE(Load().ok());
  CHECK(absl::IsUnimplemented(Health().status()));
  CHECK(interpreter().HasRule({"apps", "v1", "Deployment"}, Operation::kInterpretHealth));
}

TEST_CASE_METHOD(Fixture, "a pod's priority class is reported when that is asked for") {
  const auto asked = [&](const char* kind, const char* api_version) {
    kube::Object object(tests::Json(R"({"spec":{"replicas":1,"template":{"spec":{
        "nodeSelector":{"disk":"ssd"},"priorityClassName":"high"}}}})"));
    object.Set({"apiVersion"}, api_version);
    object.Set({"kind"}, kind);
    return interpreter().GetReplicas(object).value().requirements["priorityClassName"];
  };
  requirements.priority_class = true;
  REQUIRE(Load().ok());
  CHECK(asked("Deployment", "apps/v1").AsString() == "high");                // A built-in rule.
  CHECK(asked("CloneSet", "apps.kruise.io/v1alpha1").AsString() == "high");  // A shipped script.
}

TEST_CASE_METHOD(Fixture, "a changed customization answers again and reports what it touches") {
  server->Put(api::InterpreterCustomizations(), Customization("widgets", "false"));
  REQUIRE(Load().ok());
  std::atomic<int> health = 0, other = 0;
  interpreter().rule_changes().Subscribe([&](const interpreter::RuleChange& change) {
    if (change(kWidget, Operation::kInterpretHealth)) ++health;
    if (change(kWidget, Operation::kRetain)) ++other;
    if (change({"apps", "v1", "Deployment"}, Operation::kInterpretHealth)) ++other;
  });
  Lead();
  server->Put(api::InterpreterCustomizations(), Customization("widgets", "true"));
  REQUIRE(EventuallyAfterSettling([&] { return health == 1; }));
  CHECK(Health().value() == true);

  server->Erase(api::InterpreterCustomizations(), {"", "widgets"});
  REQUIRE(EventuallyAfterSettling([&] { return health == 2; }));
  CHECK(absl::IsUnimplemented(Health().status()));
  CHECK(other == 0);
}

TEST_CASE_METHOD(Fixture, "a stand-by follows changes and has nothing looked at because of them") {
  options.leader_elect = true;
  options.lease_duration = absl::Hours(10);
  const kube::Resource leases{{"coordination.k8s.io", "v1", "Lease"}, "leases", true};
  kube::Object lease = kube::Object::Make(leases.gvk, {"leases", "the-lease"});
  lease.Set({"spec"}, tests::Json(R"({"holderIdentity": "other", "leaseDurationSeconds": 36000,
                                      "renewTime": "2026-01-01T00:00:00.000000Z"})"));
  server->Put(leases, lease);
  server->Put(api::InterpreterCustomizations(), Customization("widgets", "false"));
  REQUIRE(Load().ok());
  std::atomic<int> published = 0;
  interpreter().rule_changes().Subscribe([&](const interpreter::RuleChange&) { ++published; });
  Start();
  for (const bool healthy : {true, false}) {
    server->Put(api::InterpreterCustomizations(),
                Customization("widgets", healthy ? "true" : "false"));
    REQUIRE(EventuallyAfterSettling([&] { return Health().value() == healthy; }));
  }
  CHECK(published == 0);
  CHECK_FALSE(manager->IsLeader());
}

TEST_CASE_METHOD(Fixture, "a change that changes no rule touches nothing") {
  kube::Object widgets = Customization("widgets", "true");
  server->Put(api::InterpreterCustomizations(), widgets);
  REQUIRE(Load().ok());
  std::atomic<int> published = 0;
  interpreter().rule_changes().Subscribe([&](const interpreter::RuleChange&) { ++published; });
  Lead();
  widgets.SetLabel("team", "a");
  server->Put(api::InterpreterCustomizations(), widgets);
  server->Put(api::InterpreterCustomizations(), Customization("another", "false"));
  // Only one change is published: the new customization comes first by name, which is also reported
  // on the other one. The label changes no rule.
  REQUIRE(EventuallyAfterSettling([&] { return recorded->All().size() == 1 && published > 0; }));
  CHECK(published == 1);
}

TEST_CASE_METHOD(Fixture, "what is wrong with a customization is reported on it, and its repair") {
  server->Put(api::InterpreterCustomizations(), Customization("broken", "=="));
  REQUIRE(Load().ok());
  Lead();
  REQUIRE(EventuallyAfterSettling([&] { return !recorded->All().empty(); }));
  CHECK_THAT(recorded->All().at(0),
             Catch::StartsWith("Warning InvalidConfiguration ResourceInterpreterCustomization: "
                               "spec.customizations.healthInterpretation.luaScript"));
  CHECK(absl::StrContains(registry.Expose(),
                          "karmada_interpreter_configuration_problems{kind=\"ResourceInterpreter"
                          "Customization\",name=\"broken\"} 1"));
  server->Put(api::InterpreterCustomizations(), Customization("broken", "true"));
  REQUIRE(EventuallyAfterSettling([&] { return Health().ok(); }));
  REQUIRE(Eventually([&] { return recorded->All().size() == 2; }));
  CHECK_THAT(recorded->All().at(1),
             Catch::StartsWith("Normal ValidConfiguration ResourceInterpreterCustomization: "));
  CHECK(Eventually([&] { return absl::StrContains(registry.Expose(), "name=\"broken\"} 0"); }));
  server->Erase(api::InterpreterCustomizations(), {"", "broken"});
  CHECK(EventuallyAfterSettling(
      [&] { return !absl::StrContains(registry.Expose(), "name=\"broken\""); }));
}

TEST_CASE_METHOD(Fixture,
                 "a customization of a kind that is not served gets a warning, until it is") {
  const kube::Resource gadgets{{"example.io", "v1", "Gadget"}, "gadgets", /*namespaced=*/true};
  kube::Object early = Customization("early", "true");
  early.Set({"spec", "target", "kind"}, "Gadget");
  server->Put(api::InterpreterCustomizations(), early);
  REQUIRE(Load().ok());
  Lead();
  REQUIRE(EventuallyAfterSettling([&] { return !recorded->All().empty(); }));
  CHECK_THAT(recorded->All().at(0),
             Catch::StartsWith("Warning InvalidConfiguration ResourceInterpreterCustomization: "
                               "spec.target: the control plane does not serve example.io/v1 "
                               "Gadget; the customization has no effect until it does"));
  server->Serve({kWidgets, gadgets});
  REQUIRE(EventuallyAfterSettling([&] { return recorded->All().size() == 2; }));
  CHECK_THAT(recorded->All().at(1), Catch::StartsWith("Normal ValidConfiguration "));
}

TEST_CASE_METHOD(Fixture,
                 "additional targets answer with the gate, and changes reach their kinds") {
  merge.combined = true;
  kube::Object wide = Customization("wide", "false");
  wide.Set({"spec", "additionalTargets"},
           tests::Json(R"([{"apiVersion": "example.io/*", "kind": "*"}])"));
  wide.Set({"spec", "target", "kind"}, "Gadget");
  server->Put(api::InterpreterCustomizations(), wide);
  REQUIRE(Load().ok());
  std::atomic<int> health = 0, other = 0;
  interpreter().rule_changes().Subscribe([&](const interpreter::RuleChange& change) {
    if (change(kWidget, Operation::kInterpretHealth)) ++health;
    if (change(kWidget, Operation::kRetain)) ++other;
    if (change({"other.io", "v1", "Widget"}, Operation::kInterpretHealth)) ++other;
  });
  Lead();
  CHECK(Health().value() == false);
  server->Put(api::InterpreterCustomizations(), Customization("exact", "true"));
  REQUIRE(EventuallyAfterSettling([&] { return health == 1; }));
  CHECK(Health().value() == true);
  server->Erase(api::InterpreterCustomizations(), {"", "exact"});
  REQUIRE(EventuallyAfterSettling([&] { return health == 2; }));
  CHECK(Health().value() == false);
  CHECK(other == 0);
}

TEST_CASE_METHOD(Fixture, "without the gate additional targets are reported and do not answer") {
  kube::Object wide = Customization("wide", "false");
  wide.Set({"spec", "additionalTargets"},
           tests::Json(R"([{"apiVersion": "example.io/v1", "kind": "Gadget"}])"));
  server->Put(api::InterpreterCustomizations(), wide);
  REQUIRE(Load().ok());
  Lead();
  REQUIRE(EventuallyAfterSettling([&] { return !recorded->All().empty(); }));
  CHECK_THAT(recorded->All().at(0),
             Catch::StartsWith("Warning InvalidConfiguration ResourceInterpreterCustomization: "
                               "spec.additionalTargets: has no effect without the feature gate "
                               "CombinedCustomizations"));
  CHECK_FALSE(interpreter().HasRule({"example.io", "v1", "Gadget"}, Operation::kInterpretHealth));
}

TEST_CASE_METHOD(Fixture,
                 "an additional target that is not served is reported, a wildcard is not") {
  merge.combined = true;
  kube::Object wide = Customization("wide", "false");
  wide.Set({"spec", "additionalTargets"},
           tests::Json(R"([{"apiVersion": "nobody.io/*", "kind": "*"},
                           {"apiVersion": "example.io/v1", "kind": "Gadget"}])"));
  server->Put(api::InterpreterCustomizations(), wide);
  REQUIRE(Load().ok());
  Lead();
  REQUIRE(EventuallyAfterSettling([&] { return !recorded->All().empty(); }));
  CHECK_THAT(recorded->All().at(0),
             Catch::Contains("spec.additionalTargets: the control plane does not serve "
                             "example.io/v1 Gadget; the entry has no effect until it does") &&
                 !Catch::Contains("nobody.io"));
}

TEST_CASE_METHOD(Fixture, "a customization is used although the server does not list its kinds") {
  REQUIRE(Load().ok());
  Lead();
  server->Block("GET");
  // It comes first, because its event may come before the other one's, in a look of its own.
  server->Put(api::InterpreterCustomizations(), Customization("widgets", "false"));
  kube::Object misspelt = Customization("misspelt", "true");
  misspelt.Set({"spec", "target", "kind"}, "Wigdet");
  server->Put(api::InterpreterCustomizations(), misspelt);
  CHECK(EventuallyAfterSettling([&] {
    const absl::StatusOr<bool> healthy = Health();
    return healthy.ok() && !*healthy;
  }));
}

TEST_CASE_METHOD(Fixture, "an edit is used although a look for the kinds of hooks gets no answer") {
  server->Serve({kWidgets, api::ExploringWebhookConfigurations()});
  server->Put(api::ExploringWebhookConfigurations(), Exploring("gadgets"));
  REQUIRE(Load().ok());
  Lead();
  CHECK_FALSE(interpreter().HasRule({"example.io", "v1", "Gadget"}, Operation::kInterpretHealth));
  clock.Advance(absl::Seconds(10));  // Discovery is not asked more often than every few seconds.
  server->Block("GET");
  server->Put(api::InterpreterCustomizations(), Customization("widgets", "false"));
  const auto informer = manager->cluster().informers().Find(api::InterpreterCustomizations());
  REQUIRE(Eventually([&] { return informer->store().Find({"", "widgets"}) != nullptr; }));
  CHECK(EventuallyAfterSettling([&] {
    const absl::StatusOr<bool> healthy = Health();
    return healthy.ok() && !*healthy;
  }));
}

TEST_CASE_METHOD(Fixture, "a hook that comes back has what it left unanswered looked at again") {
  server->Put(api::InterpreterWebhookConfigurations(), Asking("widgets", "InterpretHealth"));
  REQUIRE(Load().ok());
  std::atomic<int> health = 0, other = 0;
  interpreter().rule_changes().Subscribe([&](const interpreter::RuleChange& change) {
    if (change(kWidget, Operation::kInterpretHealth)) ++health;
    if (change(kWidget, Operation::kRetain)) ++other;
  });
  Lead();
  Suspend();
  CHECK_THAT(recorded->All().at(0), Catch::StartsWith("Warning WebhookSuspended "));
  CHECK_THAT(recorded->All().at(0), Catch::Contains("it has failed since 2023-11-14T22:13:20Z: "));
  CHECK(health == 0);

  // No object is asked about any more, but the hook is still probed.
  hooks.Set(tests::Responding(R"({"healthy": true})"));
  CHECK(EventuallyAfterSettling([&] { return health == 1; }));
  CHECK(other == 0);
  CHECK_THAT(recorded->All().at(1), Catch::StartsWith("Normal WebhookResumed "));
  CHECK_THAT(recorded->All().at(1), Catch::EndsWith("it had failed since 2023-11-14T22:13:20Z"));
  CHECK(Health().value());
}

TEST_CASE_METHOD(Fixture, "a suspended hook that is applied again is reported as called again") {
  server->Put(api::InterpreterWebhookConfigurations(), Asking("widgets", "InterpretHealth"));
  REQUIRE(Load().ok());
  Lead();
  Suspend();
  kube::Object changed = Asking("widgets", "InterpretHealth");
  json::Value webhook = changed.root()["webhooks"].At(0);
  webhook.Set("timeoutSeconds", 7);
  changed.Set({"webhooks"}, json::Value::Array({std::move(webhook)}));
  server->Put(api::InterpreterWebhookConfigurations(), changed);
  REQUIRE(EventuallyAfterSettling([&] { return recorded->All().size() == 2; }));
  CHECK_THAT(recorded->All().at(1),
             Catch::StartsWith("Normal WebhookResumed ") && Catch::Contains(" was changed at "));
}

TEST_CASE_METHOD(Fixture, "each outage of a hook is reported in words of its own") {
  server->Put(api::InterpreterWebhookConfigurations(), Asking("widgets", "InterpretHealth"));
  REQUIRE(Load().ok());
  Lead();
  for (const size_t told : {2, 4}) {
    hooks.Set(tests::Failing(absl::UnavailableError("connection refused")));
    Suspend();
    hooks.Set(tests::Responding(R"({"healthy": true})"));
    CHECK(EventuallyAfterSettling([&] { return recorded->All().size() == told; }));
  }
  CHECK(recorded->All().at(0) != recorded->All().at(2));
  CHECK(recorded->All().at(1) != recorded->All().at(3));
}

TEST_CASE_METHOD(Fixture, "a daemon whose hook is down stops at once, also while it is probed") {
  server->Put(api::InterpreterWebhookConfigurations(), Asking("widgets", "InterpretHealth"));
  REQUIRE(Load().ok());
  Lead();
  Suspend();
  std::atomic<bool> probed = false;
  hooks.Set([&](const kube::HttpRequest&) -> absl::StatusOr<kube::HttpResponse> {
    probed = true;
    return kube::HttpResponse{.code = 503, .headers = {{"retry-after", "9"}}};
  });
  REQUIRE(Eventually([&] {
    if (!probed) clock.Advance(absl::Seconds(1));
    return probed.load();
  }));
  // Ends the probe, which sleeps for nine seconds of a clock that stands still.
  CHECK(Finish().ok());
}

TEST_CASE_METHOD(Fixture, "a renamed customization answers by its new name, and touches nothing") {
  server->Put(api::InterpreterCustomizations(), Customization("old", "true"));
  REQUIRE(Load().ok());
  std::atomic<int> published = 0;
  interpreter().rule_changes().Subscribe([&](const interpreter::RuleChange&) { ++published; });
  Lead();
  server->Put(api::InterpreterCustomizations(), Customization("renamed", "true"));
  // Until now the old one comes first, which is reported on the new one.
  REQUIRE(EventuallyAfterSettling([&] { return recorded->All().size() == 1; }));
  server->Erase(api::InterpreterCustomizations(), {"", "old"});
  CHECK(EventuallyAfterSettling([&] {
    const auto rules = interpreter().RulesFor(kWidget, Operation::kInterpretHealth);
    return rules.size() == 1 && rules[0].name == "renamed";
  }));
  CHECK(published == 0);
}

TEST_CASE_METHOD(Fixture, "a configuration that cannot be listed is named") {
  options.cache_sync_timeout = absl::ZeroDuration();
  server->FailNext("GET", 403, "Forbidden", 100);
  Begin();
  absl::Status loaded;
  const auto cause_is_named = [&] {  // After the first list was refused.
    loaded = live->Load({});
    return absl::StrContains(loaded.message(), "Forbidden");
  };
  REQUIRE(Eventually(cause_is_named));
  CHECK(absl::IsDeadlineExceeded(loaded));
  CHECK_THAT(std::string(loaded.message()), Catch::Contains("resourceinterpretercustomizations"));
}

// The configuration with another member of its only webhook.
kube::Object With(const kube::Object& configuration, absl::string_view member, json::Value value) {
  json::Value hook = configuration.root()["webhooks"].At(0);
  hook.Set(member, std::move(value));
  kube::Object changed = configuration;
  changed.Set({"webhooks"}, json::Value::Array({hook}));
  return changed;
}

// Returns how often the server was asked for Services.
size_t AskedForServices(const tests::FakeApiServer& server) {
  size_t asked = 0;
  for (const std::string& line : server.Requests("GET")) {
    // Watches are streams and not listed here.
    if (absl::StrContains(line, "/services")) ++asked;
  }
  return asked;
}

TEST_CASE_METHOD(Fixture,
                 "Services are listed once a hook names one, and never asked for by calls") {
  hooks.Set(tests::Responding(R"({"healthy": true})"));
  kube::Object service = kube::Object::Make(api::Services().gvk, {"ns", "hooks"});
  service.Set({"spec"}, tests::Json(R"({"clusterIP":"10.0.0.1","ports":[{"port":443}]})"));
  server->Put(api::Services(), service);
  server->Put(api::InterpreterWebhookConfigurations(), Asking("widgets", "InterpretHealth"));
  REQUIRE(Load().ok());
  Lead();
  CHECK(Health().ok());
  CHECK(AskedForServices(*server) == 0);

  const kube::Object behind = With(Asking("widgets", "InterpretHealth"), "clientConfig",
                                   tests::Json(R"({"service":{"namespace":"ns","name":"hooks"}})"));
  server->Put(api::InterpreterWebhookConfigurations(), behind);
  // The clock must not run ahead of the list of Services, which is waited for ten seconds.
  const base::Clock& real = base::RealClock();
  base::SteadyTime advance_at = real.SteadyNow() + absl::Milliseconds(100);
  REQUIRE(Eventually([&] {
    if (AskedForServices(*server) == 0 && real.SteadyNow() >= advance_at) {
      clock.Advance(absl::Seconds(1));
      advance_at = real.SteadyNow() + absl::Seconds(1);
    }
    CHECK(Health().ok());
    return hooks.connections().back().server == "https://10.0.0.1:443";
  }));
  const size_t asked = AskedForServices(*server);
  CHECK(asked >= 1);
  for (int i = 0; i < 20; ++i) CHECK(Health().ok());
  CHECK(AskedForServices(*server) == asked);

  service.Set({"spec", "clusterIP"}, "10.0.0.2");
  server->Put(api::Services(), service);
  CHECK(Eventually([&] {
    return Health().ok() && hooks.connections().back().server == "https://10.0.0.2:443";
  }));
}

TEST_CASE_METHOD(Fixture, "a changed timeout has only what waits looked at again") {
  const kube::Object hasty = Asking("widgets", "InterpretHealth");
  server->Put(api::InterpreterWebhookConfigurations(), hasty);
  REQUIRE(Load().ok());
  std::atomic<int> health = 0;
  interpreter().rule_changes().Subscribe([&](const interpreter::RuleChange& change) {
    if (change(kWidget, Operation::kInterpretHealth)) ++health;
  });
  Lead();
  CHECK_FALSE(Health().ok());  // One failure: nothing is suspended.
  server->Put(api::InterpreterWebhookConfigurations(), With(hasty, "timeoutSeconds", 3));
  // The object's question was waiting.
  CHECK(EventuallyAfterSettling([&] { return health == 1; }));
  hooks.Set(tests::Responding(R"({"healthy": true})"));
  CHECK(Health().ok());
  server->Put(api::InterpreterWebhookConfigurations(), hasty);
  std::atomic<int> retain = 0;
  interpreter().rule_changes().Subscribe([&](const interpreter::RuleChange& change) {
    if (change(kWidget, Operation::kRetain)) ++retain;
  });
  server->Put(api::InterpreterWebhookConfigurations(), Asking("more", "Retain"));
  CHECK(EventuallyAfterSettling([&] { return retain == 1; }));
  CHECK(health == 1);  // No question was waiting when the timeout changed back.
}

}  // namespace
