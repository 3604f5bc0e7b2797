// What becomes of Works while the present state of their template has not passed.
#include "binding/held_works.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/names.h"
#include "api/passed_template.h"
#include "api/stand_in.h"
#include "api/work.h"
#include "binding/binding_reconciler.h"
#include "tests/support/members_fixture.h"
#include "works/kept_work.h"
#include "works/standing_binding.h"

namespace {

using Scope = api::scope::Namespaced;
using tests::Json;
using tests::kDeployments;

const kube::ObjectKey kWeb = {"ns", "web"};
const kube::ObjectKey kKey = {"ns", "web-deployment"};

// A Deployment with 3 replicas that a policy has placed in m1, with its Work.
struct Fixture : tests::MembersFixture {
  std::optional<binding::BindingReconciler<Scope>> reconciler;

  Fixture() {
    informers.Get(api::Works())->AddIndex(Scope::kIdLabel, kube::IndexByLabel(Scope::kIdLabel));
    informers.Get(api::Works())->AddIndex(works::kStandInIndex, works::StandsInFor);
    for (const kube::Resource& kind : {api::ResourceBindings(), api::ClusterResourceBindings()}) {
      informers.Get(kind)->AddIndex(works::kBindingsByObject, works::ObjectNamedBy);
    }
    Sync({kDeployments, api::Works(), api::ResourceBindings(), api::Clusters(),
          api::OverridePolicies(), api::ClusterOverridePolicies(), api::PropagationPolicies(),
          api::ClusterPropagationPolicies()});
    for (const char* cluster : {"m1", "m2"}) {
      PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", cluster}));
    }
    reconciler.emplace(Make(), *chain);
    PutCached(kDeployments, tests::Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "ns", "name": "web"},
        "spec": {"replicas": 3, "template": {"spec": {"containers": [
            {"name": "main", "image": "nginx:1"}]}}}})"));
    kube::Object object = tests::Parse(R"({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"name": "web-deployment", "namespace": "ns",
                     "finalizers": ["karmada.io/binding-controller"],
                     "labels": {"resourcebinding.karmada.io/permanent-id": "mine",
                                "propagationpolicy.karmada.io/permanent-id": "p-id"},
                     "annotations": {"propagationpolicy.karmada.io/namespace": "ns",
                                     "propagationpolicy.karmada.io/name": "p"}},
        "spec": {"replicas": 3}})");
    object.Set({"spec", "resource"},
               api::ObjectReference::Of(server->Find(kDeployments, kWeb)).ToJson());
    object.SetAnnotation(api::kPassedTemplateAnnotation,
                         api::PassedTemplateRecord(server->Find(kDeployments, kWeb)));
    PutCached(api::ResourceBindings(), object);
    Place({{"m1", 3}});
    Reconcile();
    REQUIRE(ImageIn("m1") == "nginx:1");
  }
  kube::Object Binding() { return server->Find(api::ResourceBindings(), kKey); }
  void PutBinding(const kube::Object& binding) { PutCached(api::ResourceBindings(), binding); }
  void Place(const std::vector<api::TargetCluster>& clusters) {
    kube::Object binding = Binding();
    binding.Set({"spec", "clusters"}, api::TargetClustersToJson(clusters));
    PutBinding(binding);
  }
  void Release() {
    kube::Object binding = Binding();
    binding.EraseLabel(api::kPropagationPolicyIdLabel);
    PutBinding(binding);
  }
  // The user edits the template, and the detector does not let it pass.
  void EditImage(const char* image) {
    kube::Object web = server->Find(kDeployments, kWeb);
    web.Set({"spec", "template", "spec", "containers"},
            json::Value::Array({json::Value::Object({{"name", "main"}, {"image", image}})}));
    PutCached(kDeployments, web);
  }
  void Override(const char* overriders) {
    kube::Object policy = kube::Object::Make(api::OverridePolicies().gvk, {"ns", "o"});
    policy.Set({"spec", "resourceSelectors"},
               Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}])"));
    policy.Set({"spec", "overrideRules"},
               json::Value::Array({json::Value::Object({{"overriders", Json(overriders)}})}));
    PutCached(api::OverridePolicies(), policy);
  }
  void Reconcile() {
    REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
    for (const kube::Object& work : server->All(api::Works())) REQUIRE(Shows(api::Works(), work));
  }
  kube::Object WorkIn(const std::string& cluster) {
    return server->Find(api::Works(), {api::ExecutionNamespace(cluster),
                                       api::WorkName("Deployment", kWeb.name, kWeb.ns)});
  }
  // Returns whether the cluster has a Work that is not being deleted.
  bool HasWork(const std::string& cluster) {
    const kube::Object work = WorkIn(cluster);
    return !work.empty() && !work.IsDeleting();
  }
  kube::Object ManifestIn(const std::string& cluster) {
    const kube::Object work = WorkIn(cluster);
    return kube::Object(work.Get({"spec", "workload", "manifests"}).At(0));
  }
  std::string ImageIn(const std::string& cluster) {
    return ManifestIn(cluster)
        .Get({"spec", "template", "spec", "containers"})
        .At(0)["image"]
        .ToString();
  }
  int64_t ReplicasIn(const std::string& cluster) {
    return ManifestIn(cluster).spec()["replicas"].AsInt();
  }
  std::vector<std::string> EventsOf(absl::string_view reason) const {
    std::vector<std::string> found;
    for (const std::string& event : recorded->All()) {
      if (absl::StrContains(event, reason)) found.push_back(event);
    }
    return found;
  }
};

