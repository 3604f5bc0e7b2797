// The example webhook on a real TLS socket, asked through the layer and the chain in both dialects.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"
#include "examples/webhook/messages.h"
#include "examples/webhook/server.h"
#include "interpreter/webhook/configuration.h"
#include "interpreter/webhook/webhook_backend.h"
#include "tests/interpreter/webhook/hooks.h"

namespace {

using interpreter::Operation;
using interpreter::webhook::Configuration;
using interpreter::webhook::Dialect;
using interpreter::webhook::Hook;
using interpreter::webhook::HookSet;
using interpreter::webhook::ReadConfiguration;
using interpreter::webhook::WebhookBackend;
using tests::Json;

// The server, its manifests, and the layer that they configure.
struct Example {
  example::RunningServer running = example::StartServer({.address = "127.0.0.1:0"}).value();
  std::map<std::string, kube::Object> manifests;  // By kind.
  WebhookBackend backend{{}};

  Example() {
    tls::DisableSystemBundlePerConnection();
    const auto text = example::FilledManifests("examples/webhook/manifests", running);
    REQUIRE(text.ok());
    const auto documents = yaml::ParseAll(*text);
    REQUIRE(documents.ok());
    for (const json::Value& document : *documents) {
      const kube::Object object(document);
      manifests[std::string(object.kind())] = object;
    }
  }

