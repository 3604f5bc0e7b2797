// The messages of questions that get no metrics are those of upstream and its libraries.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "controllers/autoscaling/metrics_client.h"
#include "tests/kube/client/scripted_transport.h"
#include "tests/support/fake_clock.h"

namespace {

using api::MetricSpec;
using tests::Answer;

const kube::Resource kServices{{"", "v1", "Service"}, "services", true};

// Answers a path without its query from `answers`, and any other as an API server answers a group
// that it does not have.
struct Fixture {
  std::map<std::string, kube::HttpResponse> answers;
  std::shared_ptr<tests::ScriptedTransport> server = std::make_shared<tests::ScriptedTransport>(
      [this](const kube::HttpRequest& request, int) -> absl::StatusOr<kube::HttpResponse> {
        const auto found = answers.find(request.path.substr(0, request.path.find('?')));
        return found == answers.end() ? Answer(404, "404 page not found\n") : found->second;
      });
  tests::FakeClock clock;
  metrics::Registry registry;
  kube::Client client{server, {.name = "fake"}, clock, nullptr};
  kube::RestMapper mapper{client, clock};
  autoscaling::MetricsClient metrics{client, mapper, registry};

  Fixture() {
    kube::Discovery discovery;
    discovery.resources.push_back({.resource = kServices, .verbs = {}, .preferred = true});
    mapper.Update(discovery);
  }
  std::string Resource() {
    MetricSpec spec;
    spec.resource = "cpu";
    return std::string(metrics.Resource({"ns", "app=web"}, spec, {}).status().message());
  }
  std::string Pods() {
    MetricSpec spec;
    spec.metric = "requests";
    return std::string(metrics.Pods({"ns", "app=web"}, spec, {}).status().message());
  }
  std::string Object(const std::string& api_version, const std::string& kind) {
    MetricSpec spec;
    spec.metric = "hits";
    spec.described_object =
        json::Value::Object({{"apiVersion", api_version}, {"kind", kind}, {"name", "web"}});
    return std::string(metrics.Object("ns", spec, {}).status().message());
  }
  void ServeCustom(const std::string& version = "v1beta2") {
    answers["/apis/custom.metrics.k8s.io"] =
        Answer(200, R"({"kind": "APIGroup", "versions": [{"version": ")" + version + R"("}]})");
  }
};

constexpr char kStatus[] = R"({"kind": "Status", "apiVersion": "v1", "status": "Failure",
    "reason": "NotFound", "code": 404,
    "message": "the server could not find the metric requests for pods"})";
constexpr char kPodsPath[] = "/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods";
constexpr char kValuesPath[] = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/pods/*/requests";

}  // namespace

TEST_CASE_METHOD(Fixture, "a metrics API that is absent or down is called by client-go's words") {
  const std::string begin = "unable to fetch metrics from resource metrics API: ";
  CHECK(Resource() ==
        begin + "the server could not find the requested resource (get pods.metrics.k8s.io)");
  answers[kPodsPath] = Answer(403, "not for you\n");
  CHECK(Resource() == begin + "not for you (get pods.metrics.k8s.io)");
  answers[kPodsPath] = Answer(503, "service unavailable\n");
  CHECK(Resource() ==
        begin + "the server is currently unable to handle the request (get pods.metrics.k8s.io)");
}

TEST_CASE_METHOD(Fixture, "a custom metrics API that is absent is called by discovery's words") {
  const std::string begin = "unable to fetch metrics from custom metrics API: ";
  const std::string absent = begin + "no custom metrics API (custom.metrics.k8s.io) registered";
  CHECK(Pods() == absent);
  CHECK(Object("v1", "Service") == absent);
  CHECK(Object("example.io/v1", "Moon") == absent);
  ServeCustom("v3");
  CHECK(Pods() == begin + "no known available metric versions found");
}

TEST_CASE_METHOD(Fixture, "a custom metric that is absent is called by the words of its server") {
  const std::string begin = "unable to fetch metrics from custom metrics API: ";
  ServeCustom();
  CHECK(Pods() ==
        begin +
            "the server could not find the requested resource (get pods.custom.metrics.k8s.io *)");
  CHECK(Object("v1", "Service") == begin +
                                       "the server could not find the requested resource (get "
                                       "services.custom.metrics.k8s.io web)");
  CHECK(Object("v1", "Namespace") == begin +
                                         "the server could not find the requested resource (get "
                                         "metrics.custom.metrics.k8s.io hits)");
  CHECK(Object("example.io/v1", "Moon") ==
        begin +
            "unable to map kind Moon.example.io to resource: no matches for kind \"Moon\" in "
            "group \"example.io\"");
  answers[kValuesPath] = Answer(404, kStatus);
  CHECK(Pods() == begin + "the server could not find the metric requests for pods");
  answers[kValuesPath] = Answer(200, R"({"items": []})");
  CHECK(Pods() == "no metrics returned from custom metrics API");
  answers["/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/services/web/hits"] =
      Answer(200, R"({"items": [{"value": "1"}, {"value": "2"}]})");
  CHECK(Object("v1", "Service") ==
        begin + "the custom metrics API server returned 2 results when we asked for exactly one");
}