TEST_CASE_METHOD(Fixture, "a Work keeps its manifest while the template has not passed") {
  SECTION("of a policy that holds it back") {}
  SECTION("of a policy that is gone") { Release(); }
  EditImage("nginx:2");
  Override(R"({"labelsOverrider": [{"operator": "add", "value": {"a": "b"}}]})");
  const kube::Object before = WorkIn("m1");
  Reconcile();
  CHECK(WorkIn("m1") == before);
  CHECK(EventsOf("HeldBackTemplateUsed").empty());
}

TEST_CASE_METHOD(Fixture, "a Work gets the manifest of a state that has passed") {
  EditImage("nginx:2");
  kube::Object binding = Binding();
  const kube::Object web = server->Find(kDeployments, kWeb);
  binding.SetAnnotation(api::kPassedTemplateAnnotation, api::PassedTemplateRecord(web));
  binding.Set({"spec", "resource", "resourceVersion"}, web.resource_version());
  PutBinding(binding);
  Reconcile();
  CHECK(ImageIn("m1") == "nginx:2");
}

TEST_CASE_METHOD(Fixture, "a Work that keeps its manifest follows its binding in the rest") {
  SECTION("of a policy that holds it back") {}
  SECTION("of a policy that is gone") { Release(); }
  EditImage("nginx:2");
  kube::Object binding = Binding();
  binding.Set({"spec", "suspension", "dispatching"}, true);
  binding.Set({"spec", "preserveResourcesOnDeletion"}, true);
  binding.Set({"spec", "conflictResolution"}, "Overwrite");
  PutBinding(binding);
  Reconcile();
  CHECK(ImageIn("m1") == "nginx:1");
  const kube::Object work = WorkIn("m1");
  CHECK(api::WorkView(work).IsDispatchingSuspended());
  CHECK(api::WorkView(work).PreservesResourcesOnDeletion());
  CHECK(work.Annotation(api::kConflictResolutionAnnotation) == "overwrite");
  CHECK(ManifestIn("m1").Annotation(api::kConflictResolutionAnnotation) == "overwrite");
}

TEST_CASE_METHOD(Fixture, "a cluster without the object gets the template, and an event says so") {
  SECTION("of a policy that holds it back") {
    EditImage("nginx:2");
    Place({{"m1", 3}, {"m2", 3}});
    Reconcile();
    CHECK(EventsOf("HeldBackTemplateUsed") ==
          std::vector<std::string>{
              "Warning HeldBackTemplateUsed Deployment: cluster m2 had no such object and got it "
              "as it is now, although its policy has not let this state pass; clusters that had it "
              "keep what they have."});
    CHECK(ImageIn("m2") == "nginx:2");
  }
  SECTION("of a policy that is gone") {
    Release();
    EditImage("nginx:2");
    Place({{"m1", 3}, {"m2", 3}});
    Reconcile();
    CHECK(EventsOf("although no policy governs it any more").size() == 1);
    CHECK(ImageIn("m2") == "nginx:2");
  }
  SECTION("unless that is the state which passed last") {
    Release();
    Place({{"m1", 3}, {"m2", 3}});
    Reconcile();
    CHECK(EventsOf("HeldBackTemplateUsed").empty());
    CHECK(ImageIn("m2") == "nginx:1");
  }
  CHECK(ImageIn("m1") == "nginx:1");
}

