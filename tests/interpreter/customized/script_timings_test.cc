// The metric of scripts: whose answers it counts, and when it begins again.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/metrics.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/metric_names.h"
#include "tests/interpreter/customized/scripts_fixture.h"

namespace {

using Catch::Contains;
using interpreter::customized::LuaBackend;
using tests::Customize;
using tests::SetOf;
using tests::Widget;

constexpr char kHealthy[] = "function InterpretHealth(o) return true end";
constexpr char kFails[] = "function InterpretHealth(o) return o.spec.a.b end";
constexpr char kNone[] = "function GetDependencies(o) return {} end";

std::string Count(const std::string& customization, const std::string& operation,
                  const std::string& result, int count) {
  return absl::StrCat(interpreter::kScriptDurationMetric, "_count{customization=\"", customization,
                      "\",operation=\"", operation, "\",result=\"", result, "\"} ", count, "\n");
}

}  // namespace

TEST_CASE("answers of each customization's script are counted, until it has another text") {
  metrics::Registry metrics;
  LuaBackend backend({.metrics = &metrics});
  const kube::Object widget = Widget(R"({"spec":{}})");
  const auto dependencies = Customize("needs", {{"dependencyInterpretation", kNone}});
  backend.Replace(SetOf(Customize("ric", {{"healthInterpretation", kFails}}), dependencies));
  CHECK_FALSE(backend.InterpretHealth(widget).ok());
  CHECK(backend.GetDependencies(widget).ok());
  CHECK_THAT(metrics.Expose(), Contains(Count("ric", "InterpretHealth", "error", 1)) &&
                                   Contains(Count("ric", "InterpretHealth", "success", 0)) &&
                                   Contains(Count("needs", "InterpretDependency", "success", 1)));

  backend.Replace(SetOf(Customize("ric", {{"healthInterpretation", kHealthy}}), dependencies));
  CHECK(backend.InterpretHealth(widget).ok());
  CHECK(backend.GetDependencies(widget).ok());
  CHECK_THAT(metrics.Expose(), Contains(Count("ric", "InterpretHealth", "error", 0)) &&
                                   Contains(Count("ric", "InterpretHealth", "success", 1)) &&
                                   Contains(Count("needs", "InterpretDependency", "success", 2)));

  backend.Replace(SetOf(Customize("ric", {{"healthInterpretation", kHealthy}})));
  CHECK(backend.InterpretHealth(widget).ok());
  CHECK_THAT(metrics.Expose(),
             Contains(Count("ric", "InterpretHealth", "success", 2)) && !Contains("\"needs\""));
}

TEST_CASE("shipped scripts are not counted one by one") {
  metrics::Registry metrics;
  LuaBackend backend({.layer = interpreter::kShippedLayer, .metrics = &metrics});
  backend.Replace(SetOf(Customize("ric", {{"healthInterpretation", kHealthy}})));
  CHECK(backend.InterpretHealth(Widget(R"({"spec":{}})")).ok());
  CHECK_THAT(metrics.Expose(), !Contains(interpreter::kScriptDurationMetric));
}
