#include <catch2/catch.hpp>
#include <map>

#include "tests/sandbox/sim/member_fixture.h"

namespace sandbox {
namespace {

struct Fixture : MemberFixture {
  static json::Value Pod(const std::string& name, const std::string& cpu = "100m") {
    return Json(absl::StrCat(R"({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": ")",
                             name, R"(", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "nginx",
                                 "resources": {"requests": {"cpu": ")",
                             cpu, R"("}}}]}})"));
  }
  kube::ObjectPtr ByName(const std::string& name) { return Get(kinds::Pods(), "default", name); }
};

TEST_CASE_METHOD(Fixture, "a bare pod gets a node, addresses and becomes ready") {
  Create(Pod("p"));
  Settle();
  CHECK(ByName("p")->status()["phase"] == json::Value("Pending"));
  CHECK_FALSE(ByName("p")->spec()["nodeName"].AsString().empty());
  Advance(kReady);
  const json::Value& status = ByName("p")->status();
  CHECK(status["phase"] == json::Value("Running"));
  for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
    INFO(type);
    CHECK(kube::IsConditionTrue(status["conditions"], type));
  }
  CHECK_FALSE(status["podIP"].AsString().empty());
  CHECK(status["containerStatuses"].At(0)["ready"].AsBool());
  Advance(absl::Hours(1));
  CHECK(ByName("p")->status()["phase"] == json::Value("Running"));
}

json::Value Needing(const std::string& spec) {
  json::Value pod = Fixture::Pod("p");
  const json::Value members = Json(spec);
  for (const json::Member& member : members.members()) {
    if (member.name() == "volumes") {
      pod.Set({"spec", "volumes"}, member.value);
    } else {
      pod.Mutable(json::Path({"spec", "containers"})).MutableAt(0).Set(member.name(), member.value);
    }
  }
  return pod;
}

TEST_CASE_METHOD(Fixture, "a pod waits for the ConfigMaps and Secrets it refers to") {
  struct Case {
    const char* spec;
    const char* kind;
    const char* waiting;
  };
  const Case cases[] = {
      {R"({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "k"}}}]})",
       "ConfigMap",
       R"({"message":"configmap \"x\" not found","reason":"CreateContainerConfigError"})"},
      {R"({"envFrom": [{"secretRef": {"name": "x"}}]})", "Secret",
       R"({"message":"secret \"x\" not found","reason":"CreateContainerConfigError"})"},
      {R"({"volumes": [{"name": "v", "secret": {"secretName": "x"}}]})", "Secret",
       R"({"reason":"ContainerCreating"})"},
      {R"({"volumes": [{"name": "v", "projected": {"sources": [{"configMap": {"name": "x"}}]}}]})",
       "ConfigMap", R"({"reason":"ContainerCreating"})"},
  };
  for (const Case& c : cases) {
    INFO(c.spec);
    Create(Needing(c.spec));
    AdvanceSeconds(5);
    const json::Value& status = ByName("p")->status();
    CHECK(status["phase"] == json::Value("Pending"));
    CHECK_FALSE(kube::IsConditionTrue(status["conditions"], "Ready"));
    CHECK(json::Write(status["containerStatuses"].At(0)["state"]["waiting"]) == c.waiting);
    Create(Json(absl::StrCat(R"({"apiVersion": "v1", "kind": ")", c.kind,
                             R"(", "metadata": {"name": "x", "namespace": "default"},
                                 "data": {"k": "dg=="}})")));
    AdvanceSeconds(1);
    CHECK(kube::IsConditionTrue(ByName("p")->status()["conditions"], "Ready"));
    Delete(kinds::Pods(), "default", "p");
    Delete(std::string(c.kind) == "Secret" ? kinds::Secrets() : kinds::ConfigMaps(), "default",
           "x");
    Settle();
  }
}