// A Work that goes after an outage and leaves its objects to the next one.
struct StandInFixture : Fixture {
  kube::Object StandIn(const std::string& name, const std::string& created) {
    const kube::Object work = WorkIn("m1");
    kube::Object stand_in =
        kube::Object::Make(api::Works().gvk, {std::string(work.ns()), "stand-in-" + name});
    for (const json::Member& m : work.annotations().members()) {
      stand_in.SetAnnotation(m.name(), m.value.AsString());
    }
    stand_in.SetAnnotation(api::kStandsInForAnnotation, absl::StrCat(work.name(), "/", name));
    stand_in.AddFinalizer(api::kExecutionFinalizer);
    stand_in.Set({"metadata", "creationTimestamp"}, created);
    stand_in.Set({"metadata", "deletionTimestamp"}, created);
    stand_in.Set({"spec"}, work.spec());
    stand_in.Set({"spec", "suspendDispatching"}, true);
    return stand_in;
  }
  void SetImage(kube::Object& work, const char* image) {
    kube::Object manifest(api::WorkView(work).Manifests()[0]);
    manifest.Set({"spec", "template", "spec", "containers"},
                 json::Value::Array({json::Value::Object({{"name", "main"}, {"image", image}})}));
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
  }
  void EndWork() {
    const kube::ObjectKey key = WorkIn("m1").key();
    server->Erase(api::Works(), key);
    REQUIRE(tests::Eventually([&] { return cluster.Find(api::Works(), key) == nullptr; }));
  }
};

TEST_CASE_METHOD(StandInFixture, "the Work after a stand-in keeps the manifest of that") {
  Override(R"({"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 0}]})");
  REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
  const kube::Object stand_in = StandIn("u1", "2026-01-01T00:00:02Z");
  kube::Object earlier = StandIn("u0", "2026-01-01T00:00:01Z");
  SetImage(earlier, "nginx:0");
  SECTION("of a policy that holds it back") {}
  SECTION("of a policy that is gone") { Release(); }
  EndWork();
  PutCached(api::Works(), stand_in);
  PutCached(api::Works(), earlier);
  EditImage("nginx:2");
  Place({{"m1", 7}});
  REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
  CHECK(ImageIn("m1") == "nginx:1");
  CHECK(ReplicasIn("m1") == 0);  // The override determines it, as the next Work records.
  const kube::Object next = WorkIn("m1");
  CHECK(next.Annotation(api::kAppliedOverridesAnnotation) ==
        stand_in.Annotation(api::kAppliedOverridesAnnotation));
  CHECK(next.Annotation(api::kStandsInForAnnotation).empty());
  CHECK(next.HasFinalizer(api::kExecutionFinalizer));
  CHECK_FALSE(api::WorkView(next).IsDispatchingSuspended());
  CHECK(EventsOf("HeldBackTemplateUsed").empty());
}

TEST_CASE_METHOD(StandInFixture, "a stand-in of another template or binding is nobody's to keep") {
  kube::Object stand_in = StandIn("u1", "2026-01-01T00:00:02Z");
  SECTION("of an earlier object of the name") {
    kube::Object manifest(api::WorkView(stand_in).Manifests()[0]);
    manifest.SetAnnotation(api::kTemplateUidAnnotation, "earlier");
    stand_in.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
  }
  SECTION("of another binding") {
    stand_in.SetAnnotation(api::kResourceBindingNameAnnotation, "copy");
  }
  EndWork();
  PutCached(api::Works(), stand_in);
  EditImage("nginx:2");
  REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
  CHECK(ImageIn("m1") == "nginx:2");
  CHECK(EventsOf("HeldBackTemplateUsed").size() == 1);
}

TEST_CASE_METHOD(StandInFixture, "a state that has passed comes after a stand-in, too") {
  kube::Object stand_in = StandIn("u1", "2026-01-01T00:00:02Z");
  SetImage(stand_in, "nginx:0");
  EndWork();
  PutCached(api::Works(), stand_in);
  REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
  CHECK(ImageIn("m1") == "nginx:1");
}

