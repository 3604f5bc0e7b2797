// What the built-in handlers say about objects that are not healthy.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "interpreter/interpreter.h"

namespace {

// Returns "healthy", or the message, of an object with these further members.
std::string HealthOf(absl::string_view api_version, absl::string_view kind,
                     absl::string_view rest) {
  static const auto backend = interpreter::NewNativeBackend();
  kube::Object object(json::Parse(rest).value());
  object.Set({"apiVersion"}, api_version);
  object.Set({"kind"}, kind);
  const interpreter::Health health = backend->InterpretHealth(object).value();
  if (health.healthy) CHECK(health.message.empty());
  return health.healthy ? "healthy" : health.message;
}

std::string Deployment(absl::string_view status) {
  return HealthOf(
      "apps/v1", "Deployment",
      absl::StrCat(R"({"metadata":{"generation":2},"spec":{"replicas":3},"status":)", status, "}"));
}

}  // namespace

TEST_CASE("a Deployment counts what is missing") {
  CHECK(Deployment(R"({"observedGeneration":2,"updatedReplicas":3,"availableReplicas":3})") ==
        "healthy");
  CHECK(Deployment(R"({"observedGeneration":1,"updatedReplicas":3,"availableReplicas":3})") ==
        "its controller has not seen generation 2 yet");
  CHECK(Deployment(R"({"observedGeneration":2,"updatedReplicas":1,"availableReplicas":2})") ==
        "1 of 3 replicas are updated, 2 available");
  CHECK(Deployment(R"({"observedGeneration":2,"updatedReplicas":3,"availableReplicas":2})") ==
        "2 of 3 replicas are available");
}

TEST_CASE("a Deployment's own reason comes first, and what made it fail before what follows") {
  CHECK(Deployment(R"({"observedGeneration":2,"conditions":[
      {"type":"Available","status":"False","message":"no minimum availability"},
      {"type":"Progressing","status":"False","message":"deadline exceeded"}]})") ==
        "deadline exceeded");
  CHECK(Deployment(R"({"observedGeneration":2,"conditions":[
      {"type":"Progressing","status":"False","message":"deadline exceeded"},
      {"type":"ReplicaFailure","status":"True","message":"exceeded quota"}]})") ==
        "exceeded quota");
  // Conditions that report no failure, or nothing that could be read, are passed over.
  CHECK(Deployment(R"({"observedGeneration":2,"conditions":[
      {"type":"Progressing","status":"True","message":"progressing"},
      {"type":"ReplicaFailure","status":"True","message":7}]})") ==
        "0 of 3 replicas are updated, 0 available");
}

TEST_CASE("other workloads count, too") {
  CHECK(HealthOf("apps/v1", "StatefulSet",
                 R"({"spec":{"replicas":3},"status":{"updatedReplicas":3}})") ==
        "0 of 3 replicas are available");
  CHECK(HealthOf("apps/v1", "ReplicaSet",
                 R"({"spec":{"replicas":3},"status":{"availableReplicas":1}})") ==
        "1 of 3 replicas are available");
  CHECK(HealthOf("apps/v1", "DaemonSet",
                 R"({"status":{"desiredNumberScheduled":4,"updatedNumberScheduled":4,
                               "numberAvailable":1}})") == "1 of 4 replicas are available");
}

TEST_CASE("replicas that the user holds back are not missing") {
  const auto set = [](absl::string_view strategy, absl::string_view status) {
    return HealthOf("apps/v1", "StatefulSet",
                    absl::StrCat(R"({"spec":{"replicas":10,"updateStrategy":)", strategy,
                                 R"(},"status":)", status, "}"));
  };
  const char partition[] = R"({"rollingUpdate":{"partition":7}})";
  CHECK(set(partition, R"({"updatedReplicas":3,"availableReplicas":10})") == "healthy");
  CHECK(set(partition, R"({"updatedReplicas":2,"availableReplicas":9})") ==
        "2 of 3 replicas are updated, 9 available");
  CHECK(set(partition, R"({"updatedReplicas":3,"availableReplicas":9})") ==
        "9 of 10 replicas are available");
  CHECK(set(R"({"type":"OnDelete"})", R"({"availableReplicas":9})") ==
        "9 of 10 replicas are available");
}

TEST_CASE("a Pod says which container waits, or why it is not scheduled") {
  CHECK(HealthOf("v1", "Pod", R"({"status":{"phase":"Pending","containerStatuses":[
      {"name":"a","state":{"running":{}}},
      {"name":"b","state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}],
      "conditions":[{"type":"Ready","status":"False","message":"containers with unready status"}]
      }})") == "the pod is Pending: container b: ImagePullBackOff: no such image");
  CHECK(HealthOf("v1", "Pod", R"({"status":{"phase":"Pending","conditions":[
      {"type":"PodScheduled","status":"False","message":"0/3 nodes are available"}]}})") ==
        "the pod is Pending: 0/3 nodes are available");
  CHECK(HealthOf("v1", "Pod", R"({"status":{"phase":"Failed","message":"evicted"}})") ==
        "the pod is Failed: evicted");
  CHECK(HealthOf("v1", "Pod", "{}") == "the pod is without a phase");
}

TEST_CASE("what has no address, is not bound or not enough says so") {
  CHECK(HealthOf("v1", "Service", R"({"spec":{"type":"LoadBalancer"}})") ==
        "status.loadBalancer has no address yet");
  CHECK(HealthOf("networking.k8s.io/v1", "Ingress", "{}") ==
        "status.loadBalancer has no address yet");
  CHECK(HealthOf("v1", "PersistentVolumeClaim", R"({"status":{"phase":"Lost"}})") ==
        "the claim is Lost");
  CHECK(HealthOf("v1", "PersistentVolumeClaim", "{}") == "the claim is not bound yet");
  CHECK(HealthOf("policy/v1", "PodDisruptionBudget",
                 R"({"status":{"currentHealthy":1,"desiredHealthy":2}})") ==
        "1 of at least 2 pods are healthy");
}
