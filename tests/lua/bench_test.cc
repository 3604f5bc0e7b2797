// Measures how long runs take. Not part of the tests: lua_test "[.bench]".
#include <time.h>

#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/lua/lua_fixture.h"

namespace lua {
namespace {

constexpr char kScript[] = R"lua(
local kube = require("kube")
function GetReplicas(obj)
  local replica = obj.spec.replicas
  local requirement = kube.requirements(obj.spec.template)
  return replica, requirement
end
function ReviseReplica(obj, desired)
  obj.spec.replicas = desired
  return obj
end
function InterpretHealth(obj)
  if obj.status.observedGeneration ~= obj.metadata.generation then return false end
  if obj.spec.replicas ~= nil then
    if obj.status.updatedReplicas < obj.spec.replicas then return false end
  end
  if obj.status.availableReplicas < obj.status.updatedReplicas then return false end
  return true
end
function ReflectStatus(obj)
  local status = {}
  if obj == nil or obj.status == nil then return status end
  for _, name in ipairs({"replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
      "updatedReadyReplicas", "expectedUpdatedReplicas", "currentRevision", "updateRevision",
      "labelSelector", "observedGeneration"}) do
    status[name] = obj.status[name]
  end
  if obj.metadata == nil then return status end
  status.generation = obj.metadata.generation
  local annotations = obj.metadata.annotations
  if annotations ~= nil then
    local generation = tonumber(annotations["resourcetemplate.karmada.io/generation"])
    if generation ~= nil then status.resourceTemplateGeneration = generation end
  end
  return status
end
function AggregateStatus(obj, items)
  if items == nil then return obj end
  if obj.status == nil then obj.status = {} end
  local generation = obj.metadata.generation
  local sums = {replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0}
  local observed = 0
  local revision = ""
  for i = 1, #items do
    local status = items[i].status
    if status ~= nil then
      for name, sum in pairs(sums) do sums[name] = sum + (status[name] or 0) end
      if status.updateRevision ~= nil and status.updateRevision ~= "" then
        revision = status.updateRevision
      end
      if (status.resourceTemplateGeneration or 0) == generation and
         (status.generation or 0) == (status.observedGeneration or 0) then
        observed = observed + 1
      end
    end
  end
  for name, sum in pairs(sums) do obj.status[name] = sum end
  obj.status.updateRevision = revision
  if observed == #items then obj.status.observedGeneration = generation end
  return obj
end
)lua";

json::Value CloneSet() {
  json::Value object = MustParse(R"({
"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{"name":"sample","namespace":"default",
"generation":3,"uid":"6f9c7a6e-17a4-4f53-9c53-4f5d3e1b9a01","resourceVersion":"123456",
"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"sample","tier":"web"},"annotations":{
"resourcetemplate.karmada.io/generation":"3","work.karmada.io/bindings":"sample-cloneset"}},
"spec":{"replicas":4,"revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"sample"}},
"template":{"metadata":{"labels":{"app":"sample"},"creationTimestamp":null},"spec":{"containers":[],
"volumes":[{"name":"v1","configMap":{"name":"cm"}},{"name":"v2","secret":{"secretName":"s"}},{"name":"v3","emptyDir":{}}],
"serviceAccountName":"sa","nodeSelector":{},"tolerations":[]}},"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":"20%"}},
"status":{"replicas":4,"updatedReplicas":4,"readyReplicas":4,"availableReplicas":4,"updatedReadyReplicas":4,
"expectedUpdatedReplicas":4,"currentRevision":"sample-59df6bd888","updateRevision":"sample-59df6bd888",
"labelSelector":"app=sample","observedGeneration":3,"collisionCount":0}})");
  const json::Value container =
      MustParse(R"({"name":"main","image":"registry.example.com/team/app:1.2.3",
"args":["--listen=:8080","--verbose"],"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],
"ports":[{"containerPort":8080,"name":"http","protocol":"TCP"}],"resources":{"limits":{"cpu":"500m","memory":"512Mi"},
"requests":{"cpu":"250m","memory":"256Mi"}},"volumeMounts":[{"name":"v1","mountPath":"/etc/app"},{"name":"v3","mountPath":"/tmp"}],
"livenessProbe":{"httpGet":{"path":"/healthz","port":8080},"initialDelaySeconds":10},"securityContext":{}})");
  for (int i = 0; i < 3; ++i) {
    json::Value& containers = object.Mutable({"spec", "template", "spec", "containers"});
    containers.Append(container);
  }
  return object;
}

// Reads the CPU clock of this thread, which does not count other threads.
double CpuMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

void Measure(const char* name, const ScriptRunner& runner, const Script& script, const Call& call) {
  constexpr int kRuns = 20000;
  Outcome last;
  const double start = CpuMicroseconds();
  for (int i = 0; i < kRuns; ++i) {
    absl::StatusOr<Outcome> outcome = runner.Run(script, call);
    if (!outcome.ok()) {
      FAIL(outcome.status().message());
    }
    last = *std::move(outcome);
  }
  std::printf("%-24s %6.2f us of CPU  %6zu bytes of garbage\n", name,
              (CpuMicroseconds() - start) / kRuns, last.usage.garbage);
}

TEST_CASE("a run costs microseconds", "[.bench]") {
  ScriptRunner::Options options;
  options.libraries = {{"kube", {{"requirements", [](absl::Span<const Value> arguments) {
                                    return absl::StatusOr<std::vector<Value>>(std::vector<Value>{
                                        arguments[0].json["spec"]["nodeSelector"]});
                                  }}}}};
  const ScriptRunner runner(options);
  const auto script = MustCompile(kScript);
  const json::Value object = CloneSet();
  std::printf("object of %zu bytes\n", json::Write(object).size());
  json::Value items = json::Value::Array();
  for (const char* cluster : {"member1", "member2"}) {
    json::Value status = object["status"];
    status.Set("resourceTemplateGeneration", 3);
    status.Set("generation", 3);
    items.Append(json::Value::Object(
        {{"clusterName", cluster}, {"status", status}, {"applied", true}, {"health", "Healthy"}}));
  }
  const auto empty = MustCompile("function F() end");
  Measure("nothing", runner, *empty, {"F", {}, 0});
  ScriptRunner::Options forgetful;
  forgetful.max_idle_states = 0;
  Measure("nothing, fresh state", ScriptRunner(forgetful), *empty, {"F", {}, 0});
  Measure("health", runner, *script, {"InterpretHealth", {object}, 1});
  Measure("replicas", runner, *script, {"GetReplicas", {object}, 2});
  Measure("status", runner, *script, {"ReflectStatus", {object}, 1});
  Measure("revise", runner, *script, {"ReviseReplica", {object, json::Value(7)}, 1, true});
  Measure("aggregate of two", runner, *script, {"AggregateStatus", {object, items}, 1});
}

}  // namespace
}  // namespace lua
