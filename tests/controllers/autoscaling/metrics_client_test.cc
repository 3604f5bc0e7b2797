#include "controllers/autoscaling/metrics_client.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace {

using api::MetricSpec;
using autoscaling::MetricsClient;
using autoscaling::Samples;

const kube::Resource kServices{{"", "v1", "Service"}, "services", true};
const kube::Resource kDeployments{{"apps", "v1", "Deployment"}, "deployments", true};

// Custom and external metrics are stored as objects whose path is that of the question.
struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  metrics::Registry registry;
  kube::Client client{server, {.name = "fake"}, clock, nullptr};
  kube::RestMapper mapper{client, clock};
  MetricsClient metrics{client, mapper, registry};
  base::StopToken stop;

  Fixture() {
    kube::Discovery discovery;
    for (const kube::Resource& r : {kServices, kDeployments}) {
      discovery.resources.push_back({.resource = r, .verbs = {}, .preferred = true});
    }
    mapper.Update(discovery);
  }
  static MetricSpec Spec(const std::string& json) {
    const auto parsed = json::Parse(json);
    REQUIRE(parsed.ok());
    return MetricSpec::FromJson(*parsed);
  }
  // Stores a document at /apis/<group>/<version>/namespaces/ns/<plural>/<name>[/...].
  void Put(const std::string& group, const std::string& version, const std::string& plural,
           const std::string& name, const std::string& document) {
    kube::Object object(*json::Parse(document));
    object.Set({"metadata", "name"}, name);
    object.Set({"metadata", "namespace"}, "ns");
    server->Put({{group, version, "Metrics"}, plural, true}, object);
  }
  std::string LastRequest() { return server->Requests("GET").back(); }
};

MetricSpec Resource(const std::string& name, const std::string& container = "") {
  MetricSpec spec;
  spec.resource = name;
  spec.container = container;
  return spec;
}

constexpr char kPodMetrics[] = R"({"timestamp": "2024-01-01T00:00:30Z", "window": "1m30s",
    "metadata": {"labels": {"app": "web"},
                 "annotations": {"resource.karmada.io/query-from-cluster": "m2"}},
    "containers": [{"name": "app", "usage": {"cpu": "250m", "memory": "1Mi"}},
                   {"name": "log", "usage": {"cpu": "1500u"}}]})";

}  // namespace

TEST_CASE_METHOD(Fixture, "the use of a pod is that of its containers, or of one") {
  Put("metrics.k8s.io", "v1beta1", "pods", "a", kPodMetrics);
  const auto cpu = metrics.Resource({"ns", "app=web"}, Resource("cpu"), stop);
  REQUIRE(cpu.ok());
  REQUIRE(cpu->items.size() == 1);
  CHECK(cpu->items[0].pod == "a");
  CHECK(cpu->items[0].cluster == "m2");
  CHECK(cpu->items[0].value.milli == 252);
  CHECK(kube::FormatTime(cpu->items[0].value.at) == "2024-01-01T00:00:30Z");
  CHECK(cpu->items[0].value.window == absl::Seconds(90));
  CHECK(LastRequest() ==
        "GET /apis/metrics.k8s.io/v1beta1/namespaces/ns/pods?labelSelector=app%3Dweb");
  CHECK(metrics.Resource({"ns", ""}, Resource("cpu", "app"), stop)->items[0].value.milli == 250);
  // One container says nothing about its memory, so nothing is known about that of the pod.
  CHECK(metrics.Resource({"ns", ""}, Resource("memory"), stop)->items.empty());
  CHECK(metrics.Resource({"ns", ""}, Resource("cpu", "web"), stop).status().message() ==
        "failed to get container metrics: container web not present in metrics for pod ns/a");
}

TEST_CASE_METHOD(Fixture, "what cannot be read counts as not being there") {
  const std::string use = GENERATE("\"NaN\"", "\"-250m\"", "\"\"", "null", "{}", "[1]");
  CAPTURE(use);
  Put("metrics.k8s.io", "v1beta1", "pods", "a", kPodMetrics);
  Put("metrics.k8s.io", "v1beta1", "pods", "b",
      R"({"containers": [{"name": "app", "usage": {"cpu": )" + use + "}}]}");
  Put("metrics.k8s.io", "v1beta1", "pods", "c", R"({"containers": []})");
  const auto cpu = metrics.Resource({"ns", ""}, Resource("cpu"), stop);
  REQUIRE(cpu.ok());
  REQUIRE(cpu->items.size() == 1);
  CHECK(cpu->items[0].pod == "a");
}

