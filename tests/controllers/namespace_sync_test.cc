#include "controllers/namespace/namespace_sync_reconciler.h"
#include "controllers/namespace/register.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/names.h"
#include "api/object_reference.h"
#include "api/reasons.h"
#include "kube/client/errors.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/passes.h"

namespace {

using tests::Parse;

kube::Object Namespace(const std::string& name) {
  kube::Object ns = kube::Object::Make(api::Namespaces().gvk, {"", name});
  ns.Set({"metadata", "uid"}, "ns-uid");
  ns.SetLabel("team", "a");
  return ns;
}

TEST_CASE("the Work of a namespace belongs to it and says nothing of dispatching") {
  const works::WantedWork work = controllers::NamespaceWork(Namespace("shop"), "m1");
  CHECK(work.key.ns == "karmada-es-m1");
  CHECK(absl::StartsWith(work.key.name, "shop-"));
  CHECK(work.manifest.name() == "shop");
  CHECK(work.owner_references == Parse(R"({"o": [{"apiVersion": "v1", "kind": "Namespace",
      "name": "shop", "uid": "ns-uid", "controller": true, "blockOwnerDeletion": true}]})")
                                     .Get({"o"}));
  CHECK_FALSE(work.suspend_dispatching.has_value());
  CHECK_FALSE(work.preserve_resources_on_deletion.has_value());
  CHECK_FALSE(work.annotations.Has(api::kConflictResolutionAnnotation));
}

struct Fixture : tests::MembersFixture {
  std::optional<controllers::NamespaceSyncReconciler> reconciler;
  Fixture() {
    reconciler.emplace(Make(), *controllers::SyncedNamespaces({"kube-system"}));
    Sync({api::Namespaces(), api::Clusters(), api::Works(), api::ClusterOverridePolicies(),
          api::ClusterResourceBindings()});
    for (const char* name : {"m1", "m2"}) {
      PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", name}));
      PutCached(api::Namespaces(),
                kube::Object::Make(api::Namespaces().gvk, {"", absl::StrCat("karmada-es-", name)}));
    }
  }
  absl::Status Reconcile(const kube::Object& ns) {
    PutCached(api::Namespaces(), ns);
    return reconciler->Reconcile({.key = ns.key()}, {}).status();
  }
  std::vector<kube::Object> Works() const { return server->All(api::Works()); }
};

TEST_CASE_METHOD(Fixture, "a namespace goes into every cluster") {
  REQUIRE(Reconcile(Namespace("shop")).ok());
  REQUIRE(Works().size() == 2);
  CHECK(Works()[0].ns() == "karmada-es-m1");
  CHECK(Works()[1].ns() == "karmada-es-m2");
  for (const kube::Object& work : Works()) {
    const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
    CHECK(manifest.kind() == "Namespace");
    CHECK(manifest.Label("team") == "a");
    CHECK(manifest.uid() == "");
    CHECK(work.HasFinalizer(api::kExecutionFinalizer));
    CHECK(work.OwnerRefs().at(0).uid == "ns-uid");
    CHECK_FALSE(work.spec().Has("suspendDispatching"));
  }
  const size_t before = server->Calls();
  REQUIRE(Reconcile(Namespace("shop")).ok());
  CHECK(server->Calls() == before);
}

// Returns the conflict resolution that the manifest in the cluster has.
std::string ResolutionIn(const std::string& cluster, const std::vector<kube::Object>& works) {
  for (const kube::Object& work : works) {
    const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
    if (work.ns() != "karmada-es-" + cluster) continue;
    CHECK(work.Annotation(api::kConflictResolutionAnnotation).empty());
    return std::string(manifest.Annotation(api::kConflictResolutionAnnotation));
  }
  return "no Work";
}

