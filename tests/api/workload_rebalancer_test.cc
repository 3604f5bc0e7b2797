#include "api/workload_rebalancer.h"

#include <catch2/catch.hpp>
#include <string>

namespace {

kube::Object Parse(const char* text) { return kube::Object(json::Parse(text).value()); }

}  // namespace

TEST_CASE("a WorkloadRebalancer is read and its observed workloads are written as upstream does") {
  const kube::Object object = Parse(R"({
    "spec": {"ttlSecondsAfterFinished": 60, "workloads": [
      {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web"},
      {"apiVersion": "v1", "kind": "Namespace", "name": "demo"}]},
    "status": {"finishTime": "2024-01-01T00:00:00Z", "observedWorkloads": [
      {"workload": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web"},
       "result": "Failed", "reason": "ReferencedBindingNotFound"}]}})");
  const api::WorkloadRebalancerView view(object);
  REQUIRE(view.Workloads().size() == 2);
  CHECK(view.Workloads()[0].Describe() == "Deployment ns/web");
  CHECK(view.Workloads()[1].ns.empty());
  CHECK(view.TtlAfterFinished() == absl::Minutes(1));
  CHECK(view.FinishTime() == kube::ParseTime("2024-01-01T00:00:00Z").value());
  REQUIRE(view.ObservedWorkloads().size() == 1);
  CHECK(view.ObservedWorkloads()[0].ToJson() == object.status()["observedWorkloads"].At(0));
  kube::Object written = Parse(R"({"metadata": {"generation": 3}})");
  api::SetObservedWorkloads(written, view.ObservedWorkloads());
  api::SetFinishTime(written, *view.FinishTime());
  kube::Object wanted = object;
  wanted.Set({"status", "observedGeneration"}, 3);
  CHECK(written.status() == wanted.status());
}

TEST_CASE("a WorkloadRebalancer without times stays and has not finished") {
  const kube::Object object = Parse(R"({"spec": {"workloads": []}})");
  const api::WorkloadRebalancerView view(object);
  CHECK_FALSE(view.TtlAfterFinished().has_value());
  CHECK_FALSE(view.FinishTime().has_value());
  CHECK(view.ObservedWorkloads().empty());
  const kube::Object zero = Parse(R"({"spec": {"ttlSecondsAfterFinished": 0}})");
  CHECK(api::WorkloadRebalancerView(zero).TtlAfterFinished() == absl::ZeroDuration());
}
