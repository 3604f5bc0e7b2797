// EndpointSlices and ResourceQuotas of a member.
#include "sandbox/sim/member_extras.h"

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
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

TEST_CASE_METHOD(ExtrasFixture, "who cannot create pods has an event, once for each reason") {
  CreateQuota(R"({"pods": "0"})");
  const auto create = [&](const char* version, const char* kind, const char* spec,
                          const char* restart) {
    Create(Json(absl::Substitute(R"({"apiVersion": "$0", "kind": "$1",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {$2, "template": {
          "metadata": {"labels": {"app": "x"}},
          "spec": {"restartPolicy": "$3", "containers": [{"name": "c", "image": "i"}]}}}})",
                                 version, kind, spec, restart)));
  };
  constexpr char kSelector[] = R"("selector": {"matchLabels": {"app": "x"}})";
  create("apps/v1", "ReplicaSet", kSelector, "Always");
  create("apps/v1", "StatefulSet", kSelector, "Always");
  create("apps/v1", "DaemonSet", kSelector, "Always");
  create("batch/v1", "Job", R"("completions": 1, "parallelism": 1)", "Never");
  Settle();
  AdvanceSeconds(30);
  CHECK(Pods().empty());
  std::map<std::string, std::string> refusals;
  std::map<std::string, int64_t> counts;
  for (const kube::ObjectPtr& event : List(kinds::Events())) {
    if (event->Get({"reason"}).AsString() != "FailedCreate") continue;
    const std::string about(event->Get({"involvedObject", "kind"}).AsString());
    CHECK(refusals.emplace(about, event->Get({"message"}).AsString()).second);
    counts[about] = event->Get({"count"}).AsInt();
  }
  constexpr char kWhy[] =
      "is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0";
  CHECK(refusals ==
        std::map<std::string, std::string>{
            {"DaemonSet", absl::StrCat("Error creating: pods \"x-\" ", kWhy)},
            {"Job", absl::StrCat("Error creating: pods \"x-\" ", kWhy)},
            {"ReplicaSet", absl::StrCat("Error creating: pods \"x-\" ", kWhy)},
            {"StatefulSet",
             absl::StrCat("create Pod x-0 in StatefulSet x failed error: pods \"x-0\" ", kWhy)}});
  CHECK(counts["Job"] > 1);
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

// Creates a quota of one pod with the given scopes, and returns the messages with which pods are
// refused; "" for those that are created.
struct ScopesFixture : ExtrasFixture {
  std::string Refused(const std::string& name, const std::string& spec) {
    json::Value pod = Json(R"({"apiVersion": "v1", "kind": "Pod"})");
    pod.Set({"metadata", "name"}, name);
    pod.Set({"metadata", "namespace"}, "default");
    pod.Set("spec", Json(spec));
    const absl::Status status =
        backend.Create(kinds::Pods().gvr(), kube::Object(pod), false).status();
    Settle();
    return status.ok() ? std::string() : ErrorOf(status).message;
  }
  void CreateScoped(const std::string& scopes) {
    json::Value quota = Json(R"({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"pods": "1"}}})");
    const json::Value given = Json(scopes);
    for (const json::Member& part : given.members()) {
      quota.Set({"spec", part.name()}, part.value);
    }
    Create(std::move(quota));
  }
  // Both kinds of pods are created twice; only the second of those in the scope is refused.
  void CheckOnlyCounts(const std::string& inside, const std::string& outside) {
    CHECK(Refused("outside-1", outside).empty());
    CHECK(Refused("inside-1", inside).empty());
    CHECK(Used("pods") == "1");
    CHECK(Refused("outside-2", outside).empty());
    CHECK(Refused("inside-2", inside) ==
          "pods \"inside-2\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, "
          "limited: pods=1");
    CHECK(Used("pods") == "1");
  }
  const std::string bare = R"({"containers": [{"name": "c", "image": "i"}]})";
  const std::string ending =
      R"({"activeDeadlineSeconds": 60, "containers": [{"name": "c", "image": "i"}]})";
  const std::string sized = R"({"containers": [
      {"name": "c", "image": "i", "resources": {"requests": {"cpu": "10m"}}}]})";
  const std::string urgent =
      R"({"priorityClassName": "urgent", "containers": [{"name": "c", "image": "i"}]})";
};

TEST_CASE_METHOD(ScopesFixture, "a quota of pods that end by themselves counts no others") {
  CreateScoped(R"({"scopes": ["Terminating"]})");
  CheckOnlyCounts(ending, bare);
}

TEST_CASE_METHOD(ScopesFixture, "a quota of pods that run for ever counts no others") {
  CreateScoped(R"({"scopes": ["NotTerminating"]})");
  CheckOnlyCounts(bare, ending);
}

TEST_CASE_METHOD(ScopesFixture, "a quota of pods without requests counts no others") {
  CreateScoped(R"({"scopes": ["BestEffort"]})");
  CheckOnlyCounts(bare, sized);
}

TEST_CASE_METHOD(ScopesFixture, "a quota of pods with requests counts no others") {
  CreateScoped(R"({"scopes": ["NotBestEffort", "NotTerminating"]})");
  CheckOnlyCounts(sized, bare);
}

TEST_CASE_METHOD(ScopesFixture, "a quota of a priority class counts its pods") {
  CreateScoped(R"({"scopeSelector": {"matchExpressions": [
      {"scopeName": "PriorityClass", "operator": "In", "values": ["urgent", "high"]}]}})");
  CheckOnlyCounts(urgent, bare);
}

TEST_CASE_METHOD(ScopesFixture, "a quota of other priority classes leaves one out") {
  CreateScoped(R"({"scopeSelector": {"matchExpressions": [
      {"scopeName": "PriorityClass", "operator": "NotIn", "values": ["urgent"]}]}})");
  CheckOnlyCounts(bare, urgent);
}

}  // namespace sandbox
