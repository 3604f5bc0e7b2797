#include <catch2/catch.hpp>
#include <set>

#include "sandbox/sim/rollout.h"
#include "tests/sandbox/sim/member_fixture.h"

namespace sandbox {
namespace {

struct Fixture : MemberFixture {
  kube::ObjectPtr Web() { return Get(kinds::Deployments(), "default", "web"); }
  int64_t Status(absl::string_view field) { return Web()->status()[field].AsInt(); }
  std::string Reason(absl::string_view type) {
    const json::Value* condition = kube::FindCondition(Web()->status()["conditions"], type);
    return condition == nullptr ? "" : (*condition)["reason"].ToString();
  }
};

TEST_CASE_METHOD(Fixture, "a deployment makes pods that become ready after the delay") {
  Create(Workload("Deployment", 3));
  Settle();
  CHECK(CountPods("Pending") == 3);
  CHECK(Status("replicas") == 3);
  CHECK(Status("updatedReplicas") == 3);
  CHECK(Status("unavailableReplicas") == 3);
  CHECK(Status("readyReplicas") == 0);
  CHECK(Status("observedGeneration") == 1);
  CHECK(Reason("Available") == "MinimumReplicasUnavailable");
  CHECK(Reason("Progressing") == "ReplicaSetUpdated");
  Advance(kReady);
  CHECK(CountPods("Running") == 3);
  CHECK(Status("readyReplicas") == 3);
  CHECK(Status("availableReplicas") == 3);
  CHECK(Web()->status()["unavailableReplicas"].is_null());
  CHECK(Reason("Available") == "MinimumReplicasAvailable");
  CHECK(Reason("Progressing") == "NewReplicaSetAvailable");
}

TEST_CASE_METHOD(Fixture, "names and labels follow the template's hash") {
  Create(Workload("Deployment", 1));
  Settle();
  const auto sets = List(kinds::ReplicaSets(), "default");
  REQUIRE(sets.size() == 1);
  const std::string hash(sets[0]->Label("pod-template-hash"));
  CHECK_FALSE(hash.empty());
  CHECK(sets[0]->name() == "web-" + hash);
  CHECK(sets[0]->Annotation("deployment.kubernetes.io/revision") == "1");
  CHECK(Web()->Annotation("deployment.kubernetes.io/revision") == "1");
  REQUIRE(Pods().size() == 1);
  CHECK(Pods()[0]->Label("pod-template-hash") == hash);
  CHECK(Pods()[0]->ControllerOwner().uid == sets[0]->uid());
}

TEST_CASE_METHOD(Fixture, "a deployment is scaled up and down to zero") {
  Create(Workload("Deployment", 2));
  AdvanceSeconds(1);
  Patch(kinds::Deployments(), "default", "web", R"({"spec": {"replicas": 5}})");
  AdvanceSeconds(1);
  CHECK(CountPods("Running") == 5);
  CHECK(Status("readyReplicas") == 5);
  CHECK(Status("observedGeneration") == 2);
  CHECK(Reason("Progressing") == "NewReplicaSetAvailable");
  Patch(kinds::Deployments(), "default", "web", R"({"spec": {"replicas": 0}})");
  Settle();
  CHECK(Pods().empty());
  CHECK(Web()->status()["replicas"].is_null());
  CHECK(Status("observedGeneration") == 3);
}

TEST_CASE_METHOD(Fixture, "a new image rolls out without ever having too few pods available") {
  Create(Workload("Deployment", 4));
  AdvanceSeconds(1);
  Patch(kinds::Deployments(), "default", "web", ImagePatch("nginx:2"));
  for (int i = 0; i < 10 && CountImages("nginx:2") < 4; ++i) {
    Settle();
    CHECK(CountPods("Running") >= 3);
    CHECK(Pods().size() <= 5);
    AdvanceSeconds(1);
  }
  AdvanceSeconds(2);
  CHECK(CountImages("nginx:2") == 4);
  CHECK(CountImages("nginx:1") == 0);
  CHECK(Status("updatedReplicas") == 4);
  CHECK(Status("replicas") == 4);
  CHECK(Web()->Annotation("deployment.kubernetes.io/revision") == "2");
  CHECK(List(kinds::ReplicaSets(), "default").size() == 2);
}

TEST_CASE_METHOD(Fixture, "rolling back uses the old replica set again under a new revision") {
  Create(Workload("Deployment", 1));
  AdvanceSeconds(1);
  Patch(kinds::Deployments(), "default", "web", ImagePatch("nginx:2"));
  AdvanceSeconds(3);
  Patch(kinds::Deployments(), "default", "web", ImagePatch("nginx:1"));
  AdvanceSeconds(3);
  CHECK(List(kinds::ReplicaSets(), "default").size() == 2);
  CHECK(Web()->Annotation("deployment.kubernetes.io/revision") == "3");
  CHECK(CountImages("nginx:1") == 1);
}

TEST_CASE_METHOD(Fixture, "Recreate removes the old pods before it makes new ones") {
  Create(Workload("Deployment", 2, R"({"strategy": {"type": "Recreate"}})"));
  AdvanceSeconds(1);
  Patch(kinds::Deployments(), "default", "web", ImagePatch("nginx:2"));
  Settle();
  CHECK(CountImages("nginx:1") == 0);
  AdvanceSeconds(1);
  CHECK(CountImages("nginx:2") == 2);
  CHECK(Status("readyReplicas") == 2);
}

TEST_CASE_METHOD(Fixture, "a paused deployment keeps its template but still scales") {
  Create(Workload("Deployment", 1));
  AdvanceSeconds(1);
  Patch(kinds::Deployments(), "default", "web", R"({"spec": {"paused": true}})");
  Patch(kinds::Deployments(), "default", "web", ImagePatch("nginx:2"));
  Patch(kinds::Deployments(), "default", "web", R"({"spec": {"replicas": 3}})");
  AdvanceSeconds(1);
  CHECK(CountImages("nginx:1") == 3);
  Patch(kinds::Deployments(), "default", "web", R"({"spec": {"paused": false}})");
  AdvanceSeconds(6);
  CHECK(CountImages("nginx:2") == 3);
  CHECK(Pods().size() == 3);
}

TEST_CASE_METHOD(Fixture, "deleted pods are replaced, and a deleted deployment takes all along") {
  Create(Workload("Deployment", 2));
  AdvanceSeconds(1);
  Delete(kinds::Pods(), "default", std::string(Pods()[0]->name()));
  AdvanceSeconds(1);
  CHECK(CountPods("Running") == 2);
  Delete(kinds::Deployments(), "default", "web");
  Settle();
  CHECK(Pods().empty());
  CHECK(List(kinds::ReplicaSets(), "default").empty());
}

TEST_CASE_METHOD(Fixture, "orphaned replica sets and pods are adopted by a new deployment") {
  Create(Workload("Deployment", 2));
  AdvanceSeconds(1);
  std::set<std::string> before, after;
  for (const auto& pod : Pods()) before.emplace(pod->uid());
  Delete(kinds::Deployments(), "default", "web", "Orphan");
  Settle();
  CHECK(Pods().size() == 2);
  Create(Workload("Deployment", 2));
  AdvanceSeconds(1);
  for (const auto& pod : Pods()) after.emplace(pod->uid());
  CHECK(before == after);
  CHECK(Status("readyReplicas") == 2);
}

TEST_CASE_METHOD(Fixture, "availability waits for minReadySeconds") {
  Create(Workload("Deployment", 1, R"({"minReadySeconds": 10})"));
  AdvanceSeconds(1);
  CHECK(Status("readyReplicas") == 1);
  CHECK(Status("availableReplicas") == 0);
  AdvanceSeconds(10);
  CHECK(Status("availableReplicas") == 1);
}

TEST_CASE_METHOD(Fixture, "a rollout that gets nowhere misses its deadline") {
  json::Value web = Workload("Deployment", 1, R"({"progressDeadlineSeconds": 20})");
  web.Mutable({"spec", "template", "spec", "containers"})
      .MutableAt(0)
      .Set("resources", Json(R"({"requests": {"cpu": "64"}})"));
  Create(std::move(web));
  Settle();
  CHECK(Reason("Progressing") == "ReplicaSetUpdated");
  AdvanceSeconds(21);
  CHECK(Reason("Progressing") == "ProgressDeadlineExceeded");
}

TEST_CASE("limits of a rolling update round the surge up and the unavailable down") {
  struct Case {
    int replicas;
    const char* strategy;
    int64_t surge, unavailable;
  };
  const Case cases[] = {
      {4, R"({"maxSurge": "25%", "maxUnavailable": "25%"})", 1, 1},
      {3, R"({"maxSurge": "25%", "maxUnavailable": "25%"})", 1, 0},
      {1, R"({"maxSurge": 0, "maxUnavailable": "25%"})", 0, 1},
      {10, R"({"maxSurge": 3, "maxUnavailable": 2})", 3, 2},
      {2, R"({"maxSurge": 0, "maxUnavailable": 5})", 0, 2},
  };
  for (const Case& c : cases) {
    INFO(c.replicas << " " << c.strategy);
    kube::Object deployment;
    deployment.Set({"spec", "replicas"}, c.replicas);
    deployment.Set({"spec", "strategy", "rollingUpdate"}, Json(c.strategy));
    const RolloutLimits limits = LimitsOf(deployment);
    CHECK(limits.max_surge == c.surge);
    CHECK(limits.max_unavailable == c.unavailable);
  }
}

TEST_CASE("a rolling step scales up within the surge, then down as far as enough stays available") {
  RolloutState state;
  state.replicas = 4;
  state.limits = {1, 1};
  state.old = {SetState{4, 4, 4, 4}};
  RolloutStep step = NextStep(state);
  CHECK(step.current == 1);
  CHECK(step.old == std::vector<int64_t>{4});

  state.current = {1, 1, 0, 0};  // Starting; one old pod can be removed nevertheless.
  step = NextStep(state);
  CHECK(step.current == 1);
  CHECK(step.old == std::vector<int64_t>{3});

  state.current = {3, 3, 3, 3};
  state.old = {SetState{1, 1, 0, 0}, SetState{1, 1, 1, 1}};  // The unavailable pod goes first.
  step = NextStep(state);
  CHECK(step.current == 3);
  CHECK(step.old == std::vector<int64_t>{0, 0});
}

}  // namespace
}  // namespace sandbox