TEST_CASE_METHOD(Fixture,
                 "a namespace says how to resolve conflicts, and an override has the say") {
  kube::Object ns = Namespace("shop");
  ns.SetAnnotation(api::kConflictResolutionAnnotation, "abort");
  REQUIRE(Reconcile(ns).ok());
  CHECK(ResolutionIn("m1", Works()) == "abort");
  PutCached(api::ClusterOverridePolicies(), Parse(R"({
      "apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterOverridePolicy",
      "metadata": {"name": "c"}, "spec": {"overrideRules": [
          {"targetCluster": {"clusterNames": ["m1"]}, "overriders": {"annotationsOverrider": [{
               "operator": "replace",
               "value": {"work.karmada.io/conflict-resolution": "overwrite"}}]}},
          {"targetCluster": {"clusterNames": ["m2"]}, "overriders": {"annotationsOverrider": [{
               "operator": "remove",
               "value": {"work.karmada.io/conflict-resolution": ""}}]}}]}})"));
  REQUIRE(Reconcile(ns).ok());
  CHECK(ResolutionIn("m1", Works()) == "overwrite");
  CHECK(ResolutionIn("m2", Works()).empty());
}

TEST_CASE_METHOD(Fixture,
                 "a cluster that joins gets every namespace, the others are not looked at") {
  for (const char* name : {"shop", "mail", "default", "karmada-system"}) {
    PutCached(api::Namespaces(), Namespace(name));
  }
  REQUIRE(reconciler->Reconcile({.cluster = "m2"}, {}).ok());
  REQUIRE(Works().size() == 2);
  for (const kube::Object& work : Works()) CHECK(work.ns() == "karmada-es-m2");
  CHECK(reconciler->Reconcile({.cluster = "gone"}, {}).ok());
}

// The namespace's own pass has written the change by the time the pass over the cluster comes to
// it.
TEST_CASE_METHOD(Fixture, "a namespace that changes while a cluster is supplied keeps its change") {
  PutCached(api::Namespaces(), Namespace("mail"));
  PutCached(api::Namespaces(), Namespace("shop"));
  server->Block("POST");
  absl::Status done;
  std::thread worker([&] { done = reconciler->Reconcile({.cluster = "m2"}, {}).status(); });
  CHECK(server->AwaitRequests("POST", 1));
  for (const char* name : {"mail", "shop"}) {
    kube::Object changed = Namespace(name);
    changed.SetLabel("team", "b");
    PutCached(api::Namespaces(), changed);
  }
  server->Unblock();
  worker.join();
  CHECK(done.ok());
  REQUIRE(Works().size() == 2);
  for (const kube::Object& work : Works()) {
    const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
    CHECK(manifest.Label("team") == "b");
  }
}

TEST_CASE_METHOD(Fixture, "a namespace that is refused does not keep others from a new cluster") {
  for (const char* name : {"shop", "mail"}) PutCached(api::Namespaces(), Namespace(name));
  server->FailNext("POST", 404, "NotFound");
  const absl::Status failed = reconciler->Reconcile({.cluster = "m2"}, {}).status();
  CHECK(absl::StrContains(failed.message(), "namespace "));
  REQUIRE(Works().size() == 1);
  REQUIRE(reconciler->Reconcile({.cluster = "m2"}, {}).ok());
  CHECK(Works().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a cluster that is being removed gets no more namespaces") {
  kube::Object leaving = kube::Object::Make(api::Clusters().gvk, {"", "m2"});
  leaving.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::Clusters(), leaving);
  REQUIRE(Reconcile(Namespace("shop")).ok());
  CHECK(Works().size() == 1);
}

TEST_CASE_METHOD(Fixture, "namespaces that are not the users' stay where they are") {
  const std::string name = GENERATE(as<std::string>(), "default", "karmada-system",
                                    "karmada-cluster", "karmada-es-m1", "kube-system");
  REQUIRE(Reconcile(Namespace(name)).ok());
  CHECK(Works().empty());
}

