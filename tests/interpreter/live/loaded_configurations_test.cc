// Which generation of a configuration answers: a gauge and events.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"
#include "interpreter/live/live_interpreter.h"
#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"
#include "tests/support/recording_events.h"

namespace {

using Catch::Contains;
using tests::Eventually;

kube::Object Customization(int64_t generation, const std::string& healthy) {
  kube::Object object = kube::Object::Make(api::InterpreterCustomizations().gvk, {"", "widgets"});
  object.Set({"metadata", "generation"}, generation);
  object.Set({"spec", "target"},
             json::Value::Object({{"apiVersion", "example.io/v1"}, {"kind", "Widget"}}));
  object.Set({"spec", "customizations", "healthInterpretation", "luaScript"},
             absl::StrCat("function InterpretHealth(obj) return ", healthy, " end"));
  return object;
}

std::string Gauge(int generation) {
  return absl::StrCat(
      "karmada_interpreter_configuration_loaded_generation{kind=\"ResourceInterpreterCustomization"
      "\",name=\"widgets\"} ",
      generation, "\n");
}

struct Fixture : tests::ManagerFixture {
  tests::RecordingEvents* recorded = nullptr;
  std::optional<interpreter::live::LiveInterpreter> live;

  Fixture() {
    auto recording = std::make_unique<tests::RecordingEvents>();
    recorded = recording.get();
    events = std::move(recording);
    server->Serve({{{"example.io", "v1", "Widget"}, "widgets", /*namespaced=*/true}});
  }
  ~Fixture() override {
    base::IgnoreError(Finish(), "the test has looked at what matters to it");
    live.reset();
  }
  void Load() {
    live.emplace(Make(), interpreter::live::LiveOptions{});
    REQUIRE(live->Load({}).ok());
  }
  void Lead() {
    Start();
    REQUIRE(Eventually([&] { return manager->IsLeader(); }));
  }
  bool EventuallyAfterSettling(const std::function<bool()>& condition) {
    return Eventually([&] {
      clock.Advance(absl::Seconds(1));
      return condition();
    });
  }
};

TEST_CASE_METHOD(Fixture,
                 "the loaded generation is a gauge from the start, and goes with its object") {
  server->Put(api::InterpreterCustomizations(), Customization(3, "true"));
  Load();
  CHECK_THAT(registry.Expose(), Contains(Gauge(3)));
  Lead();
  server->Erase(api::InterpreterCustomizations(), {"", "widgets"});
  REQUIRE(EventuallyAfterSettling([&] {
    return registry.Expose().find("configuration_loaded_generation{") == std::string::npos;
  }));
  CHECK(recorded->All().empty());  // A start changes nothing, and a deletion loads nothing.
}

TEST_CASE_METHOD(Fixture, "a generation that is loaded is an event once, before its problems") {
  Load();
  Lead();
  server->Put(api::InterpreterCustomizations(), Customization(1, "true"));
  REQUIRE(EventuallyAfterSettling([&] { return recorded->All().size() == 1; }));
  CHECK(recorded->All()[0] ==
        "Normal ConfigurationLoaded ResourceInterpreterCustomization: Generation 1 is loaded and "
        "answers from now on.");
  kube::Object labelled = Customization(1, "true");
  labelled.SetLabel("team", "a");
  server->Put(api::InterpreterCustomizations(), labelled);
  server->Put(api::InterpreterCustomizations(), Customization(2, "("));
  REQUIRE(EventuallyAfterSettling([&] { return recorded->All().size() == 3; }));
  CHECK_THAT(recorded->All()[1],
             Contains("Generation 2 is loaded with 1 problem, which a warning names"));
  CHECK_THAT(recorded->All()[2], Contains("Warning InvalidConfiguration"));
  CHECK_THAT(registry.Expose(), Contains(Gauge(2)));
}

}  // namespace
