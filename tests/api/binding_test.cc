#include "api/binding.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/eviction.h"
#include "api/policy_scope.h"
#include "tests/support/cost_growth.h"

namespace {

kube::Object ObjectOf(const char* text) { return kube::Object(json::Parse(text).value()); }

}  // namespace

TEST_CASE("the clusters of a binding are determined in linear time") {
  CHECK(tests::CostOfFourfold(5000, [](int count) {
          json::Value clusters = json::Value::Array();
          for (int i = 0; i < count; ++i) {
            clusters.Append(json::Value::Object({{"name", absl::StrCat("c", i)}}));
          }
          kube::Object binding = ObjectOf("{}");
          binding.Set({"spec", "requiredBy"},
                      json::Value::Array({json::Value::Object({{"clusters", clusters}})}));
          CHECK(api::BindingView(binding).DispatchTargets().size() == size_t(count));
        }) < tests::kBarelyLinear);
}

TEST_CASE("expected clusters are the targets, the referrers' and those evicted gracefully") {
  const kube::Object object = ObjectOf(R"({
    "spec": {
      "clusters": [{"name": "m1", "replicas": 2}],
      "requiredBy": [{"namespace": "ns", "name": "a", "clusters": [{"name": "m1", "replicas": 7},
                                                                   {"name": "m2", "replicas": 1}]}],
      "gracefulEvictionTasks": [{"fromCluster": "m3", "purgeMode": "Gracefully"},
                                {"fromCluster": "m4"},
                                {"fromCluster": "m5", "purgeMode": "Directly"},
                                {"fromCluster": "m6", "purgeMode": "Immediately"},
                                {"fromCluster": "m7", "purgeMode": "Never"}]}})");
  const api::BindingView binding(object);

  CHECK(binding.ExpectedClusters() == std::set<std::string>{"m1", "m2", "m3", "m4", "m7"});
  CHECK(binding.ClustersPurgedAtOnce() == std::set<std::string>{"m5", "m6"});
  const std::vector<api::TargetCluster> targets = {{"m1", 2}, {"m2", 1}};
  CHECK(binding.DispatchTargets() == targets);
}

TEST_CASE("a cluster that a binding names several times is one target") {
  const kube::Object object = ObjectOf(R"({
    "spec": {
      "clusters": [{"name": "m1", "replicas": 2}, {"name": "m2"}, {"name": "m1", "replicas": 5}],
      "requiredBy": [{"namespace": "ns", "name": "a", "clusters": [{"name": "m3"}, {"name": "m3"},
                                                                   {"name": "m2"}]}]}})");
  const api::BindingView binding(object);
  CHECK(binding.Clusters() == std::vector<api::TargetCluster>{{"m1", 2}, {"m2", 0}});
  CHECK(binding.DispatchTargets() ==
        std::vector<api::TargetCluster>{{"m1", 2}, {"m2", 0}, {"m3", 0}});
}

TEST_CASE("a binding is a workload with replicas, requirements or components") {
  struct Case {
    const char* spec;
    bool workload;
  };
  const Case cases[] = {
      {R"({"spec": {}})", false},
      {R"({"spec": {"replicas": 0}})", false},
      {R"({"spec": {"replicas": 1}})", true},
      {R"({"spec": {"replicaRequirements": {}}})", true},
      {R"({"spec": {"replicaRequirements": null}})", false},
      {R"({"spec": {"components": [{"name": "a", "replicas": 0}]}})", true},
      {R"({"spec": {"components": []}})", false},
  };
  for (const Case& c : cases) {
    INFO(c.spec);
    const kube::Object object = ObjectOf(c.spec);
    CHECK(api::BindingView(object).IsWorkload() == c.workload);
  }
}

TEST_CASE("dispatching is suspended for all clusters or for named ones") {
  const kube::Object all = ObjectOf(R"({"spec": {"suspension": {"dispatching": true}}})");
  CHECK(api::BindingView(all).IsDispatchingSuspended("m1"));
  const kube::Object some =
      ObjectOf(R"({"spec": {"suspension": {"dispatchingOnClusters": {"clusterNames": ["m1"]}}}})");
  CHECK(api::BindingView(some).IsDispatchingSuspended("m1"));
  CHECK_FALSE(api::BindingView(some).IsDispatchingSuspended("m2"));
  CHECK_FALSE(api::BindingView(some).IsSchedulingSuspended());
}

TEST_CASE("optional settings distinguish absent from false") {
  const kube::Object absent = ObjectOf(R"({"spec": {}})");
  CHECK_FALSE(api::BindingView(absent).PreserveResourcesOnDeletion().has_value());
  const kube::Object off = ObjectOf(R"({"spec": {"preserveResourcesOnDeletion": false}})");
  CHECK(api::BindingView(off).PreserveResourcesOnDeletion() == std::optional<bool>(false));
}

TEST_CASE("codecs of binding parts write what they read") {
  const json::Value item = json::Parse(R"({"applied":true,"clusterName":"m1","health":"Healthy",
      "status":{"replicas":1}})")
                               .value();
  CHECK(api::AggregatedStatusItem::FromJson(item).ToJson() == item);
  const json::Value failed =
      json::Parse(R"({"appliedMessage":"no","clusterName":"m1","health":"Unknown"})").value();
  CHECK(api::AggregatedStatusItem::FromJson(failed).ToJson() == failed);
  const json::Value snapshot =
      json::Parse(
          R"({"clusters":[{"name":"m1"},{"name":"m2","replicas":3}],"name":"a","namespace":"ns"})")
          .value();
  CHECK(api::BindingSnapshot::FromJson(snapshot).ToJson() == snapshot);
  CHECK(api::TargetClustersToJson({}).is_null());
}

