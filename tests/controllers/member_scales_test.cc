#include "controllers/federated_hpa/member_scales.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/controllers/federated_hpa_fixture.h"

namespace {

using controllers::MemberScales;
using controllers::MemberScaleSum;
using tests::kDeployments;
using tests::Parse;

const kube::Resource kSets{{"example.io", "v1", "GameServerSet"}, "gameserversets", true};
constexpr char kSetScale[] = "GET /apis/example.io/v1/namespaces/ns/gameserversets/web/scale";

struct Fixture : tests::FederatedHpaFixture {
  MemberScales scales{{objects, inventory, members, clock}};

  MemberScaleSum Sum(const std::vector<std::string>& clusters, const kube::Gvk& gvk) {
    return scales.Sum({gvk, key}, clusters, never);
  }
  // Puts a GameServerSet, of a kind that is read from its scale subresource, into the member.
  void PutSet(const std::string& cluster) {
    kube::Discovery discovery;
    discovery.resources.push_back({.resource = kSets, .verbs = {}, .preferred = true});
    (*members.Get(cluster))->client().mapper().Update(discovery);
    member(cluster).Put(kSets, Parse(R"({"apiVersion": "example.io/v1", "kind": "GameServerSet",
        "metadata": {"namespace": "ns", "name": "web"}, "spec": {"replicas": 7,
        "selector": {"matchLabels": {"app": "web"}}}, "status": {"replicas": 6}})"));
  }
  // As PutSet; afterwards the member, whose pods are known, answers nothing.
  void BlockSet(const std::string& cluster) {
    member(cluster);
    const auto pods = inventory.InformerFor(cluster, tests::kPods);
    REQUIRE(pods.ok());
    REQUIRE((*pods)->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    PutSet(cluster);
    member(cluster).Block("GET");
  }
  bool IsAsked(const std::string& cluster) {
    const std::vector<std::string> gets = member(cluster).Requests("GET");
    return std::find(gets.begin(), gets.end(), kSetScale) != gets.end();
  }
  size_t Gets(const std::string& cluster) { return member(cluster).Requests("GET").size(); }
};

TEST_CASE_METHOD(Fixture, "replicas and pods of clusters are added up, from the cache") {
  Sum({"m1", "m2"}, kDeployments.gvk);
  const size_t before = Gets("m1");
  const MemberScaleSum sum = Sum({"m1", "m2"}, kDeployments.gvk);
  CHECK(Gets("m1") == before);
  CHECK(sum.replicas == 4);
  CHECK(sum.status_replicas == 4);
  CHECK(sum.selector == "app=web");
  REQUIRE(sum.pods.size() == 4);
  CHECK(sum.pods[0].cluster == "m1");
  CHECK(sum.pods[3].cluster == "m2");
}

TEST_CASE_METHOD(Fixture, "only the fields of pods that count are held") {
  scales.SetInUse(true);
  const MemberScaleSum sum = Sum({"m1"}, kDeployments.gvk);
  REQUIRE_FALSE(sum.pods.empty());
  const kube::Object& pod = *sum.pods[0].object;
  CHECK(pod.spec()["containers"].At(0).Has("resources"));
  CHECK(pod.status()["conditions"].At(0).size() == 3);
}

TEST_CASE_METHOD(Fixture, "a cluster without the object, or that is not there, is left out") {
  member("m2").Erase(kDeployments, key);
  REQUIRE(tests::Eventually(
      [&] { return (*objects.InformerFor("m2", kDeployments.gvk, never))->store().size() == 0; }));
  const MemberScaleSum sum = Sum({"m1", "m2", "m3"}, kDeployments.gvk);
  CHECK(sum.replicas == 2);
  CHECK(sum.pods.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a cluster whose pods cannot be listed is left out, replicas and all") {
  member("m3").FailNext("GET", 403, "Forbidden", 1000);
  const auto pods = inventory.InformerFor("m3", tests::kPods);
  REQUIRE(pods.ok());
  REQUIRE(tests::Eventually([&] { return !(*pods)->last_error().ok(); }));
  const MemberScaleSum sum = Sum({"m3", "m1"}, kDeployments.gvk);
  CHECK(sum.replicas == 2);
  CHECK(sum.pods.size() == 2);
}

TEST_CASE_METHOD(Fixture, "pods are those of the selector, in the namespace") {
  kube::Object other = Parse(R"({"metadata": {"namespace": "ns", "name": "other",
                                              "labels": {"app": "other"}}})");
  Await(*inventory.InformerFor("m1", tests::kPods), member("m1").Put(tests::kPods, other));
  other.SetLabel("app", "web");
  other.Set({"metadata", "namespace"}, "elsewhere");
  Await(*inventory.InformerFor("m1", tests::kPods), member("m1").Put(tests::kPods, other));
  CHECK(Sum({"m1"}, kDeployments.gvk).pods.size() == 2);
}

TEST_CASE_METHOD(Fixture, "other kinds are read from their scale subresource") {
  PutSet("m1");
  const MemberScaleSum sum = Sum({"m1"}, kSets.gvk);
  CHECK(sum.replicas == 7);
  CHECK(sum.status_replicas == 6);
  CHECK(sum.pods.size() == 2);
  CHECK(member("m1").Requests("GET").back() == kSetScale);
}

TEST_CASE_METHOD(Fixture, "all clusters are asked for their scales at the same time") {
  const std::vector<std::string> clusters = {"m1", "m2", "m3"};
  for (const std::string& name : clusters) BlockSet(name);
  MemberScaleSum sum;
  std::thread asking([&] { sum = Sum(clusters, kSets.gvk); });
  for (const std::string& name : clusters) {
    CHECK(tests::Eventually([&] { return IsAsked(name); }));
  }
  for (const std::string& name : clusters) member(name).Unblock();
  asking.join();
  CHECK(sum.replicas == 21);
  REQUIRE(sum.pods.size() == 4);
  CHECK(sum.pods[0].cluster == "m1");
  CHECK(sum.pods[3].cluster == "m2");
}

TEST_CASE_METHOD(Fixture, "clusters that cannot be asked within the deadline are left out") {
  // More than can be asked at the same time.
  std::vector<std::string> clusters;
  for (int i = 0; i < 40; ++i) {
    clusters.push_back(absl::StrCat("slow", i));
    BlockSet(clusters.back());
  }
  MemberScaleSum sum;
  std::thread asking([&] { sum = Sum(clusters, kSets.gvk); });
  const auto asked = [&] {
    return std::count_if(clusters.begin(), clusters.end(),
                         [&](const std::string& name) { return IsAsked(name); });
  };
  constexpr int kAtOnce = kube::FanOut::kMaxThreads + 1;
  CHECK(tests::Eventually([&] { return asked() == kAtOnce; }));
  clock.Advance(MemberScales::kDeadline);
  for (const std::string& name : clusters) member(name).Unblock();
  asking.join();
  CHECK(asked() == kAtOnce);
  CHECK(sum.replicas == 7 * kAtOnce);
}

TEST_CASE_METHOD(Fixture, "a cluster without a selector is left out, unless no cluster has one") {
  kube::Object deployment = DeploymentOf(2);
  deployment.SetLabel(api::kManagedLabel, api::kManagedValue);
  deployment.Erase({"spec", "selector"});
  Await(*objects.InformerFor("m1", kDeployments.gvk, never),
        member("m1").Put(kDeployments, deployment));
  const MemberScaleSum sum = Sum({"m1", "m2"}, kDeployments.gvk);
  CHECK(sum.replicas == 2);
  CHECK(sum.selector_error.empty());
  CHECK(sum.selector == "app=web");
  CHECK(sum.pods.size() == 2);

  const MemberScaleSum alone = Sum({"m1"}, kDeployments.gvk);
  CHECK(alone.replicas == 2);
  CHECK(alone.selector.empty());
}

}  // namespace
