#include "api/passed_template.h"

#include <catch2/catch.hpp>

#include "api/keys.h"

namespace {

using api::CompareWithRecord;
using api::PassedRecord;

kube::Object Template() {
  return kube::Object(json::Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "web", "namespace": "ns", "resourceVersion": "7", "generation": 2,
                   "labels": {"app": "web"}},
      "spec": {"replicas": 1}})")
                          .value());
}

// Returns a binding that records the template.
kube::Object BindingOf(const kube::Object& object) {
  kube::Object binding = kube::Object::Make({"work.karmada.io", "v1alpha2", "ResourceBinding"},
                                            {"ns", "web-deployment"});
  binding.SetAnnotation(api::kPassedTemplateAnnotation, api::PassedTemplateRecord(object));
  binding.Set({"spec", "resource", "resourceVersion"}, object.resource_version());
  return binding;
}

// Returns what the record of Template() says of a later version.
PassedRecord Later(kube::Object object) {
  object.Set({"metadata", "resourceVersion"}, "8");
  return CompareWithRecord(BindingOf(Template()), object);
}

TEST_CASE("what nobody edits leaves the state of a template as it was") {
  CHECK(CompareWithRecord(BindingOf(Template()), Template()) == PassedRecord::kSame);
  kube::Object object = Template();
  SECTION("another version") {}
  SECTION("the status") { object.Set({"status", "replicas"}, 1); }
  SECTION("a generation that rose with the status") { object.Set({"metadata", "generation"}, 3); }
  SECTION("the claim of a policy") {
    object.SetLabel(api::kPropagationPolicyIdLabel, "id");
    object.SetAnnotation(api::kPropagationPolicyNameAnnotation, "p");
  }
  SECTION("metadata that no label or annotation is") {
    object.AddFinalizer("example.com/wait");
    object.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  }
  SECTION("a default that a newer server shows") { object.Set({"spec", "paused"}, false); }
  CHECK(Later(object) == PassedRecord::kSame);
}

TEST_CASE("the record of a Secret tells nothing of its content") {
  kube::Object secret(json::Parse(R"({"apiVersion": "v1", "kind": "Secret",
      "metadata": {"name": "s", "namespace": "ns", "resourceVersion": "7",
                   "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x"}},
      "data": {"password": "aHVudGVyMg=="}})")
                          .value());
  const kube::Object binding = BindingOf(secret);
  CHECK(binding.Annotation(api::kPassedTemplateAnnotation) == "1:7:0::");
  CHECK(CompareWithRecord(binding, secret) == PassedRecord::kSame);
  secret.Set({"metadata", "resourceVersion"}, "8");
  CHECK(CompareWithRecord(binding, secret) == PassedRecord::kNone);
}

TEST_CASE("what users edit makes another state of a template") {
  kube::Object object = Template();
  SECTION("a label") { object.SetLabel("tier", "front"); }
  SECTION("an annotation") { object.SetAnnotation("note", "x"); }
  SECTION("the key of Karmada's domain that users set") {
    object.SetLabel(api::kSkipAutoPropagationLabel, "true");
  }
  SECTION("the specification") {
    object.Set({"spec", "replicas"}, 2);
    object.Set({"metadata", "generation"}, 3);
  }
  SECTION("the content of a kind without generation") {
    object.Set({"spec", "replicas"}, 2);
    object.Erase({"metadata", "generation"});
  }
  CHECK(Later(object) == PassedRecord::kOther);
}

TEST_CASE("a record that says nothing about the present version counts as none") {
  kube::Object binding = BindingOf(Template());
  SECTION("because there is none") { binding.EraseAnnotation(api::kPassedTemplateAnnotation); }
  SECTION("because its format is unknown") {
    binding.SetAnnotation(api::kPassedTemplateAnnotation, "2:7:2:0:0");
  }
  SECTION("because its format is none") {
    binding.SetAnnotation(api::kPassedTemplateAnnotation, "yes");
  }
  SECTION("because another program has recorded a later version since") {
    binding.Set({"spec", "resource", "resourceVersion"}, "9");
  }
  CHECK(CompareWithRecord(binding, Template()) == PassedRecord::kNone);
}

}  // namespace
