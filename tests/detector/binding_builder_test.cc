#include "detector/binding_builder.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "api/policy_scope.h"
#include "tests/support/members_fixture.h"

namespace {

using detector::BuildBinding;
using detector::MergeBinding;
using tests::Json;
using tests::Parse;
using Namespaced = api::policy_scope::Namespaced;
using Cluster = api::policy_scope::Cluster;

kube::Object Template() {
  return Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "ns", "uid": "template-uid", "resourceVersion": "41"},
    "spec": {"replicas": 2}})");
}
kube::Object ClusterTemplate() {
  return Parse(R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
    "metadata": {"name": "system:Reader", "uid": "role-uid", "resourceVersion": "42"}})");
}
kube::Object Policy() {
  return Parse(R"({"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
    "metadata": {"name": "p", "namespace": "ns",
                 "labels": {"propagationpolicy.karmada.io/permanent-id": "p-id"}},
    "spec": {"propagateDeps": true, "schedulerName": "default-scheduler",
             "placement": {"clusterAffinity": {"clusterNames": ["m1"]}},
             "failover": {"application": {"purgeMode": "Gracefully"}},
             "conflictResolution": "Overwrite", "preserveResourcesOnDeletion": false,
             "suspension": {"dispatching": true}, "priority": 3}})");
}
kube::Object ClusterPolicy() {
  kube::Object policy = Policy();
  policy.Set({"kind"}, "ClusterPropagationPolicy");
  policy.Erase({"metadata", "namespace"});
  policy.Set({"metadata", "labels"},
             Json(R"({"clusterpropagationpolicy.karmada.io/permanent-id": "cp-id"})"));
  return policy;
}
interpreter::Replicas Two() { return {2, Json(R"({"resourceRequest": {"cpu": "1"}})")}; }
kube::Object Built() { return BuildBinding<Namespaced>(Template(), Policy(), Two()); }

TEST_CASE("a namespaced template gets a ResourceBinding with all its policy says") {
  CHECK(Built() == Parse(R"({
    "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
    "metadata": {"name": "web-deployment", "namespace": "ns",
      "labels": {"propagationpolicy.karmada.io/permanent-id": "p-id"},
      "annotations": {"propagationpolicy.karmada.io/namespace": "ns",
                      "propagationpolicy.karmada.io/name": "p"},
      "finalizers": ["karmada.io/binding-controller"],
      "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
        "uid": "template-uid", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {
      "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web",
                   "uid": "template-uid", "resourceVersion": "41"},
      "propagateDeps": true, "schedulerName": "default-scheduler",
      "placement": {"clusterAffinity": {"clusterNames": ["m1"]}},
      "failover": {"application": {"purgeMode": "Gracefully"}},
      "conflictResolution": "Overwrite", "preserveResourcesOnDeletion": false,
      "suspension": {"dispatching": true},
      "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}})"));
}

TEST_CASE("a cluster-scoped template gets a ClusterResourceBinding with its own finalizer") {
  const kube::Object binding = BuildBinding<Cluster>(ClusterTemplate(), ClusterPolicy(), {});
  CHECK(binding.kind() == "ClusterResourceBinding");
  CHECK(binding.name() == "system.reader-clusterrole");
  CHECK(binding.ns() == "");
  CHECK(binding.HasFinalizer(api::kClusterBindingFinalizer));
  CHECK(binding.Label(api::kClusterPropagationPolicyIdLabel) == "cp-id");
  CHECK(binding.Annotation(api::kClusterPropagationPolicyNameAnnotation) == "p");
  CHECK_FALSE(binding.spec()["resource"].Has("namespace"));
}

TEST_CASE("a namespaced template under a cluster policy gets that policy's claim") {
  const kube::Object binding = BuildBinding<Cluster>(Template(), ClusterPolicy(), Two());
  CHECK(binding.kind() == "ResourceBinding");
  CHECK(binding.Label(api::kClusterPropagationPolicyIdLabel) == "cp-id");
  CHECK(binding.Label(api::kPropagationPolicyIdLabel) == "");
}

TEST_CASE("fields that neither policy nor template sets are left out, but for the placement") {
  kube::Object policy = Policy();
  policy.Set({"spec"}, Json(R"({"propagateDeps": false, "placement": null})"));
  const kube::Object binding = BuildBinding<Namespaced>(Template(), policy, {});
  CHECK(binding.spec().members().size() == 2);
  CHECK(binding.spec().Has("resource"));
  CHECK(binding.spec()["placement"] == Json("{}"));
}

// Upstream copies Go structs; the policies are as their users wrote them.
TEST_CASE("what a policy spells out though it is empty is left out, as upstream leaves it out") {
  kube::Object policy = Policy();
  policy.Set({"spec"}, Json(R"({
    "placement": {"clusterAffinity": {"clusterNames": [], "labelSelector": {"matchLabels": {}}},
      "clusterTolerations": [{"key": "", "operator": "Exists", "tolerationSeconds": 0}],
      "spreadConstraints": [{"spreadByField": "cluster", "spreadByLabel": "", "minGroups": 1,
                             "maxGroups": 0}],
      "clusterAffinities": null,
      "replicaScheduling": {"weightPreference": {"staticWeightList": [
          {"targetCluster": {}, "weight": 0}]}}},
    "failover": {"application": {"decisionConditions": {"tolerationSeconds": 0},
                                 "statePreservation": {"rules": []}}},
    "suspension": {"dispatching": false, "dispatchingOnClusters": {"clusterNames": []}}})"));
  const json::Value spec = BuildBinding<Namespaced>(Template(), policy, {}).spec();
  CHECK(spec["placement"] == Json(R"({
      "clusterAffinity": {"labelSelector": {}},
      "clusterTolerations": [{"operator": "Exists", "tolerationSeconds": 0}],
      "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1}],
      "replicaScheduling": {"weightPreference": {"staticWeightList": [
          {"targetCluster": {}, "weight": 0}]}}})"));
  CHECK(spec["failover"] == policy.spec()["failover"]);
  CHECK(spec["suspension"] == Json(R"({"dispatching": false, "dispatchingOnClusters": {}})"));
}

TEST_CASE("merging what was just built changes nothing") {
  CHECK(*MergeBinding<Namespaced>(Built(), Built()) == Built());
}

// Returns a binding with fields that scheduler, evictors, the distributor and users have set.
kube::Object Existing() {
  kube::Object binding = Built();
  binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1", "replicas": 2}])"));
  binding.Set({"spec", "gracefulEvictionTasks"}, Json(R"([{"fromCluster": "m2"}])"));
  binding.Set({"spec", "requiredBy"}, Json(R"([{"name": "other"}])"));
  binding.Set({"spec", "rescheduleTriggeredAt"}, "2024-01-01T00:00:00Z");
  binding.Set({"status"}, Json(R"({"schedulerObservedGeneration": 1})"));
  binding.SetLabel(api::kResourceBindingIdLabel, "binding-id");
  binding.SetAnnotation("policy.karmada.io/applied-placement", "{}");
  binding.AddFinalizer("karmada.io/binding-dependencies-distributor");
  binding.Set({"metadata", "resourceVersion"}, "99");
  binding.Set({"metadata", "uid"}, "binding-uid");
  return binding;
}

