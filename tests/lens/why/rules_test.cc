// Which rule the daemon asks, seen from outside, and which of its failures stand.
#include "lens/why/rules.h"

#include <catch2/catch.hpp>
#include <vector>

#include "absl/time/clock.h"
#include "api/resources.h"
#include "base/json.h"
#include "lens/why/chain.h"

namespace lens::why {
namespace {

using interpreter::Operation;

TEST_CASE("Rules: additional targets count when the daemon combines customizations") {
  kube::Object wide = kube::Object::Make(api::InterpreterCustomizations().gvk, {"", "wide"});
  wide.Set({"spec"}, json::Parse(R"({
      "target": {"apiVersion": "example.io/v1", "kind": "Gadget"},
      "additionalTargets": [{"apiVersion": "example.io/*", "kind": "*"}],
      "customizations": {"healthInterpretation": {
          "luaScript": "function InterpretHealth(observedObj) return true end"}}})")
                         .value());
  const std::vector<kube::ObjectPtr> objects = {kube::Share(wide)};
  const kube::Gvk widget{"example.io", "v2", "Widget"};
  CHECK(Rules(objects).RuleFor(widget, Operation::kInterpretHealth).layer.empty());
  const Rules combined(objects, {.combined = true});
  CHECK(combined.RuleFor(widget, Operation::kInterpretHealth).name == "wide");
  CHECK(combined.RuleFor({"other.io", "v1", "Widget"}, Operation::kInterpretHealth).layer.empty());
}

TEST_CASE("Rules: a script that runs out of its budget is run for each question all the same") {
  kube::Object hungry = kube::Object::Make(api::InterpreterCustomizations().gvk, {"", "hungry"});
  hungry.Set({"spec"}, json::Parse(R"({
      "target": {"apiVersion": "example.io/v1", "kind": "Gadget"},
      "customizations": {"healthInterpretation": {"luaScript":
          "function InterpretHealth() return string.rep(\"x\", 100000000) == \"\" end"}}})")
                           .value());
  const Rules rules({kube::Share(hungry)});
  const kube::Object gadget = kube::Object::Make({"example.io", "v1", "Gadget"}, {"shop", "one"});
  for (int i = 0; i < 5; ++i) {
    CHECK(absl::IsResourceExhausted(rules.WithoutWebhooks().InterpretHealth(gadget).status()));
  }
}

TEST_CASE("A failure is over when its success is as late, in whatever order a server lists them") {
  kube::Object app = kube::Object::Make({"apps", "v1", "Deployment"}, {"shop", "web"});
  app.Set({"metadata", "uid"}, "u");
  const auto event = [](const char* reason, const char* time) {
    kube::Object made = kube::Object::Make({"", "v1", "Event"}, {"shop", reason});
    made.Set(
        {"involvedObject"},
        json::Parse(R"({"kind": "Deployment", "namespace": "shop", "name": "web", "uid": "u"})")
            .value());
    made.Set({"reason"}, reason);
    made.Set({"message"}, "already exists");
    made.Set({"lastTimestamp"}, time);
    return kube::Share(made);
  };
  const auto failure = [&](const Objects& events) {
    Chain chain = MakeChain({}, {}, absl::Now()).value();
    chain.events = events;
    return StandingFailure(chain, app, "Failed", "Succeeded");
  };
  const kube::ObjectPtr failed = event("Failed", "2026-01-01T10:00:05Z"),
                        at_once = event("Succeeded", "2026-01-01T10:00:05Z"),
                        before = event("Succeeded", "2026-01-01T10:00:04Z");
  CHECK(failure({failed}) == "already exists");
  CHECK(failure({before, failed}) == "already exists");
  CHECK(failure({failed, at_once}).empty());
  CHECK(failure({at_once, failed}).empty());
}

}  // namespace
}  // namespace lens::why
