#include <catch2/catch.hpp>
#include <set>

#include "tests/sandbox/sim/member_fixture.h"

namespace sandbox {
namespace {

using Names = std::set<std::string>;

struct Fixture : MemberFixture {
  Names PodNames() {
    Names names;
    for (const auto& pod : Pods()) names.emplace(pod->name());
    return names;
  }
  int64_t Status(const kube::Resource& kind, absl::string_view field) {
    return Get(kind, "default", "web")->status()[field].AsInt();
  }
};

TEST_CASE_METHOD(Fixture, "a stateful set makes its pods one after the other") {
  Create(Workload("StatefulSet", 3, R"({"serviceName": "web"})"));
  Settle();
  CHECK(PodNames() == Names{"web-0"});
  AdvanceSeconds(1);
  CHECK(PodNames() == Names{"web-0", "web-1"});
  AdvanceSeconds(2);
  CHECK(PodNames() == Names{"web-0", "web-1", "web-2"});
  CHECK(Status(kinds::StatefulSets(), "readyReplicas") == 3);
  CHECK(Status(kinds::StatefulSets(), "updatedReplicas") == 3);
  CHECK(Status(kinds::StatefulSets(), "currentReplicas") == 3);
  CHECK(Status(kinds::StatefulSets(), "availableReplicas") == 3);
  const auto web = Get(kinds::StatefulSets(), "default", "web");
  CHECK(web->status()["currentRevision"] == web->status()["updateRevision"]);
}

TEST_CASE_METHOD(Fixture, "a parallel stateful set makes them at once and drops the last first") {
  Create(Workload("StatefulSet", 3, R"({"podManagementPolicy": "Parallel"})"));
  Settle();
  CHECK(PodNames().size() == 3);
  AdvanceSeconds(1);
  Patch(kinds::StatefulSets(), "default", "web", R"({"spec": {"replicas": 1}})");
  Settle();
  CHECK(PodNames() == Names{"web-0"});
}

TEST_CASE_METHOD(Fixture, "a stateful set updates from the last pod down to its partition") {
  Create(Workload("StatefulSet", 3, R"({"podManagementPolicy": "Parallel",
      "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}})"));
  AdvanceSeconds(1);
  Patch(kinds::StatefulSets(), "default", "web", ImagePatch("nginx:2"));
  Settle();
  CHECK(CountImages("nginx:2") == 1);  // One at a time.
  CHECK(Get(kinds::Pods(), "default", "web-2")->spec()["containers"].At(0)["image"].ToString() ==
        "nginx:2");
  AdvanceSeconds(3);
  CHECK(CountImages("nginx:2") == 2);
  CHECK(Status(kinds::StatefulSets(), "updatedReplicas") == 2);
  CHECK(Status(kinds::StatefulSets(), "currentReplicas") == 1);
}

TEST_CASE_METHOD(Fixture, "a daemon set runs on every node, also on one that comes later") {
  Create(Workload("DaemonSet", 0));
  AdvanceSeconds(1);
  CHECK(Status(kinds::DaemonSets(), "desiredNumberScheduled") == 3);
  CHECK(Status(kinds::DaemonSets(), "numberReady") == 3);
  CHECK(Status(kinds::DaemonSets(), "updatedNumberScheduled") == 3);
  CHECK(Status(kinds::DaemonSets(), "observedGeneration") == 1);
  REQUIRE(CreateNodes(backend, "m", 4, clock.Now()).ok());
  Settle();
  AdvanceSeconds(1);
  CHECK(Status(kinds::DaemonSets(), "numberAvailable") == 4);
  Delete(kinds::Nodes(), "", "m-node1");
  Settle();
  CHECK(Status(kinds::DaemonSets(), "desiredNumberScheduled") == 3);
  CHECK(Pods().size() == 3);
}

TEST_CASE_METHOD(Fixture, "a daemon set follows node labels and replaces pods one by one") {
  json::Value set = Workload("DaemonSet", 0);
  set.Set({"spec", "template", "spec", "nodeSelector"}, Json(R"({"disk": "ssd"})"));
  Create(set);
  Settle();
  CHECK(Pods().empty());
  for (const char* node : {"m-node1", "m-node2"}) {
    Patch(kinds::Nodes(), "", node, R"({"metadata": {"labels": {"disk": "ssd"}}})");
  }
  Settle();
  AdvanceSeconds(1);
  CHECK(CountPods("Running") == 2);
  Patch(kinds::DaemonSets(), "default", "web", ImagePatch("nginx:2"));
  Settle();
  CHECK(CountImages("nginx:2") == 1);
  AdvanceSeconds(2);
  CHECK(CountImages("nginx:2") == 2);
}

}  // namespace
}  // namespace sandbox
