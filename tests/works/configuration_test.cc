#include "works/configuration.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "api/keys.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using works::ConfigurationOf;
using works::IsApplied;

kube::Object Parse(const char* text) { return kube::Object(json::Parse(text).value()); }

// A Deployment as it is in a Work.
kube::Object Manifest() {
  return Parse(R"({"apiVersion":"apps/v1","kind":"Deployment",
    "metadata":{"name":"web","namespace":"ns",
      "labels":{"app":"web","karmada.io/managed":"true"},
      "annotations":{"note":"n","resourcetemplate.karmada.io/managed-labels":"app,karmada.io/managed",
        "resourcetemplate.karmada.io/managed-annotations":"note"}},
    "spec":{"replicas":3,"template":{"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},
      "spec":{"containers":[{"name":"main","image":"nginx","resources":{}}]}}}})");
}

// The same as a member's server has it.
kube::Object Observed() {
  kube::Object object = works::WithDigest(Manifest());
  object.Set({"metadata", "resourceVersion"}, "7");
  object.Set({"metadata", "uid"}, "u");
  object.Set({"spec", "revisionHistoryLimit"}, 10);
  object.Set({"spec", "template", "spec", "containers"},
             json::Parse(R"([{"name":"sidecar","image":"proxy"},
                {"name":"main","image":"nginx","imagePullPolicy":"Always"}])")
                 .value());
  object.Set({"status", "replicas"}, 3);
  return object;
}

struct Fixture {
  tests::FakeClock clock;
  std::unique_ptr<interpreter::Interpreter> chain = [this] {
    std::vector<std::unique_ptr<interpreter::Backend>> backends;
    backends.push_back(interpreter::NewNativeBackend(clock));
    return interpreter::NewChain(std::move(backends));
  }();
  kube::Object Configuration(const kube::Object& manifest, const kube::Object& observed) const {
    auto made = ConfigurationOf(manifest, observed, *chain);
    REQUIRE(made.ok());
    return *made;
  }
};

TEST_CASE("An annotation of the template decides how it is put into members") {
  kube::Object manifest = Manifest();
  CHECK_FALSE(*works::UsesServerSideApply(manifest, false));
  CHECK(*works::UsesServerSideApply(manifest, true));
  manifest.SetAnnotation(api::kServerSideApplyAnnotation, "true");
  CHECK(*works::UsesServerSideApply(manifest, false));
  manifest.SetAnnotation(api::kServerSideApplyAnnotation, "false");
  CHECK_FALSE(*works::UsesServerSideApply(manifest, true));
  manifest.SetAnnotation(api::kServerSideApplyAnnotation, "yes");
  CHECK(works::UsesServerSideApply(manifest, true).status().message() ==
        "annotation resourcetemplate.karmada.io/server-side-apply: \"yes\" is neither \"true\" nor "
        "\"false\"");
}

TEST_CASE_METHOD(Fixture, "What is applied has no field of others, no null and no version") {
  kube::Object observed = Observed();
  observed.SetLabel("theirs", "x");
  observed.SetAnnotation("theirs", "x");
  observed.AddFinalizer("example.com/theirs");
  const kube::Object configuration = Configuration(Manifest(), observed);
  const std::string digest(configuration.Annotation(api::kAppliedManifestAnnotation));
  CHECK(digest.size() == 16);
  kube::Object expected = Manifest();
  expected.Erase({"spec", "template", "metadata", "creationTimestamp"});
  expected.SetAnnotation(api::kAppliedManifestAnnotation, digest);
  CHECK(configuration.root() == expected.root());
}

TEST_CASE_METHOD(Fixture, "What the interpreter retains is applied as the member has it") {
  kube::Object manifest = Manifest();
  manifest.SetLabel(api::kRetainReplicasLabel, api::kRetainReplicasValue);
  kube::Object observed = Observed();
  observed.Set({"spec", "replicas"}, 7);
  const kube::Object configuration = Configuration(manifest, observed);
  CHECK(configuration.spec()["replicas"].AsInt() == 7);
  CHECK_FALSE(configuration.spec().Has("revisionHistoryLimit"));
}

TEST_CASE_METHOD(Fixture, "Nothing is sent while the member has everything of the same manifest") {
  kube::Object observed = Observed();
  CHECK(IsApplied(Configuration(Manifest(), observed), observed));
  // A field that somebody else has set differently.
  observed.Set({"spec", "replicas"}, 4);
  CHECK_FALSE(IsApplied(Configuration(Manifest(), observed), observed));
  observed = Observed();
  observed.EraseLabel("app");
  CHECK_FALSE(IsApplied(Configuration(Manifest(), observed), observed));
  observed = Observed();
  observed.Set({"spec", "template", "spec", "containers"},
               json::Parse(R"([{"name":"main","image":"other"}])").value());
  CHECK_FALSE(IsApplied(Configuration(Manifest(), observed), observed));
}

TEST_CASE_METHOD(Fixture, "An empty list that somebody has filled is sent again") {
  kube::Object manifest = Manifest();
  manifest.Set({"spec", "ingress"}, json::Value::Array());
  kube::Object observed = Observed();
  observed.SetAnnotation(api::kAppliedManifestAnnotation,
                         works::WithDigest(manifest).Annotation(api::kAppliedManifestAnnotation));
  CHECK(IsApplied(Configuration(manifest, observed), observed));  // The server drops empty lists.
  observed.Set({"spec", "ingress"}, json::Value::Array({json::Value::Object()}));
  CHECK_FALSE(IsApplied(Configuration(manifest, observed), observed));
}

TEST_CASE_METHOD(Fixture, "A manifest that has lost a field is sent although the member has all") {
  kube::Object manifest = Manifest();
  manifest.Erase({"spec", "replicas"});
  CHECK_FALSE(IsApplied(Configuration(manifest, Observed()), Observed()));
  // So is one for an object that was put there by an update, of which nothing is known.
  kube::Object unmarked = Observed();
  unmarked.EraseAnnotation(api::kAppliedManifestAnnotation);
  CHECK_FALSE(IsApplied(Configuration(Manifest(), unmarked), unmarked));
}

}  // namespace