TEST_CASE("what belongs to scheduler, evictors and distributor is kept") {
  kube::Object policy = Policy();
  policy.Set({"spec", "placement"}, Json(R"({"clusterAffinity": {"clusterNames": ["m3"]}})"));
  const kube::Object built = BuildBinding<Namespaced>(Template(), policy, Two());
  const kube::Object merged = *MergeBinding<Namespaced>(Existing(), built);
  kube::Object expected = Existing();
  expected.Set({"spec", "placement"}, policy.spec()["placement"]);
  CHECK(merged == expected);
}

TEST_CASE("fields that policy or template no longer have are removed") {
  kube::Object policy = Policy();
  policy.Set({"spec"}, Json("{}"));
  const kube::Object merged =
      *MergeBinding<Namespaced>(Existing(), BuildBinding<Namespaced>(Template(), policy, {}));
  for (const char* field :
       {"replicas", "replicaRequirements", "schedulerName", "failover", "conflictResolution",
        "preserveResourcesOnDeletion", "propagateDeps", "suspension"}) {
    INFO(field);
    CHECK_FALSE(merged.spec().Has(field));
  }
  CHECK(merged.spec()["placement"] == Json("{}"));
  CHECK(merged.spec()["clusters"] == Existing().spec()["clusters"]);
}

TEST_CASE("suspension of dispatching follows the policy, suspension of scheduling is kept") {
  kube::Object existing = Existing();
  existing.Set({"spec", "suspension"}, Json(R"({"scheduling": true, "dispatching": true})"));
  kube::Object policy = Policy();
  const auto suspension = [&](const char* of_policy) {
    policy.Set({"spec", "suspension"}, Json(of_policy));
    const kube::Object built = BuildBinding<Namespaced>(Template(), policy, Two());
    return MergeBinding<Namespaced>(existing, built)->spec()["suspension"];
  };
  CHECK(suspension("null") == Json(R"({"scheduling": true})"));
  CHECK(suspension(R"({"dispatchingOnClusters": {"clusterNames": ["m1"]}})") ==
        Json(R"({"scheduling": true, "dispatchingOnClusters": {"clusterNames": ["m1"]}})"));
  existing.Set({"spec", "suspension"}, Json(R"({"dispatching": true})"));
  CHECK(suspension("null").is_null());
  existing.Set({"spec", "suspension"}, Json("{}"));  // Somebody else has left it.
  CHECK(suspension("null") == Json("{}"));
  existing.Erase({"spec", "suspension"});
  CHECK(suspension("null").is_null());
}