TEST_CASE_METHOD(Fixture, "an override goes on determining how conflicts are resolved") {
  constexpr char kName[] = "work.karmada.io/conflict-resolution";
  const auto resolution_after = [&](const char* overriders) {
    Override(overriders);
    Reconcile();
    const std::string before(WorkIn("m1").Annotation(kName));
    Release();
    EditImage("nginx:2");
    Reconcile();
    CHECK(WorkIn("m1").Annotation(kName) == before);
    CHECK(ManifestIn("m1").Annotation(kName) == before);
    return before;
  };
  SECTION("that sets it") {
    CHECK(resolution_after(GENERATE(
              R"({"annotationsOverrider": [{"operator": "add",
                  "value": {"work.karmada.io/conflict-resolution": "overwrite"}}]})",
              R"({"plaintext": [{"operator": "add", "path": "/metadata/annotations",
                  "value": {"work.karmada.io/conflict-resolution": "overwrite"}}]})")) ==
          "overwrite");
  }
  SECTION("that removes it from the template") {
    kube::Object web = server->Find(kDeployments, kWeb);
    web.SetAnnotation(kName, "overwrite");
    PutCached(kDeployments, web);
    Reconcile();
    CHECK(resolution_after(R"({"annotationsOverrider": [{"operator": "remove",
        "value": {"work.karmada.io/conflict-resolution": "overwrite"}}]})") == "abort");
  }
  SECTION("unless it is about something else") {
    CHECK(resolution_after(R"({"annotationsOverrider": [{"operator": "add",
        "value": {"example.com/a": "overwrite"}}]})") == "abort");
    kube::Object binding = Binding();
    binding.Set({"spec", "conflictResolution"}, "Overwrite");
    PutBinding(binding);
    Reconcile();
    CHECK(WorkIn("m1").Annotation(kName) == "overwrite");
  }
}

TEST_CASE_METHOD(Fixture,
                 "a Work that the namespace loop has made is taken over without an event") {
  kube::Object work = WorkIn("m1");
  work.Set({"metadata", "namespace"}, api::ExecutionNamespace("m2"));
  work.EraseLabel(Scope::kIdLabel);
  for (const auto& [name, value] : Scope::NamingAnnotations({})) work.EraseAnnotation(name);
  PutCached(api::Works(), work);
  EditImage("nginx:2");
  Place({{"m1", 3}, {"m2", 3}});
  Reconcile();
  CHECK(ImageIn("m2") == "nginx:2");
  CHECK(WorkIn("m2").Annotation(api::kResourceBindingNameAnnotation) == kKey.name);
  CHECK(EventsOf("HeldBackTemplateUsed").empty());
}

TEST_CASE_METHOD(Fixture, "replicas that the scheduler moves reach a Work that keeps the rest") {
  SECTION("of a policy that holds it back") {}
  SECTION("of a policy that is gone") { Release(); }
  EditImage("nginx:2");
  Place({{"m1", 7}});
  Reconcile();
  CHECK(ReplicasIn("m1") == 7);
  CHECK(ImageIn("m1") == "nginx:1");
}

TEST_CASE_METHOD(Fixture, "replicas that an override has determined stay") {
  const auto replicas_after = [&](const char* overriders) {
    Override(overriders);
    Reconcile();
    const int64_t before = ReplicasIn("m1");
    Release();
    server->Erase(api::OverridePolicies(), {"ns", "o"});
    REQUIRE(tests::Eventually([&] {
      return informers.Get(api::OverridePolicies())->store().Find({"ns", "o"}) == nullptr;
    }));
    Reconcile();
    CHECK(ReplicasIn("m1") == before);
    Place({{"m1", 7}});
    Reconcile();
    return ReplicasIn("m1");
  };
  CHECK(
      replicas_after(GENERATE(
          R"({"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 0}]})",
          R"({"plaintext": [{"path": "/spec", "operator": "replace", "value": {"replicas": 0}}]})")) ==
      0);
}

TEST_CASE_METHOD(Fixture, "an override of something else does not determine replicas") {
  Override(R"({"plaintext": [{"path": "/spec/replicasOfOthers", "operator": "add", "value": 1}]})");
  Reconcile();
  Release();
  Place({{"m1", 7}});
  Reconcile();
  CHECK(ReplicasIn("m1") == 7);
}

TEST_CASE_METHOD(Fixture, "a suspended cluster keeps its Work when the scheduler takes it out") {
  kube::Object binding = Binding();
  binding.Set({"spec", "suspension", "dispatchingOnClusters", "clusterNames"}, Json(R"(["m1"])"));
  PutBinding(binding);
  const std::string event =
      "Warning SuspendedWorkKept ResourceBinding: dispatching to cluster m1 is suspended, so the "
      "object stays there although the cluster is not chosen any more; it is removed when "
      "dispatching is resumed.";
  const auto left = [&] {
    Place({{"m2", 3}});
    REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
    return HasWork("m1");
  };
  SECTION("until dispatching is resumed") {
    CHECK(left());
    CHECK(EventsOf("SuspendedWorkKept") == std::vector<std::string>{event});
    binding = Binding();
    binding.Erase({"spec", "suspension"});
    PutBinding(binding);
    REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
    CHECK_FALSE(HasWork("m1"));
  }
  SECTION("unless the workload was evicted at once") {
    binding = Binding();
    binding.Set({"spec", "gracefulEvictionTasks"},
                Json(R"([{"fromCluster": "m1", "purgeMode": "Directly"}])"));
    PutBinding(binding);
    CHECK_FALSE(left());
  }
  SECTION("unless the cluster is being removed") {
    kube::Object cluster = server->Find(api::Clusters(), {"", "m1"});
    cluster.AddFinalizer("example.com/wait");
    cluster.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    PutCached(api::Clusters(), cluster);
    CHECK_FALSE(left());
  }
  SECTION("unless the binding is being deleted") {
    CHECK(left());
    binding = Binding();
    binding.AddFinalizer("example.com/observer");
    binding.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    PutBinding(binding);
    REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
    CHECK_FALSE(HasWork("m1"));
  }
}