  std::vector<Hook> HooksOf(const char* kind) {
    const Configuration read = ReadConfiguration(manifests.at(kind));
    CHECK(read.problems.empty());
    return read.hooks;
  }
  void Configure(std::vector<Hook> hooks) {
    backend.Replace(std::make_shared<HookSet>(std::move(hooks), &tests::LookUp));
  }
  // Asks the example's hook for everything in this dialect.
  void UseAll(Dialect dialect) {
    Hook hook = tests::WorkloadHook("c/w", dialect);
    hook.client = HooksOf("ResourceInterpreterWebhookConfiguration")[0].client;
    Configure({hook});
  }
};

kube::Object Workload() {
  return kube::Object(Json(R"({
    "apiVersion": "workload.example.io/v1alpha1", "kind": "Workload",
    "metadata": {"name": "web", "namespace": "default",
                 "annotations": {"workload.example.io/notes": "n", "keep": "k"}},
    "spec": {"replicas": 4, "unknown": {"kept": []}, "template": {"spec": {
      "nodeSelector": {"disk": "ssd"},
      "containers": [{"resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}},
                     {"resources": {"requests": {"cpu": "1"}}}],
      "volumes": [{"configMap": {"name": "settings"}}, {"secret": {"secretName": "keys"}}]}}},
    "status": {"readyReplicas": 3, "more": true}})"));
}

}  // namespace

TEST_CASE_METHOD(Example, "the example answers every operation in both dialects") {
  for (const Dialect dialect : {Dialect::kInterpreterContext, Dialect::kExploreReview}) {
    CAPTURE(dialect == Dialect::kExploreReview);
    UseAll(dialect);
    const kube::Object workload = Workload();

    const auto replicas = backend.GetReplicas(workload);
    INFO(replicas.status());
    REQUIRE(replicas.ok());
    CHECK(replicas->replicas == 4);
    CHECK(replicas->requirements == Json(R"({"resourceRequest":{"cpu":"1100m","memory":"64Mi"},
                   "nodeClaim":{"nodeSelector":{"disk":"ssd"}}})"));

    kube::Object want = workload;
    want.Set({"spec", "replicas"}, 2);
    CHECK(backend.ReviseReplica(workload, 2).value() == want);

    kube::Object observed = workload;
    observed.Set({"spec", "paused"}, true);
    want = workload;
    want.Set({"spec", "paused"}, true);
    CHECK(backend.Retain(workload, observed).value() == want);
    CHECK(backend.Retain(want, workload).value() == workload);
    CHECK(backend.Retain(workload, workload).value() == workload);

    const auto aggregated = backend.AggregateStatus(
        workload, Json(R"([{"clusterName":"m1","status":{"readyReplicas":1}},
                           {"clusterName":"m2","status":{"readyReplicas":2}},
                           {"clusterName":"m3","applied":false}])"));
    REQUIRE(aggregated.ok());
    CHECK(aggregated->status() == Json(R"({"readyReplicas":3})"));
    CHECK(aggregated->spec() == workload.spec());

    CHECK(backend.GetDependencies(workload).value() ==
          Json(R"([{"apiVersion":"v1","kind":"ConfigMap","namespace":"default","name":"settings"},
                   {"apiVersion":"v1","kind":"Secret","namespace":"default","name":"keys"}])"));
    CHECK(backend.ReflectStatus(workload).value() == Json(R"({"readyReplicas":3})"));
    const interpreter::Health unhealthy = backend.InterpretHealth(workload).value();
    CHECK_FALSE(unhealthy.healthy);
    CHECK(unhealthy.message == "3 of 4 replicas are ready");
    kube::Object ready = workload;
    ready.Set({"status", "readyReplicas"}, 4);
    CHECK(backend.InterpretHealth(ready).value());
  }
}

TEST_CASE_METHOD(Example, "the example answers what only one dialect asks") {
  UseAll(Dialect::kInterpreterContext);
  const json::Value components = backend.GetComponents(Workload()).value();
  REQUIRE(components.size() == 1);
  CHECK(components.At(0)["name"].AsString() == "main");
  CHECK(components.At(0)["replicas"].AsInt() == 4);
  UseAll(Dialect::kExploreReview);
  kube::Object pruned = Workload();
  pruned.EraseAnnotation("workload.example.io/notes");
  CHECK(backend.Prune(Workload()).value() == pruned);
  CHECK(backend.Prune(pruned).value() == pruned);
}

TEST_CASE_METHOD(Example, "its manifests of both dialects work together") {
  std::vector<Hook> hooks = HooksOf("ResourceInterpreterWebhookConfiguration");
  for (Hook& hook : HooksOf("ResourceExploringWebhookConfiguration")) hooks.push_back(hook);
  Configure(hooks);
  const kube::Gvk gvk = Workload().gvk();
  for (const Operation op : interpreter::kAllOperations) {
    CHECK(backend.RuleOf(gvk, op) == (op == Operation::kPrune ? "examples/packing.example.com"
                                                              : "examples/workloads.example.com"));
  }
  CHECK(backend.GetReplicas(Workload())->replicas == 4);
  CHECK(backend.Prune(Workload())->annotations().size() == 1);
  CHECK(manifests.contains("CustomResourceDefinition"));
}

TEST_CASE_METHOD(Example, "a Workload that makes no sense is refused with the example's words") {
  kube::Object workload = Workload();
  workload.Set({"spec", "replicas"}, "many");
  UseAll(Dialect::kInterpreterContext);
  CHECK(backend.GetReplicas(workload).status().message() ==
        "Internal error occurred: failed calling webhook \"c/w\": webhook call failed, get status "
        "code: 400, msg: .spec.replicas accessor error: many is of the type string, expected "
        "int64");
  UseAll(Dialect::kExploreReview);
  CHECK_THAT(std::string(backend.GetReplicas(workload).status().message()),
             Catch::Contains("an error on the server (") && Catch::Contains("accessor error"));
}

TEST_CASE("the example refuses what is not a question") {
  const auto code = [](const std::string& method, const std::string& body) {
    base::HttpRequest request;
    request.method = method;
    request.body = body;
    return example::AnswerTo(request).code;
  };
  CHECK(code("GET", "{}") == 400);
  CHECK(code("POST", "no") == 400);
  CHECK(code("POST", "{}") == 400);
  CHECK(code("POST", R"({"kind":"ExploreReview","request":{"kind":{"kind":"Pod"}}})") == 500);
}

TEST_CASE("the example uses the certificate it is given") {
  const absl::Status missing =
      example::StartServer({.certificate_file = "/nonexistent", .key_file = "/nonexistent"})
          .status();
  CHECK(missing.code() == absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(missing.message()), Catch::Contains("/nonexistent"));
  CHECK_FALSE(example::FilledManifests("/nonexistent", {}).ok());
}