TEST_CASE("what the detector makes keeps unknown members, and what it copies does not") {
  kube::Object existing = Existing();
  existing.Set({"spec", "resource", "later"}, 1);
  existing.Set({"spec", "replicaRequirements", "later"}, 2);
  existing.Set({"spec", "suspension"}, Json(R"({"dispatching": true, "later": 3})"));
  existing.Set({"spec", "placement", "later"}, 4);
  existing.Set({"spec", "later"}, 5);
  const json::Value spec = MergeBinding<Namespaced>(existing, Built())->spec();
  CHECK(spec["resource"]["later"].AsInt() == 1);
  CHECK(spec["replicaRequirements"]["later"].AsInt() == 2);
  CHECK(spec["suspension"]["later"].AsInt() == 3);
  CHECK_FALSE(spec["placement"].Has("later"));
  CHECK(spec["later"].AsInt() == 5);
}

TEST_CASE("components keep unknown members by their names") {
  kube::Object built = Built();
  built.Set({"spec", "components"}, Json(R"([{"name": "tm", "replicas": 2}, {"name": "jm"}])"));
  kube::Object existing = Existing();
  existing.Set({"spec", "components"}, Json(R"([{"name": "jm", "replicas": 1, "later": 1}])"));
  CHECK(MergeBinding<Namespaced>(existing, built)->spec()["components"] ==
        Json(R"([{"name": "tm", "replicas": 2}, {"name": "jm", "later": 1}])"));
}

TEST_CASE("a binding has a purge mode that every server accepts, unless it has an older name") {
  kube::Object policy = Policy();
  policy.Set({"spec", "failover"}, Json(R"({"application": {"purgeMode": "Graciously",
      "decisionConditions": {"tolerationSeconds": 5}}})"));
  const kube::Object built = BuildBinding<Namespaced>(Template(), policy, Two());
  const json::Value want = Json(R"({"application": {"purgeMode": "Gracefully",
      "decisionConditions": {"tolerationSeconds": 5}}})");
  CHECK(built.spec()["failover"] == want);
  kube::Object existing = Existing();
  existing.Set({"spec", "failover"}, policy.spec()["failover"]);
  CHECK(MergeBinding<Namespaced>(existing, built)->spec()["failover"] == policy.spec()["failover"]);
  existing.Set({"spec", "failover", "application", "decisionConditions", "tolerationSeconds"}, 6);
  CHECK(MergeBinding<Namespaced>(existing, built)->spec()["failover"] == want);
}

TEST_CASE("propagateDeps of a cluster-scoped binding is set at its creation only") {
  const kube::Object existing = BuildBinding<Cluster>(ClusterTemplate(), ClusterPolicy(), {});
  REQUIRE(existing.spec()["propagateDeps"].AsBool());
  kube::Object policy = ClusterPolicy();
  policy.Erase({"spec", "propagateDeps"});
  const kube::Object built = BuildBinding<Cluster>(ClusterTemplate(), policy, {});
  CHECK(MergeBinding<Cluster>(existing, built)->spec()["propagateDeps"].AsBool());
}

TEST_CASE("a namespaced policy takes a binding over from a cluster policy") {
  const kube::Object existing = BuildBinding<Cluster>(Template(), ClusterPolicy(), Two());
  const kube::Object merged = *MergeBinding<Namespaced>(existing, Built());
  CHECK(merged.labels() == Built().labels());
  CHECK(merged.annotations() == Built().annotations());
}

TEST_CASE("the binding of an earlier template of the same name is not taken over") {
  kube::Object successor = Template();
  successor.Set({"metadata", "uid"}, "other-uid");
  const auto refused =
      MergeBinding<Namespaced>(Existing(), BuildBinding<Namespaced>(successor, Policy(), Two()));
  REQUIRE(absl::IsFailedPrecondition(refused.status()));
  CHECK(absl::StrContains(refused.status().message(), "an earlier object of the same name"));
  CHECK(absl::StrContains(refused.status().message(), "(uid other-uid) gets its binding once"));
  kube::Object orphan = Existing();
  orphan.Erase({"metadata", "ownerReferences"});
  CHECK(MergeBinding<Namespaced>(orphan, Built())->OwnerRefs().size() == 1);
}

TEST_CASE("an object whose binding another object has already is named, and so is that object") {
  kube::Object rival = Template();
  rival.Set({"apiVersion"}, "example.io/v1");
  rival.Set({"metadata", "uid"}, "rival-uid");
  const absl::Status refused =
      MergeBinding<Namespaced>(Existing(), BuildBinding<Namespaced>(rival, Policy(), Two()))
          .status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  const std::string owner(Template().uid());
  CHECK(absl::StartsWith(
      refused.message(),
      absl::StrCat("ResourceBinding ns/web-deployment belongs to apps/v1 Deployment ns/web (uid ",
                   owner, "), whose binding has the same name; only one of the two objects")));
}

TEST_CASE("a template's new version alone is distinguished from a real difference") {
  kube::Object newer = Existing();
  newer.Set({"spec", "resource", "resourceVersion"}, "50");
  CHECK(detector::DifferOnlyInTemplateVersion(Existing(), newer));
  CHECK(detector::DifferOnlyInTemplateVersion(Existing(), Existing()));
  newer.Set({"spec", "replicas"}, 3);
  CHECK_FALSE(detector::DifferOnlyInTemplateVersion(Existing(), newer));
}

}  // namespace