TEST_CASE_METHOD(Fixture,
                 "a reference that is optional holds up no pod, a key that is missing does") {
  Create(Needing(R"({"envFrom": [{"configMapRef": {"name": "x", "optional": true}}]})"));
  AdvanceSeconds(2);
  CHECK(kube::IsConditionTrue(ByName("p")->status()["conditions"], "Ready"));
  Delete(kinds::Pods(), "default", "p");
  Create(Json(R"({"apiVersion": "v1", "kind": "ConfigMap",
                  "metadata": {"name": "x", "namespace": "default"}, "data": {"other": "v"}})"));
  Create(Needing(
      R"({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "k"}}}]})"));
  AdvanceSeconds(2);
  CHECK(
      ByName("p")->status()["containerStatuses"].At(0)["state"]["waiting"]["message"].ToString() ==
      "couldn't find key k in ConfigMap default/x");
}

TEST_CASE_METHOD(Fixture, "pods spread over the nodes") {
  for (int i = 0; i < 6; ++i) Create(Pod(absl::StrCat("p", i)));
  Settle();
  std::map<std::string, int> per_node;
  for (const auto& pod : Pods()) ++per_node[pod->spec()["nodeName"].ToString()];
  CHECK(per_node == std::map<std::string, int>{{"m-node1", 2}, {"m-node2", 2}, {"m-node3", 2}});
}

TEST_CASE_METHOD(Fixture, "a pod that fits nowhere says why and starts when there is room") {
  Create(Pod("big1", "8"));
  Create(Pod("big2", "8"));
  Create(Pod("big3", "8"));
  Create(Pod("waits", "1"));
  AdvanceSeconds(5);
  const json::Value* scheduled =
      kube::FindCondition(ByName("waits")->status()["conditions"], "PodScheduled");
  REQUIRE(scheduled != nullptr);
  CHECK((*scheduled)["reason"].ToString() == "Unschedulable");
  CHECK((*scheduled)["message"].ToString() == "0/3 nodes are available: 3 Insufficient cpu.");
  Delete(kinds::Pods(), "default", "big2");
  AdvanceSeconds(1);
  CHECK(ByName("waits")->status()["phase"] == json::Value("Running"));
}

TEST_CASE_METHOD(Fixture, "node selectors and cordoned nodes are respected") {
  Patch(kinds::Nodes(), "", "m-node2", R"({"metadata": {"labels": {"disk": "ssd"}}})");
  json::Value pod = Pod("p");
  pod.Set({"spec", "nodeSelector"}, Json(R"({"disk": "ssd"})"));
  Create(pod);
  Settle();
  CHECK(ByName("p")->spec()["nodeName"].ToString() == "m-node2");
  Patch(kinds::Nodes(), "", "m-node2", R"({"spec": {"unschedulable": true}})");
  Settle();
  pod.Set({"metadata", "name"}, "q");
  Create(pod);
  Settle();
  CHECK(ByName("q")->spec()["nodeName"].AsString().empty());
  Patch(kinds::Nodes(), "", "m-node2", R"({"spec": {"unschedulable": null}})");
  Settle();
  CHECK(ByName("q")->spec()["nodeName"].ToString() == "m-node2");
}

TEST_CASE_METHOD(Fixture, "a pod that never restarts ends") {
  json::Value pod = Pod("p");
  pod.Set({"spec", "restartPolicy"}, "Never");
  Create(pod);
  AdvanceSeconds(6);
  CHECK(ByName("p")->status()["phase"] == json::Value("Succeeded"));
  CHECK_FALSE(kube::IsConditionTrue(ByName("p")->status()["conditions"], "Ready"));
}

TEST_CASE("a pod requests the sum of its containers or its largest init container") {
  const kube::Object pod(Json(R"({"spec": {
      "containers": [{"resources": {"requests": {"cpu": "100m", "memory": "1Gi"}}},
                     {"resources": {"requests": {"cpu": "200m"}}}],
      "initContainers": [{"resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}],
      "overhead": {"cpu": "50m"}}})"));
  const Amounts amounts = RequestsOf(pod);
  CHECK(amounts.at("cpu").ToString() == "1050m");
  CHECK(amounts.at("memory").ToString() == "1Gi");
  CHECK(amounts.at("pods").ToString() == "1");
}

}  // namespace
}  // namespace sandbox