TEST_CASE_METHOD(Fixture, "an API that is not there, empty or broken is an error with a cause") {
  CHECK(metrics.Resource({"ns", ""}, Resource("cpu"), stop).status().message() ==
        "no metrics returned from resource metrics API");
  server->FailNext("GET", 403, "Forbidden");
  const absl::Status refused = metrics.Resource({"ns", ""}, Resource("cpu"), stop).status();
  CHECK(refused.message() == "unable to fetch metrics from resource metrics API: fake: Forbidden");
  const std::string text = registry.Expose();
  CHECK(absl::StrContains(text,
                          "federatedhpa_pull_metrics_duration_seconds_count{metricType="
                          "\"ResourceMetric\",result=\"error\"} 1"));
  CHECK(absl::StrContains(text, R"(result="success"} 1)"));
}

TEST_CASE_METHOD(Fixture, "metrics of pods are asked for in the newer version, or in the older") {
  const bool older = GENERATE(false, true);
  const std::string version = older ? "v1beta1" : "v1beta2";
  Put("custom.metrics.k8s.io", version, "pods", "*",
      older ? R"({"items": [
      {"describedObject": {"name": "a"}, "value": "1500m", "window": 30,
       "timestamp": "2024-01-01T00:00:30Z"},
      {"describedObject": {"name": "b"}, "value": "NaN"}]})"
            : R"({"items": [
      {"describedObject": {"name": "a"}, "value": "1500m", "windowSeconds": 30,
       "timestamp": "2024-01-01T00:00:30Z"},
      {"describedObject": {"name": "b"}, "value": "NaN"}]})");
  const MetricSpec spec = Spec(R"({"type": "Pods", "pods": {"metric": {"name": "requests",
      "selector": {"matchLabels": {"verb": "GET"}}}}})");
  const auto samples = metrics.Pods({"ns", "app=web"}, spec, stop);
  INFO(samples.status());
  REQUIRE(samples.ok());
  CHECK(samples->adds_up_equal_names);
  REQUIRE(samples->items.size() == 1);
  CHECK(samples->items[0].value.milli == 1500);
  CHECK(samples->items[0].value.window == absl::Seconds(30));
  CHECK(absl::StrContains(LastRequest(), version + "/namespaces/ns/pods/*/requests?"));
  CHECK(absl::EndsWith(LastRequest(), "labelSelector=app%3Dweb&metricLabelSelector=verb%3DGET"));
  // The version that answered is asked first from then on.
  const size_t before = server->Calls();
  CHECK(metrics.Pods({"ns", "app=web"}, spec, stop).ok());
  CHECK(server->Calls() == before + 1);
}

TEST_CASE_METHOD(Fixture, "a metric of an object is asked for by its resource") {
  Put("custom.metrics.k8s.io", "v1beta2", "services", "web", R"({"items": [{"value": "7"}]})");
  Put("custom.metrics.k8s.io", "v1beta2", "deployments.apps", "web",
      R"({"items": [{"value": "8"}]})");
  Put("custom.metrics.k8s.io", "v1beta2", "metrics", "hits", R"({"items": [{"value": "9"}]})");
  const auto ask = [&](const std::string& object) {
    return metrics.Object("ns",
                          Spec(R"({"type": "Object", "object": {"metric": {"name": "hits"},
                               "describedObject": )" +
                               object + "}}"),
                          stop);
  };
  CHECK(*ask(R"({"apiVersion": "v1", "kind": "Service", "name": "web"})") == 7000);
  CHECK(LastRequest() == "GET /apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/services/web/hits");
  CHECK(*ask(R"({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"})") == 8000);
  // A namespace is the autoscaler's own, whatever its name.
  CHECK(*ask(R"({"apiVersion": "v1", "kind": "Namespace", "name": "other"})") == 9000);
  CHECK(absl::StartsWith(
      ask(R"({"apiVersion": "v1", "kind": "Service", "name": ".."})").status().message(),
      "unable to fetch metrics from custom metrics API: "));
}

TEST_CASE_METHOD(Fixture, "the series of an external metric are added up") {
  Put("external.metrics.k8s.io", "v1beta1", "queue", "", R"({})");
  server->Put({{"external.metrics.k8s.io", "v1beta1", "ExternalMetricValue"}, "queue", true},
              kube::Object(*json::Parse(
                  R"({"metadata": {"namespace": "ns", "name": "one"}, "value": "2"})")));
  server->Put({{"external.metrics.k8s.io", "v1beta1", "ExternalMetricValue"}, "queue", true},
              kube::Object(*json::Parse(
                  R"({"metadata": {"namespace": "ns", "name": "two"}, "value": "500m"})")));
  const MetricSpec spec =
      Spec(R"({"type": "External", "external": {"metric": {"name": "queue"}}})");
  const auto sum = metrics.External("ns", spec, stop);
  REQUIRE(sum.ok());
  CHECK(*sum == 2500);
  CHECK(LastRequest() == "GET /apis/external.metrics.k8s.io/v1beta1/namespaces/ns/queue");
  CHECK(metrics.External("elsewhere", spec, stop).status().message() ==
        "no metrics returned from external metrics API");
}
