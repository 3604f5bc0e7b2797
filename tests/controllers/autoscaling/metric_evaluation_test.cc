#include "controllers/autoscaling/metric_evaluation.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/controllers/autoscaling/sample_pods.h"

namespace {

using api::MetricSpec;
using autoscaling::Evaluation;
using autoscaling::PodSelection;
using autoscaling::Samples;

// Answers by the name of the resource or metric; what has no answer fails.
class Source : public autoscaling::MetricsSource {
 public:
  std::map<std::string, Samples> samples;
  std::map<std::string, int64_t> values;

  absl::StatusOr<Samples> Resource(const PodSelection&, const MetricSpec& spec,
                                   const base::StopToken&) override {
    return SamplesOf(spec.resource);
  }
  absl::StatusOr<Samples> Pods(const PodSelection&, const MetricSpec& spec,
                               const base::StopToken&) override {
    return SamplesOf(spec.metric);
  }
  absl::StatusOr<int64_t> Object(const std::string&, const MetricSpec& spec,
                                 const base::StopToken&) override {
    return ValueOf(spec.metric);
  }
  absl::StatusOr<int64_t> External(const std::string&, const MetricSpec& spec,
                                   const base::StopToken&) override {
    return ValueOf(spec.metric);
  }

 private:
  absl::StatusOr<Samples> SamplesOf(const std::string& name) {
    const auto found = samples.find(name);
    if (found == samples.end()) return absl::NotFoundError("nobody measures it");
    return found->second;
  }
  absl::StatusOr<int64_t> ValueOf(const std::string& name) {
    const auto found = values.find(name);
    if (found == values.end()) return absl::NotFoundError("nobody measures it");
    return found->second;
  }
};

struct Fixture {
  Source source;
  std::vector<autoscaling::Pod> pods = tests::PodsOf(4);
  autoscaling::TargetState state;

  Fixture() {
    state.replicas = 4;
    state.status_replicas = 4;
    state.pods = pods;
    state.now = tests::kNow;
    source.samples["cpu"] = tests::SamplesOf({500, 500, 500, 500});
    source.samples["requests"] = tests::SamplesOf({20000, 20000, 20000, 20000});
    source.values["hits"] = 60000;
    source.values["queue"] = 90000;
  }
  Evaluation Of(const std::string& metrics) {
    std::vector<MetricSpec> specs;
    const auto list = json::Parse(metrics);
    REQUIRE(list.ok());
    for (const json::Value& item : list->items()) specs.push_back(MetricSpec::FromJson(item));
    return autoscaling::Evaluate(specs, state, {"ns", "app=web"}, source, {});
  }
};

constexpr char kCpu[] = R"({"type": "Resource", "resource": {"name": "cpu",
    "target": {"type": "Utilization", "averageUtilization": 50}}})";
constexpr char kCpuAverage[] = R"({"type": "Resource", "resource": {"name": "cpu",
    "target": {"type": "AverageValue", "averageValue": "100m"}}})";
constexpr char kContainer[] = R"({"type": "ContainerResource", "containerResource": {"name": "cpu",
    "container": "app", "target": {"type": "Utilization", "averageUtilization": 25}}})";
constexpr char kPods[] = R"({"type": "Pods", "pods": {"metric": {"name": "requests"},
    "target": {"type": "AverageValue", "averageValue": "10"}}})";
constexpr char kObject[] = R"({"type": "Object", "object": {"metric": {"name": "hits"},
    "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "web"},
    "target": {"type": "Value", "value": "20"}}})";
constexpr char kObjectAverage[] = R"({"type": "Object", "object": {"metric": {"name": "hits"},
    "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "web"},
    "target": {"type": "AverageValue", "averageValue": "5"}}})";
constexpr char kExternal[] = R"({"type": "External", "external": {"metric": {"name": "queue",
    "selector": {"matchLabels": {"queue": "mail"}}},
    "target": {"type": "AverageValue", "averageValue": "10"}}})";
