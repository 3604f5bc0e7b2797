// When upstream rewrites an object, and when it returns it as it came.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "interpreter/interpreter.h"
#include "tests/support/fake_clock.h"

namespace {

kube::Object Parse(const std::string& text) { return kube::Object(json::Parse(text).value()); }

// Returns an object of that kind with a field that no struct has; the field is missing in rewritten
// objects.
kube::Object Marked(const std::string& api_version, const std::string& kind,
                    const std::string& rest) {
  kube::Object object = Parse(rest);
  object.Set({"apiVersion"}, api_version);
  object.Set({"kind"}, kind);
  object.Set({"unknown"}, true);
  return object;
}

const interpreter::Backend& UpstreamForm() {
  static const tests::FakeClock clock;
  static const auto backend = interpreter::NewUpstreamFormBackend(clock);
  return *backend;
}

bool IsRewritten(const kube::Object& object, const std::string& items) {
  const auto out = UpstreamForm().AggregateStatus(object, json::Parse(items).value());
  REQUIRE(out.ok());
  if (!out->root().Has("unknown")) return true;
  CHECK(out->root() == object.root());
  return false;
}

}  // namespace

TEST_CASE("Upstream rewrites a Deployment when a counter changes") {
  const std::string items = R"([{"clusterName":"m","status":{"replicas":2}}])";
  CHECK(IsRewritten(Marked("apps/v1", "Deployment", R"({"status":{"replicas":1}})"), items));
  CHECK_FALSE(IsRewritten(
      Marked("apps/v1", "Deployment", R"({"status":{"replicas":2,"conditions":[]}})"), items));
}

TEST_CASE("Upstream rewrites every DaemonSet with conditions or a collision count") {
  const auto daemon_set = [](const std::string& status) {
    return IsRewritten(Marked("apps/v1", "DaemonSet", absl::StrCat("{\"status\":", status, "}")),
                       "null");
  };
  CHECK_FALSE(daemon_set(R"({"numberReady":0,"conditions":[]})"));
  CHECK(daemon_set(R"({"conditions":[{"type":"A","status":"True"}]})"));
  CHECK(daemon_set(R"({"collisionCount":0})"));
}

TEST_CASE("Upstream distinguishes an empty list from an absent one") {
  CHECK(IsRewritten(Marked("v1", "Pod", R"({"status":{}})"), "[]"));
  CHECK_FALSE(IsRewritten(Marked("v1", "Pod", R"({"status":{"containerStatuses":[]}})"), "[]"));
  const std::string policy = "policy/v1";
  const std::string budget = "PodDisruptionBudget";
  CHECK(IsRewritten(Marked(policy, budget, R"({"status":{"expectedPods":0}})"), "[]"));
  CHECK_FALSE(IsRewritten(Marked(policy, budget, R"({"status":{"disruptedPods":{}}})"), "[]"));
  const std::string networking = "networking.k8s.io/v1";
  CHECK(IsRewritten(Marked(networking, "Ingress", R"({"status":{"loadBalancer":{}}})"), "[]"));
  CHECK_FALSE(IsRewritten(
      Marked(networking, "Ingress", R"({"status":{"loadBalancer":{"ingress":[]}}})"), "[]"));
  CHECK(IsRewritten(Marked("batch/v1", "CronJob", R"({"status":{"active":[]}})"), "[]"));
  CHECK_FALSE(IsRewritten(Marked("batch/v1", "CronJob", R"({"status":{}})"), "[]"));
}

TEST_CASE("A status that says the same in unknown fields, zeros and nulls is not rewritten") {
  const std::string items = R"([{"clusterName":"m","status":{"phase":"Bound"}}])";
  CHECK_FALSE(IsRewritten(Marked("v1", "PersistentVolumeClaim",
                                 R"({"status":{"phase":"Bound","capacity":null,"other":1}})"),
                          items));
  CHECK(IsRewritten(Marked("v1", "PersistentVolumeClaim",
                           R"({"status":{"phase":"Bound","capacity":{"storage":"1Gi"}}})"),
                    items));
}

TEST_CASE("Services without load balancer and finished Jobs come back as they are") {
  CHECK_FALSE(IsRewritten(Marked("v1", "Service", R"({"spec":{"type":"ClusterIP"}})"), "[]"));
  CHECK(IsRewritten(Marked("v1", "Service", R"({"spec":{"type":"LoadBalancer"}})"), "[]"));
  CHECK_FALSE(
      IsRewritten(Marked("batch/v1", "Job",
                         R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})"),
                  R"([{"clusterName":"m","status":{"active":1}}])"));
}

TEST_CASE("A Pod without any items is rewritten all the same") {
  CHECK(IsRewritten(Marked("v1", "Pod", R"({"status":{"phase":"Running"}})"), "null"));
}

TEST_CASE("An object that does not fit its struct cannot be aggregated") {
  const auto out = UpstreamForm().AggregateStatus(
      Marked("apps/v1", "Deployment", R"({"spec":{"replicas":"two"}})"), json::Value());
  CHECK(out.status().message() ==
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
        "int32");
}

TEST_CASE("A retained Pod is rewritten; what does not fit is an error, on either side") {
  const kube::Object desired = Marked("v1", "Pod", R"({"spec":{"containers":[{"name":"c"}]}})");
  const auto out = UpstreamForm().Retain(
      desired, Marked("v1", "Pod", R"({"spec":{"nodeName":"n","volumes":[{"name":"v"}]}})"));
  CHECK(json::Write(out->root()) ==
        R"({"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":)"
        R"([{"name":"c","resources":{}}],"nodeName":"n","volumes":[{"name":"v"}]},"status":{}})");
  CHECK_FALSE(
      UpstreamForm().Retain(desired, Marked("v1", "Pod", R"({"spec":{"priority":"x"}})")).ok());
}

TEST_CASE("A retained ServiceAccount says null where there are no references") {
  const auto out = UpstreamForm().Retain(
      Marked("v1", "ServiceAccount", R"({"secrets":[]})"),
      Marked("v1", "ServiceAccount", R"({"imagePullSecrets":[{"name":"a"}]})"));
  CHECK(json::Write(out->root()) == R"({"apiVersion":"v1","imagePullSecrets":[{"name":"a"}],)"
                                    R"("kind":"ServiceAccount","secrets":null,"unknown":true})");
}