TEST_CASE_METHOD(Fixture, "a namespace can be kept out by its label, in any spelling of true") {
  kube::Object ns = Namespace("shop");
  const std::string value = GENERATE(as<std::string>(), "true", "TRUE", "True", "false", "yes");
  ns.SetLabel(api::kSkipAutoPropagationLabel, value);
  REQUIRE(Reconcile(ns).ok());
  CHECK(Works().empty() == (value == "true" || value == "TRUE" || value == "True"));
}

TEST_CASE_METHOD(Fixture, "a namespace on its way out, or gone, is left alone") {
  kube::Object ns = Namespace("shop");
  ns.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  REQUIRE(Reconcile(ns).ok());
  CHECK(reconciler->Reconcile({.key = {"", "never"}}, {}).ok());
  CHECK(Works().empty());
}

TEST_CASE_METHOD(Fixture, "labelling a namespace later does not take it back") {
  REQUIRE(Reconcile(Namespace("shop")).ok());
  kube::Object ns = Namespace("shop");
  ns.SetLabel(api::kSkipAutoPropagationLabel, "true");
  REQUIRE(Reconcile(ns).ok());
  CHECK(Works().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a cluster that refuses does not keep the namespace from the others") {
  server->FailNext("POST", 404, "NotFound");  // As if the execution namespace did not exist yet.
  const absl::Status failed = Reconcile(Namespace("shop"));
  CHECK_FALSE(failed.ok());
  REQUIRE(Works().size() == 1);
  const bool first = Works()[0].ns() == "karmada-es-m1";  // The order of clusters is not defined.
  CHECK(absl::StrContains(failed.message(), first ? "cluster m2" : "cluster m1"));
}

TEST_CASE_METHOD(Fixture,
                 "a conflict in one cluster does not keep a namespace from those behind it") {
  server->FailNext("POST", 409, "Conflict");
  CHECK(kube::IsConflict(Reconcile(Namespace("shop"))));
  CHECK(Works().size() == 1);
  REQUIRE(Reconcile(Namespace("shop")).ok());
  CHECK(Works().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a conflict over one namespace keeps no other from a new cluster") {
  for (const char* name : {"shop", "mail"}) PutCached(api::Namespaces(), Namespace(name));
  server->FailNext("POST", 409, "Conflict");
  CHECK(kube::IsConflict(reconciler->Reconcile({.cluster = "m2"}, {}).status()));
  CHECK(Works().size() == 1);
  REQUIRE(reconciler->Reconcile({.cluster = "m2"}, {}).ok());
  CHECK(Works().size() == 2);
}

// A ClusterPropagationPolicy propagates the Namespace shop to m1.
struct BoundFixture : Fixture {
  using Scope = api::scope::Cluster;
  kube::Object binding = kube::Object::Make(Scope::Bindings().gvk, {"", "shop-namespace"});

  BoundFixture() {
    REQUIRE(Reconcile(Namespace("shop")).ok());
    binding.SetLabel(Scope::kIdLabel, "id");
    binding.Set({"spec", "resource"}, api::ObjectReference::Of(Namespace("shop")).ToJson());
    binding.Set({"spec", "clusters"}, tests::Json(R"([{"name": "m1"}])"));
    kube::Object work = WorkIn("m1");
    work.SetLabel(Scope::kIdLabel, "id");
    for (const auto& [name, value] : Scope::NamingAnnotations(binding.key())) {
      work.SetAnnotation(name, value);
    }
    work.Set({"spec", "suspendDispatching"}, true);
    PutCached(api::Works(), work);
  }
  kube::Object WorkIn(const std::string& cluster) const {
    return server->Find(api::Works(),
                        {api::ExecutionNamespace(cluster), api::WorkName("Namespace", "shop", "")});
  }
  std::string TeamIn(const std::string& cluster) const {
    const kube::Object manifest(WorkIn(cluster).Get({"spec", "workload", "manifests"}).At(0));
    return std::string(manifest.Label("team"));
  }
  // The user edits the Namespace.
  void Edit() {
    PutCached(Scope::Bindings(), binding);
    kube::Object ns = Namespace("shop");
    ns.SetLabel("team", "b");
    REQUIRE(Reconcile(ns).ok());
    REQUIRE(reconciler->Reconcile({.cluster = "m1"}, {}).ok());
    CHECK(TeamIn("m2") == "b");
    CHECK(WorkIn("m1").spec()["suspendDispatching"].AsBool());
  }
};

TEST_CASE_METHOD(BoundFixture, "a Work that a binding wants is left to the binding's loop") {
  SECTION("in its clusters") {}
  SECTION("in those that it leaves gracefully") {
    binding.Set({"spec", "clusters"}, json::Value::Array());
    binding.Set({"spec", "gracefulEvictionTasks"}, tests::Json(R"([{"fromCluster": "m1"}])"));
  }
  Edit();
  CHECK(TeamIn("m1") == "a");
}

TEST_CASE_METHOD(BoundFixture, "a Work that its binding does not want any more is written") {
  SECTION("because it is placed elsewhere") {
    binding.Set({"spec", "clusters"}, tests::Json(R"([{"name": "m2"}])"));
  }
  SECTION("because it is being deleted") {
    binding.AddFinalizer("example.com/wait");
    binding.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  }
  SECTION("because it is gone") { binding.Set({"metadata", "name"}, "other"); }
  SECTION("because it is another binding of the name") { binding.SetLabel(Scope::kIdLabel, "x"); }
  SECTION("because it stands for another object") {
    binding.Set({"spec", "resource", "name"}, "mail");
  }
  Edit();
  CHECK(TeamIn("m1") == "b");
}

// Returns a policy that labels the Namespace shop in clusters with env=prod.
kube::Object LabelPolicy(const std::string& value) {
  return Parse(absl::StrCat(R"({
      "apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterOverridePolicy",
      "metadata": {"name": "c"},
      "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "Namespace", "name": "shop"}],
               "overrideRules": [{
                   "targetCluster": {"labelSelector": {"matchLabels": {"env": "prod"}}},
                   "overriders": {"labelsOverrider": [{"operator": "add", "value": {"tier": ")",
                            value, R"("}}]}}]}})"));
}

// The namespace's own pass, on another worker, has written the change by the time.
TEST_CASE_METHOD(Fixture, "what an override depends on may change while a cluster is supplied") {
  const auto put_cluster = [&](const char* env) {
    kube::Object m2 = kube::Object::Make(api::Clusters().gvk, {"", "m2"});
    m2.SetLabel("env", env);
    PutCached(api::Clusters(), m2);
  };
  put_cluster("prod");
  PutCached(api::ClusterOverridePolicies(), LabelPolicy("gold"));
  PutCached(api::Namespaces(), Namespace("shop"));
  server->Block("POST");
  absl::Status done;
  std::thread worker([&] { done = reconciler->Reconcile({.cluster = "m2"}, {}).status(); });
  CHECK(server->AwaitRequests("POST", 1));
  const bool is_policy = GENERATE(true, false);
  if (is_policy) {
    PutCached(api::ClusterOverridePolicies(), LabelPolicy("silver"));
  } else {
    put_cluster("test");
  }
  server->Unblock();
  worker.join();
  CHECK(done.ok());
  REQUIRE(Works().size() == 1);
  const kube::Object manifest(Works()[0].Get({"spec", "workload", "manifests"}).At(0));
  CHECK(manifest.Label("tier") == (is_policy ? "silver" : ""));
}

struct OverrideFixture : tests::LoopsFixture {
  OverrideFixture() {
    Make();
    REQUIRE(controllers::RegisterNamespaceSync(Context(), 1).ok());
    Sync({api::Namespaces(), api::Clusters(), api::Works(), api::ClusterOverridePolicies(),
          api::ClusterResourceBindings()});
    for (const char* name : {"m1", "m2"}) {
      PutCluster(name, name == std::string("m1") ? "prod" : "test");
      PutCached(api::Namespaces(),
                kube::Object::Make(api::Namespaces().gvk, {"", absl::StrCat("karmada-es-", name)}));
    }
    for (const char* name : {"shop", "mail"}) PutCached(api::Namespaces(), Namespace(name));
    Start();
    REQUIRE(tests::Eventually([&] { return server->All(api::Works()).size() == 4; }));
  }
  void PutCluster(const std::string& name, const std::string& env) {
    kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", name});
    cluster.SetLabel("env", env);
    PutCached(api::Clusters(), cluster);
  }
  // Returns the label of the manifests: "<shop in m1> <shop in m2> <mail in m1>".
  std::string Tiers() {
    const auto tier = [&](const char* cluster, const char* name) {
      const kube::ObjectKey key{absl::StrCat("karmada-es-", cluster),
                                api::WorkName("Namespace", name, "")};
      const kube::Object work = server->Find(api::Works(), key);
      const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
      return manifest.labels()["tier"].ToString("-");
    };
    return absl::StrCat(tier("m1", "shop"), " ", tier("m2", "shop"), " ", tier("m1", "mail"));
  }
  bool Becomes(const std::string& tiers) {
    return tests::Eventually([&] { return Tiers() == tiers; });
  }
};

TEST_CASE_METHOD(OverrideFixture,
                 "namespaces follow ClusterOverridePolicies and clusters' labels") {
  PutCached(api::ClusterOverridePolicies(), LabelPolicy("gold"));
  CHECK(Becomes("gold - -"));
  const kube::Object work =
      server->Find(api::Works(), {"karmada-es-m1", api::WorkName("Namespace", "shop", "")});
  CHECK(work.Annotation(api::kAppliedClusterOverridesAnnotation) ==
        R"([{"policyName":"c","overriders":{"labelsOverrider":)"
        R"([{"operator":"add","value":{"tier":"gold"}}]}}])");
  PutCluster("m2", "prod");
  CHECK(Becomes("gold gold -"));
  PutCached(api::ClusterOverridePolicies(), LabelPolicy("silver"));
  CHECK(Becomes("silver silver -"));
  server->Erase(api::ClusterOverridePolicies(), {"", "c"});
  CHECK(Becomes("- - -"));
}

// The cluster loop makes the execution namespace a moment after the cluster has joined.
struct JoinFixture : tests::LoopsFixture {
  JoinFixture() {
    Make();
    REQUIRE(controllers::RegisterNamespaceSync(Context(), 1).ok());
    Sync({api::Namespaces(), api::Clusters(), api::Works()});
    PutCached(api::Namespaces(), Namespace("shop"));
    Start();
  }
};

TEST_CASE_METHOD(JoinFixture, "a cluster gets namespaces once it has its execution namespace") {
  const kube::Object es = kube::Object::Make(api::Namespaces().gvk, {"", "karmada-es-m1"});
  const auto written = [&] { return server->All(api::Works()).size(); };
  SECTION("which comes after it") {
    PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", "m1"}));
    PutCached(api::Namespaces(), Namespace("blog"));
    PutCached(api::Namespaces(), es);
  }
  SECTION("which is seen before it") {
    PutCached(api::Namespaces(), es);
    PutCached(api::Namespaces(), Namespace("blog"));
    PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", "m1"}));
  }
  CHECK(tests::Eventually([&] { return written() == 2; }));
  CHECK(tests::Passes(registry, api::kNamespaceSyncController, "error") == 0);
}

TEST_CASE_METHOD(Fixture, "a cluster without execution namespace keeps no other from a namespace") {
  PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", "joining"}));
  CHECK(Reconcile(Namespace("shop")).ok());
  CHECK(Works().size() == 2);
}

}  // namespace