constexpr char kExternalValue[] = R"({"type": "External", "external": {"metric": {"name": "queue"},
    "target": {"type": "Value", "value": "45"}}})";
constexpr char kLost[] = R"({"type": "Pods", "pods": {"metric": {"name": "lost"},
    "target": {"type": "AverageValue", "averageValue": "10"}}})";

}  // namespace

TEST_CASE_METHOD(Fixture, "of more metrics than one pass has time for none is asked for") {
  const auto metrics = [](size_t count) {
    std::string list = kCpu;
    for (size_t i = 1; i < count; ++i) absl::StrAppend(&list, ",", kPods);
    return absl::StrCat("[", list, "]");
  };
  CHECK(Of(metrics(autoscaling::kMostMetrics)).replicas == 8);
  const Evaluation many = Of(metrics(autoscaling::kMostMetrics + 1));
  CHECK_FALSE(many.replicas.has_value());
  CHECK(many.statuses.empty());
  CHECK(many.error == "spec.metrics has 101 metrics, and at most 100 are evaluated");
  REQUIRE(many.failures.size() == 1);
  CHECK(many.failures[0].reason == "InvalidMetricSourceType");
  CHECK(many.active.status == "False");
}

TEST_CASE_METHOD(Fixture, "each type of metric has a number, a name and a status") {
  struct Case {
    std::string metric;
    int64_t replicas;
    std::string name;
    std::string status;
  };
  const Case c = GENERATE(values<Case>({
      {kCpu, 4, "cpu resource utilization (percentage of request)",
       R"({"type": "Resource", "resource": {"name": "cpu",
           "current": {"averageUtilization": 50, "averageValue": "500m"}}})"},
      {kCpuAverage, 20, "cpu resource",
       R"({"type": "Resource", "resource": {"name": "cpu", "current": {"averageValue": "500m"}}})"},
      {kContainer, 8, "cpu container resource utilization (percentage of request)",
       R"({"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "app",
           "current": {"averageUtilization": 50, "averageValue": "500m"}}})"},
      {kPods, 8, "pods metric requests",
       R"({"type": "Pods", "pods": {"metric": {"name": "requests"},
           "current": {"averageValue": "20"}}})"},
      {kObject, 12, "Service metric hits",
       R"({"type": "Object", "object": {"metric": {"name": "hits"}, "current": {"value": "60"},
           "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "web"}}})"},
      {kObjectAverage, 12, "external metric hits(nil)",
       R"({"type": "Object", "object": {"metric": {"name": "hits"},
           "current": {"averageValue": "15"},
           "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "web"}}})"},
      {kExternal, 9,
       "external metric queue(&LabelSelector{MatchLabels:map[string]string{queue: mail,},"
       "MatchExpressions:[]LabelSelectorRequirement{},})",
       R"({"type": "External", "external": {"metric": {"name": "queue",
           "selector": {"matchLabels": {"queue": "mail"}}},
           "current": {"averageValue": "22500m"}}})"},
      {kExternalValue, 8, "external metric queue(nil)",
       R"({"type": "External", "external": {"metric": {"name": "queue"},
           "current": {"value": "90"}}})"},
  }));
  const Evaluation result = Of("[" + c.metric + "]");
  CHECK(result.replicas == c.replicas);
  CHECK(result.metric == c.name);
  REQUIRE(result.statuses.size() == 1);
  CHECK(json::Write(result.statuses[0].ToJson()) == json::Write(*json::Parse(c.status)));
  CHECK(result.failures.empty());
  CHECK(result.active.status == "True");
  CHECK(result.active.reason == "ValidMetricFound");
  CHECK(result.active.message ==
        "the HPA was able to successfully calculate a replica count from " + c.name);
}

