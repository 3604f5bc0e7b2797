#include "works/passage.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "api/keys.h"
#include "api/passed_template.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using tests::Parse;
using works::Passage;

// A Deployment that was edited since version 7, and its binding, of which a policy is the owner.
struct Fixture {
  tests::ScriptedInterpreter scripted;
  kube::Object object = Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "web", "namespace": "ns", "uid": "u", "resourceVersion": "8",
                   "generation": 3},
      "spec": {"replicas": 2}})");
  kube::Object binding = Parse(R"({"apiVersion": "work.karmada.io/v1alpha2",
      "kind": "ResourceBinding",
      "metadata": {"name": "web-deployment", "namespace": "ns",
                   "labels": {"propagationpolicy.karmada.io/permanent-id": "p"}},
      "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns",
                            "name": "web", "uid": "u", "resourceVersion": "7"},
               "clusters": [{"name": "m1"}]}})");
  std::vector<kube::ObjectPtr> works;

  // A Work of the template's generation `generation`; 0 for none.
  void PutWork(int64_t generation, int64_t replicas) {
    kube::Object manifest = Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ns",
                     "labels": {"karmada.io/managed": "true",
                                "work.karmada.io/permanent-id": "w"},
                     "annotations": {"resourcetemplate.karmada.io/uid": "u",
                                     "work.karmada.io/name": "web"}},
        "spec": {}})");
    manifest.Set({"spec", "replicas"}, replicas);
    if (generation > 0) {
      manifest.SetAnnotation(api::kTemplateGenerationAnnotation, std::to_string(generation));
    }
    kube::Object work = Parse(R"({"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work"})");
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
    works.push_back(kube::Share(std::move(work)));
  }
  void Record(const kube::Object& state) {
    binding.SetAnnotation(api::kPassedTemplateAnnotation, api::PassedTemplateRecord(state));
    binding.Set({"spec", "resource", "resourceVersion"}, state.resource_version());
  }
  void Unclaim() { binding.EraseLabel(api::kPropagationPolicyIdLabel); }
  Passage Passed() {
    return works::PassageOf(
        api::BindingView(binding), object, [&] { return works; }, scripted);
  }
};

TEST_CASE_METHOD(Fixture, "the record of a binding decides whether its template has passed") {
  PutWork(3, 2);  // It was made in a cluster that had none.
  Record(object);
  CHECK(Passed() == Passage::kPassed);
  object.Set({"metadata", "resourceVersion"}, "9");
  object.Set({"metadata", "generation"}, 4);
  CHECK(Passed() == Passage::kPassed);
  object.Set({"spec", "replicas"}, 5);
  CHECK(Passed() == Passage::kHeldBack);
}

TEST_CASE_METHOD(Fixture, "without a record the version of the template decides") {
  CHECK(Passed() == Passage::kHeldBack);
  binding.Set({"spec", "resource", "resourceVersion"}, "8");
  CHECK(Passed() == Passage::kPassed);
}

TEST_CASE_METHOD(Fixture,
                 "without a record the Works of all clusters decide about other versions") {
  PutWork(3, 1);
  CHECK(Passed() == Passage::kPassed);
  PutWork(2, 1);
  CHECK(Passed() == Passage::kHeldBack);
}

TEST_CASE_METHOD(Fixture, "without a generation the content of the Works decides") {
  object.Erase({"metadata", "generation"});
  PutWork(0, 2);
  CHECK(Passed() == Passage::kPassed);
  object.SetLabel(api::kPropagationPolicyIdLabel, "p");
  object.Set({"status", "replicas"}, 2);
  CHECK(Passed() == Passage::kPassed);
  object.SetLabel("tier", "front");
  CHECK(Passed() == Passage::kHeldBack);
}

TEST_CASE_METHOD(Fixture, "the binding of an earlier object of that name says nothing") {
  Record(object);
  object.Set({"metadata", "uid"}, "later");
  CHECK(Passed() == Passage::kHeldBack);
}

TEST_CASE_METHOD(Fixture, "without a policy a template is released, whatever the record says") {
  Unclaim();
  CHECK(Passed() == Passage::kReleased);
  Record(object);
  CHECK(Passed() == Passage::kReleased);
}

TEST_CASE_METHOD(Fixture, "templates that others let pass are followed") {
  Unclaim();
  SECTION("for a binding that requires this one") {
    binding.Set({"spec", "requiredBy"},
                tests::Json(R"([{"namespace": "ns", "name": "shop-deployment"}])"));
  }
  SECTION("for a MultiClusterService") {
    binding.SetLabel(api::kBindingManagedByLabel, "MultiClusterService");
  }
  SECTION("for a binding that was made by hand") {
    binding.Erase({"spec", "resource", "resourceVersion"});
  }
  CHECK(Passed() == Passage::kPassed);
}

}  // namespace
