// Which rule the daemon asks, seen from outside.
#include "lens/why/rules.h"

#include <catch2/catch.hpp>
#include <vector>

#include "api/resources.h"
#include "base/json.h"

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

}  // namespace
}  // namespace lens::why