// Stops a deletion of Works half-way, so that their last state can be seen.
struct DeletionFixture : Fixture {
  void PutPolicy(bool preserves) {
    kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"ns", "p"});
    policy.SetLabel(api::kPropagationPolicyIdLabel, "p-id");
    policy.Set({"spec", "preserveResourcesOnDeletion"}, preserves);
    PutCached(api::PropagationPolicies(), policy);
  }
  bool PreservedAtEnd() {
    kube::Object binding = Binding();
    binding.AddFinalizer("example.com/observer");
    binding.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    PutBinding(binding);
    server->FailNext("DELETE", 500, "InternalError");
    CHECK_FALSE(reconciler->Reconcile({.key = kKey}, {}).ok());
    const kube::Object work = WorkIn("m1");
    REQUIRE_FALSE(work.empty());
    return api::WorkView(work).PreservesResourcesOnDeletion();
  }
};

TEST_CASE_METHOD(DeletionFixture, "objects stay if binding or policy says so when a binding goes") {
  SECTION("the policy, which was changed when nobody led") {
    PutPolicy(true);
    CHECK(PreservedAtEnd());
  }
  SECTION("the binding, while the policy says so no longer") {
    PutPolicy(false);
    kube::Object binding = Binding();
    binding.Set({"spec", "preserveResourcesOnDeletion"}, true);
    PutBinding(binding);
    CHECK(PreservedAtEnd());
  }
  SECTION("the policy of a binding that requires this one") {
    PutPolicy(true);
    kube::Object binding = Binding();
    kube::Object referrer = binding;
    referrer.Set({"metadata", "name"}, "shop-deployment");
    PutBinding(referrer);
    binding.EraseLabel(api::kPropagationPolicyIdLabel);
    binding.Set({"spec", "requiredBy"},
                Json(R"([{"namespace": "ns", "name": "shop-deployment"}])"));
    PutBinding(binding);
    CHECK(PreservedAtEnd());
  }
  SECTION("not the policy of a binding of another namespace, which nobody attaches") {
    PutPolicy(true);
    kube::Object binding = Binding();
    kube::Object foreign = binding;
    foreign.Set({"metadata", "namespace"}, "other");
    PutBinding(foreign);
    binding.EraseLabel(api::kPropagationPolicyIdLabel);
    binding.Set({"spec", "requiredBy"},
                json::Value::Array({json::Value::Object(
                    {{"namespace", "other"}, {"name", std::string(binding.name())}})}));
    PutBinding(binding);
    CHECK_FALSE(PreservedAtEnd());
  }
  SECTION("nobody") {
    PutPolicy(false);
    CHECK_FALSE(PreservedAtEnd());
  }
  SECTION("a later policy of that name") {
    PutPolicy(true);
    kube::Object policy = server->Find(api::PropagationPolicies(), {"ns", "p"});
    policy.SetLabel(api::kPropagationPolicyIdLabel, "other");
    PutCached(api::PropagationPolicies(), policy);
    CHECK_FALSE(PreservedAtEnd());
  }
}

TEST_CASE_METHOD(Fixture, "a template that the cache does not show is asked for") {
  server->Erase(api::Works(), WorkIn("m1").key());
  REQUIRE(tests::Eventually([&] { return informers.Get(api::Works())->store().List().empty(); }));
  const kube::Object web = server->Find(kDeployments, kWeb);
  server->Erase(kDeployments, kWeb);
  REQUIRE(tests::Eventually(
      [&] { return informers.Get(kDeployments)->store().Find(kWeb) == nullptr; }));
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());
  server->Put(kDeployments, web);
  REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
  server->Unblock();
  CHECK_FALSE(WorkIn("m1").empty());
}

}  // namespace