TEST_CASE("targets and referrers keep members they do not know, such as components") {
  const json::Value referrers = json::Parse(R"([{"namespace": "ns", "name": "a", "later": true,
      "clusters": [{"name": "m1", "replicas": 2, "components": [{"name": "jm", "replicas": 1}]},
                   {"name": "m2", "components": []}]}])")
                                    .value();
  CHECK(api::BindingSnapshot::FromJson(referrers.At(0)).ToJson() == referrers.At(0));
  kube::Object binding = ObjectOf("{}");
  binding.Set({"spec", "clusters"}, referrers.At(0)["clusters"]);
  CHECK(api::TargetClustersToJson(api::BindingView(binding).Clusters()) ==
        binding.spec()["clusters"]);
}

TEST_CASE("an older name of a purge mode is recognised in policies and renewed") {
  kube::Object policy = ObjectOf("{}");
  CHECK(api::OutdatedPurgeMode(policy).empty());
  const auto outdated = [&](const char* mode) {
    policy.Set({"spec", "failover", "application", "purgeMode"}, mode);
    return std::string(api::OutdatedPurgeMode(policy));
  };
  CHECK(outdated("Gracefully").empty());
  CHECK(outdated("Never").empty());
  CHECK(outdated("Graciously") == "Graciously");
  CHECK(outdated("Immediately") == "Immediately");
  json::Value task = json::Parse(R"({"purgeMode": "Immediately", "later": 1})").value();
  api::RenewPurgeMode(task);
  CHECK(task == json::Parse(R"({"purgeMode": "Directly", "later": 1})").value());
  json::Value other = json::Parse("[1]").value();
  api::RenewPurgeMode(other);
  CHECK(other == json::Parse("[1]").value());
  CHECK(api::message::PurgeModeOutdated("Graciously") ==
        "Graciously is refused by Karmada v1.19, use Gracefully");
}

TEST_CASE("an eviction task keeps members it does not know") {
  const json::Value item =
      json::Parse(R"({"fromCluster":"m1","purgeMode":"Directly","newField":{"a":1}})").value();
  const api::EvictionTask task = api::EvictionTask::FromJson(item);
  CHECK(task.PurgesAtOnce());
  CHECK(task.json == item);
}

TEST_CASE("an eviction task keeps the Work, purges it at once, or only keeps the workload away") {
  const auto task = [](const std::string& purge_mode, const std::string& message) {
    return api::EvictionTask::FromJson(json::Value::Object(
        {{"fromCluster", "m1"}, {"purgeMode", purge_mode}, {"message", message}}));
  };
  for (const char* mode : {"Gracefully", "Never", "", "Directly", "Immediately"}) {
    const api::EvictionTask evicts = task(mode, "why");
    CHECK(evicts.KeepsWork() != evicts.PurgesAtOnce());
    CHECK_FALSE(evicts.KeepsAway());
    const api::EvictionTask ended = task(mode, api::kKeepsAwayMessage);
    CHECK(ended.KeepsAway());
    CHECK_FALSE(ended.KeepsWork());
    CHECK_FALSE(ended.PurgesAtOnce());
  }
  CHECK(task("Gracefully", "").KeepsWork());
  CHECK(task("Directly", "").PurgesAtOnce());
}

TEST_CASE("an object reference has the kind, the key and the identity of an object") {
  const kube::Object object = ObjectOf(R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "web", "namespace": "ns", "uid": "u", "resourceVersion": "7"}})");
  const api::ObjectReference reference = api::ObjectReference::Of(object);
  CHECK(json::Write(reference.ToJson()) ==
        R"({"apiVersion":"apps/v1","kind":"Deployment","name":"web","namespace":"ns",)"
        R"("resourceVersion":"7","uid":"u"})");
  CHECK(api::ObjectReference::FromJson(reference.ToJson()) == reference);
  CHECK(reference.Describe() == "Deployment ns/web");
}

TEST_CASE("a Work names its binding through annotations of the binding's scope") {
  using api::scope::Cluster;
  using api::scope::Namespaced;
  kube::Object work = ObjectOf(R"({"metadata": {"name": "w"}})");
  for (const auto& [key, value] : Namespaced::NamingAnnotations({"ns", "b"})) {
    work.SetAnnotation(key, value);
  }
  CHECK(Namespaced::BindingOf(work) == kube::ObjectKey{"ns", "b"});
  CHECK(Cluster::BindingOf(work).name.empty());
  CHECK(Namespaced::Describe({"ns", "b"}) == "ResourceBinding(ns/b)");
  CHECK(Cluster::Describe({"", "b"}) == "ClusterResourceBinding(b)");

  work.EraseAnnotation(api::kResourceBindingNamespaceAnnotation);
  CHECK(Namespaced::BindingOf(work).name.empty());
}

TEMPLATE_TEST_CASE("a policy's claim can be put, read and taken back", "",
                   api::policy_scope::Namespaced, api::policy_scope::Cluster) {
  kube::Object policy = ObjectOf(R"({"metadata": {"name": "p"}})");
  if (TestType::kNamespaced) policy.Set({"metadata", "namespace"}, "ns");
  policy.SetLabel(TestType::kIdLabel, "id");
  const kube::Object before = ObjectOf(R"({"metadata": {"name": "web", "labels": {"a": "b"}}})");
  kube::Object object = before;

  CHECK(TestType::Claim(policy, object));
  CHECK_FALSE(TestType::Claim(policy, object));
  CHECK(TestType::ClaimOn(object) == policy.key());
  CHECK(object.Label(TestType::kIdLabel) == "id");
  CHECK(TestType::Unclaim(object));
  CHECK_FALSE(TestType::Unclaim(object));
  CHECK(object == before);
}
