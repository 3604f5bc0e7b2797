// What follows a template into its clusters while its present state has not passed.
#include "controllers/dependencies/held_needs.h"

#include <catch2/catch.hpp>
#include <string>

#include "api/binding_scope.h"
#include "api/names.h"
#include "api/passed_template.h"
#include "api/stand_in.h"
#include "api/work.h"
#include "tests/controllers/dependencies_fixture.h"

namespace {

using tests::Json;
using tests::kConfigMaps;
using tests::kConfigText;
using tests::kDeployments;
using tests::kWeb;
using tests::kWebBinding;
using Scope = api::scope::Namespaced;

constexpr char kOther[] =
    R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "other"}])";

// The Deployment, which a policy has placed in m1, needs "config"; it is edited to need "other".
struct Held : tests::AttachingFixture {
  Held() {
    PutConfig("other");
    PutTemplate(1);
    kube::Object binding = Now();
    binding.SetLabel(api::kPropagationPolicyIdLabel, "p-id");
    Pass(binding);
    PutWork("m1", 1);
    REQUIRE(Reconcile().ok());
    REQUIRE(IsIn("config", "m1"));
  }
  void PutTemplate(int generation) {
    kube::Object web = kube::Object::Make(kDeployments.gvk, kWeb);
    web.Set({"metadata", "generation"}, generation);
    web.Set({"spec", "revision"}, generation);
    PutCached(kDeployments, web);
  }
  // The detector lets the present state pass.
  void Pass(kube::Object binding) {
    const kube::Object web = server->Find(kDeployments, kWeb);
    binding.Set({"spec", "resource", "resourceVersion"}, web.resource_version());
    binding.SetAnnotation(api::kPassedTemplateAnnotation, api::PassedTemplateRecord(web));
    Put(binding);
  }
  void Edit() {
    PutTemplate(2);
    scripted.dependencies = Json(kOther);
  }
  void Release() {
    kube::Object binding = Now();
    binding.EraseLabel(api::kPropagationPolicyIdLabel);
    Put(binding);
  }
  kube::Object Work(const std::string& cluster_name, int generation) {
    const kube::Object binding = Now();
    kube::Object manifest = kube::Object::Make(kDeployments.gvk, kWeb);
    manifest.SetAnnotation(api::kTemplateGenerationAnnotation, std::to_string(generation));
    kube::Object work = kube::Object::Make(
        api::Works().gvk,
        {api::ExecutionNamespace(cluster_name), api::WorkName("Deployment", "web", "ns")});
    work.SetLabel(Scope::kIdLabel, api::BindingView(binding).PermanentId());
    for (const auto& [name, value] : Scope::NamingAnnotations(kWebBinding)) {
      work.SetAnnotation(name, value);
    }
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
    return work;
  }
  void PutWork(const std::string& cluster_name, int generation) {
    PutCached(api::Works(), Work(cluster_name, generation));
  }
  bool IsIn(const std::string& name, const std::string& cluster_name) const {
    for (const json::Value& entry : Now(name + "-configmap").spec()["requiredBy"].items()) {
      for (const json::Value& target : entry["clusters"].items()) {
        if (target["name"].AsString() == cluster_name) return true;
      }
    }
    return false;
  }
};

TEST_CASE_METHOD(Held, "what the manifests in clusters need stays while an edit is held back") {
  SECTION("of a policy that holds it back") {}
  SECTION("of a policy that is gone") { Release(); }
  Edit();
  const size_t before = Writes();
  REQUIRE(Reconcile().ok());
  Renew();
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == before);
  CHECK(Recorded() == kConfigText);
  CHECK(IsIn("config", "m1"));
  CHECK_FALSE(IsIn("other", "m1"));
  // It goes on following the template, and is made again if somebody deletes it.
  SetClusters(kWebBinding.name, R"([{"name": "m1"}, {"name": "m2"}])");
  PutWork("m2", 1);
  REQUIRE(Reconcile().ok());
  CHECK(IsIn("config", "m2"));
  server->Erase(api::ResourceBindings(), {"ns", "config-configmap"});
  REQUIRE(tests::Eventually([&] {
    return cluster.Find(api::ResourceBindings(), {"ns", "config-configmap"}) == nullptr;
  }));
  REQUIRE(Reconcile().ok());
  CHECK(IsIn("config", "m1"));
  CHECK_FALSE(IsIn("other", "m1"));
}

TEST_CASE_METHOD(Held, "everything follows an edit that passes") {
  Edit();
  REQUIRE(Reconcile().ok());
  Pass(Now());
  REQUIRE(Reconcile().ok());
  CHECK(IsIn("other", "m1"));
  CHECK_FALSE(IsIn("config", "m1"));
}

TEST_CASE_METHOD(Held, "what a held-back edit needs is added for a cluster that gets it") {
  Edit();
  SECTION("because it has no Work yet") {
    SetClusters(kWebBinding.name, R"([{"name": "m1"}, {"name": "m2"}])");
  }
  SECTION("because its Work is being deleted") {
    kube::Object work = Work("m1", 1);
    work.AddFinalizer("example.com/wait");
    work.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    PutCached(api::Works(), work);
  }
  SECTION("which its new Work shows already") { PutWork("m1", 2); }
  REQUIRE(Reconcile().ok());
  CHECK(IsIn("other", "m1"));
  CHECK(IsIn("config", "m1"));
  PutWork("m1", 1);
  PutWork("m2", 2);
  REQUIRE(Reconcile().ok());
  CHECK(IsIn("other", "m1"));
  CHECK(IsIn("config", "m1"));
}

TEST_CASE_METHOD(Held, "a cluster whose Work is about to be made after a stand-in needs no more") {
  Edit();
  kube::Object stand_in = Work("m1", 1);
  stand_in.Set({"metadata", "name"}, "stand-in-u");
  stand_in.SetAnnotation(api::kStandsInForAnnotation,
                         api::WorkName("Deployment", "web", "ns") + "/u");
  const kube::ObjectKey key = Work("m1", 1).key();
  server->Erase(api::Works(), key);
  REQUIRE(tests::Eventually([&] { return cluster.Find(api::Works(), key) == nullptr; }));
  PutCached(api::Works(), stand_in);
  REQUIRE(Reconcile().ok());
  CHECK(Recorded() == kConfigText);
  CHECK_FALSE(IsIn("other", "m1"));
}

TEST_CASE_METHOD(Held, "without a record the manifests in clusters are asked about") {
  kube::Object binding = Now();
  binding.EraseAnnotation(api::kDependenciesAnnotation);
  Put(binding);
  PutTemplate(2);
  const size_t asked = scripted.AskedForDependencies().size();
  REQUIRE(Reconcile().ok());
  CHECK(scripted.AskedForDependencies().size() == asked + 1);
  CHECK(Recorded() == kConfigText);
  CHECK(IsIn("config", "m1"));
  REQUIRE(Reconcile().ok());
  CHECK(scripted.AskedForDependencies().size() == asked + 1);
}

}  // namespace