TEST_CASE_METHOD(Fixture, "of several metrics the one counts that asks for the most replicas") {
  const Evaluation result = Of(absl::StrCat("[", kCpu, ",", kObject, ",", kPods, "]"));
  CHECK(result.replicas == 12);
  CHECK(result.metric == "Service metric hits");
  CHECK(result.statuses.size() == 3);
}

TEST_CASE_METHOD(Fixture, "a metric that fails is left out while the others want no fewer") {
  const Evaluation result = Of(absl::StrCat("[", kLost, ",", kPods, "]"));
  CHECK(result.replicas == 8);
  CHECK(result.active.reason == "ValidMetricFound");
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures[0].reason == "FailedGetPodsMetric");
  CHECK(result.failures[0].message == "unable to get metric lost: nobody measures it");
  CHECK(result.statuses.size() == 1);
}

TEST_CASE_METHOD(Fixture, "with a metric that fails nothing is scaled down") {
  source.samples["cpu"] = tests::SamplesOf({10, 10, 10, 10});
  const Evaluation result = Of(absl::StrCat("[", kCpu, ",", kLost, "]"));
  CHECK_FALSE(result.replicas.has_value());
  CHECK(result.active.status == "False");
  CHECK(result.active.reason == "FailedGetPodsMetric");
  CHECK(result.active.message ==
        "the HPA was unable to compute the replica count: unable to get metric lost: nobody "
        "measures it");
  CHECK(result.error ==
        "invalid metrics (1 invalid out of 2), first error is: failed to get pods metric value: "
        "unable to get metric lost: nobody measures it");
  CHECK(Of(absl::StrCat("[", kCpu, "]")).replicas == 1);
}

TEST_CASE_METHOD(Fixture, "errors have upstream's reasons and words") {
  source = {};
  struct Case {
    std::string metric, reason, message, error;
  };
  const Case c = GENERATE(values<Case>({
      {kCpu, "FailedGetResourceMetric",
       "failed to get cpu utilization: unable to get metrics for resource cpu: nobody measures it",
       "failed to get cpu resource metric value: "},
      {kContainer, "FailedGetContainerResourceMetric",
       "failed to get cpu utilization: unable to get metrics for resource cpu: nobody measures it",
       "failed to get app container metric value: "},
      {kObject, "FailedGetObjectMetric",
       "unable to get metric hits: Service on ns web/nobody measures it",
       "failed to get object metric value: "},
      {kObjectAverage, "FailedGetObjectMetric",
       "failed to get hits object metric: unable to get metric hits: Service on ns web/nobody "
       "measures it",
       "failed to get object metric value: "},
      {kExternalValue, "FailedGetExternalMetric",
       "failed to get queue external metric: unable to get external metric ns/queue/nil: nobody "
       "measures it",
       "failed to get queue external metric value: "},
      {R"({"type": "Sunshine"})", "InvalidMetricSourceType",
       R"(unknown metric source type "Sunshine")", ""},
      {R"({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Value"}}})",
       "FailedGetResourceMetric",
       "invalid resource metric source: neither an average utilization target nor an average value "
       "target was set",
       "failed to get cpu resource metric value: "},
      {R"({"type": "Object", "object": {"metric": {"name": "hits"},
           "target": {"type": "Utilization"}}})",
       "FailedGetObjectMetric",
       "invalid object metric source: neither a value target nor an average value target was set",
       "failed to get object metric value: "},
      {R"({"type": "Pods", "pods": {"metric": {"name": "a"}, "target": {"averageValue": "0"}}})",
       "FailedGetPodsMetric", "the target of the metric has to be positive",
       "failed to get pods metric value: "},
  }));
  CAPTURE(c.metric);
  const Evaluation result = Of("[" + c.metric + "]");
  CHECK_FALSE(result.replicas.has_value());
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures[0].reason == c.reason);
  CHECK(result.failures[0].message == c.message);
  CHECK(result.error ==
        "invalid metrics (1 invalid out of 1), first error is: " + c.error + c.message);
  CHECK(result.active.reason == c.reason);
}
