// EndpointSlices and ResourceQuotas of a member.
#include "sandbox/sim/member_extras.h"

#include <string>

#include "absl/strings/match.h"
#include "sandbox/kinds/api_errors.h"
#include "tests/sandbox/sim/member_fixture.h"

namespace sandbox {
namespace {

struct ExtrasFixture : MemberFixture {
  MemberExtras extras{backend, loop};

  const kube::Resource slices = backend.Find({"discovery.k8s.io", "v1", "EndpointSlice"});
  const kube::Resource services = backend.Find({"", "v1", "Service"});
  const kube::Resource quotas = backend.Find({"", "v1", "ResourceQuota"});

  json::Value Web(int replicas, const std::string& cpu) {
    json::Value web = Workload("Deployment", replicas);
    json::Value& container = web.Mutable({"spec", "template", "spec", "containers"}).MutableAt(0);
    container.Set({"resources", "requests", "cpu"}, cpu);
    container.Set("ports", Json(R"([{"name": "http", "containerPort": 8080}])"));
    return web;
  }
  void CreateService() {
    Create(R"({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"},
                 "ports": [{"name": "main", "port": 80, "targetPort": "http"}]}})");
  }
  void CreateQuota(const std::string& hard) {
    json::Value quota = Json(R"({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"}})");
    quota.Set({"spec", "hard"}, Json(hard));
    Create(std::move(quota));
    Settle();
  }
  std::string Used(const char* resource) {
    return Get(quotas, "default", "q")->status()["used"][resource].ToString();
  }
};

}  // namespace

TEST_CASE_METHOD(ExtrasFixture, "a Service has a slice with its ready pods and their ports") {
  CreateService();
  Create(Web(2, "100m"));
  Settle();
  AdvanceSeconds(2);
  const auto all = List(slices, "default");
  REQUIRE(all.size() == 1);
  const kube::Object& slice = *all[0];
  CHECK(absl::StartsWith(slice.name(), "web-"));
  CHECK(slice.Label("kubernetes.io/service-name") == "web");
  CHECK(slice.root()["ports"] == Json(R"([{"name": "main", "port": 8080, "protocol": "TCP"}])"));
  REQUIRE(slice.root()["endpoints"].size() == 2);
  const json::Value& endpoint = slice.root()["endpoints"].At(0);
  CHECK(endpoint["conditions"]["ready"].AsBool());
  CHECK(endpoint["targetRef"]["kind"].AsString() == "Pod");
  CHECK(absl::StartsWith(endpoint["addresses"].At(0).AsString(), "10.244."));

  Patch(kinds::Deployments(), "default", "web", R"({"spec": {"replicas": 1}})");
  Settle();
  AdvanceSeconds(1);
  CHECK(List(slices, "default")[0]->root()["endpoints"].size() == 1);
  Delete(services, "default", "web");
  Settle();
  CHECK(List(slices, "default").empty());
}

TEST_CASE_METHOD(ExtrasFixture, "a slice that somebody else has made stays as it is") {
  CreateService();
  Create(R"({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
      "metadata": {"name": "member2-web", "namespace": "default",
                   "labels": {"kubernetes.io/service-name": "web"}},
      "endpoints": [{"addresses": ["10.9.9.9"]}]})");
  Settle();
  CHECK(List(slices, "default").size() == 2);
  CHECK(Get(slices, "default", "member2-web")->root()["endpoints"].size() == 1);
}

TEST_CASE_METHOD(ExtrasFixture, "pods beyond a quota are not created, and the workload says why") {
  CreateQuota(R"({"requests.cpu": "500m", "pods": "10", "count/configmaps": "1"})");
  CHECK(Used("requests.cpu") == "0");
  Create(Web(3, "200m"));
  Settle();
  AdvanceSeconds(2);
  CHECK(Pods().size() == 2);
  CHECK(Used("requests.cpu") == "400m");
  CHECK(Used("pods") == "2");
  const auto web = Get(kinds::Deployments(), "default", "web");
  const json::Value* failure = kube::FindCondition(web->status()["conditions"], "ReplicaFailure");
  REQUIRE(failure != nullptr);
  CHECK(absl::StrContains((*failure)["message"].AsString(),
                          "exceeded quota: q, requested: requests.cpu=200m, used: "
                          "requests.cpu=400m, limited: requests.cpu=500m"));

  Patch(quotas, "default", "q", R"({"spec": {"hard": {"requests.cpu": "1"}}})");
  AdvanceSeconds(4);
  CHECK(Pods().size() == 3);
  CHECK(kube::FindCondition(Get(kinds::Deployments(), "default", "web")->status()["conditions"],
                            "ReplicaFailure") == nullptr);
}

TEST_CASE_METHOD(ExtrasFixture, "objects are counted, and pods have to state what a quota counts") {
  CreateQuota(R"({"count/secrets": "0", "limits.cpu": "1"})");
  Create(R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})");
  const auto refused = [&](const char* text) {
    const kube::Object object(Json(text));
    const absl::Status status =
        backend.Create(backend.Find(object.gvk()).gvr(), object, false).status();
    return status.ok() ? std::string() : ErrorOf(status).message;
  };
  CHECK(refused(R"({"apiVersion": "v1", "kind": "Secret",
                    "metadata": {"name": "s", "namespace": "default"}})") ==
        "secrets \"s\" is forbidden: exceeded quota: q, requested: count/secrets=1, used: "
        "count/secrets=0, limited: count/secrets=0");
  CHECK(refused(R"({"apiVersion": "v1", "kind": "Pod",
                    "metadata": {"name": "p", "namespace": "default"},
                    "spec": {"containers": [{"name": "c", "image": "i"}]}})") ==
        "pods \"p\" is forbidden: failed quota: q: must specify limits.cpu for: c");
  CHECK(refused(R"({"apiVersion": "v1", "kind": "Secret",
                    "metadata": {"name": "s", "namespace": "other"}})")
            .empty());
}

}  // namespace sandbox
