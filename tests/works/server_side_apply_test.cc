// Objects that are put into members by server-side apply: which requests are sent, and when none
// is. The fake server merges what is applied; what a real one makes of it is tested end to end.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/keys.h"
#include "base/status.h"
#include "tests/support/members_fixture.h"
#include "works/member_objects.h"
#include "works/release.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::kConfigMaps;
using tests::Parse;
using works::ApplyResult;

const kube::ObjectKey kKey = {"ns", "app"};
const char kPath[] = "/api/v1/namespaces/ns/configmaps/app";

// Returns a ConfigMap as it is in a Work.
kube::Object ConfigMap(const char* data = R"({"k": "v"})") {
  kube::Object object = Parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "app", "namespace": "ns", "labels": {"karmada.io/managed": "true"},
      "annotations": {"resourcetemplate.karmada.io/server-side-apply": "true"}}})");
  object.Set({"data"}, Json(data));
  return object;
}

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");

  kube::Object Held() const { return m1.Find(kConfigMaps, kKey); }
  void ChangeThere(kube::Object object) {
    const kube::Object stored = m1.Put(kConfigMaps, std::move(object));
    REQUIRE(Eventually([&] {
      const auto found = objects.Find("m1", stored, {});
      return found.ok() && *found != nullptr &&
             (*found)->resource_version() == stored.resource_version();
    }));
  }
  ApplyResult Apply(const kube::Object& manifest) { return ApplyBy(objects, manifest); }
  static ApplyResult ApplyBy(works::MemberObjects& writer, const kube::Object& manifest) {
    const auto result = writer.Apply("m1", manifest, {});
    INFO(result.status().ToString());
    REQUIRE(result.ok());
    return *result;
  }
  std::string LastPatch() const {
    const std::vector<std::string> patches = m1.Requests("PATCH");
    REQUIRE_FALSE(patches.empty());
    return patches.back();
  }
};

TEST_CASE_METHOD(Fixture, "an object that is applied carries a digest, and is not sent twice") {
  CHECK(Apply(ConfigMap()) == ApplyResult::kCreated);
  CHECK(Held().Annotation(api::kAppliedManifestAnnotation).size() == 16);
  const size_t calls = m1.Calls();
  CHECK(Apply(ConfigMap()) == ApplyResult::kNone);
  // Nor by a process that knows nothing of it.
  works::MemberObjects restarted{{mapper, members, *chain, clock, registry}};
  CHECK(ApplyBy(restarted, ConfigMap()) == ApplyResult::kNone);
  CHECK(m1.Calls() == calls);
}

TEST_CASE_METHOD(Fixture, "a changed manifest is applied with the version that was seen") {
  Apply(ConfigMap());
  const std::string version(Held().resource_version());
  CHECK(Apply(ConfigMap(R"({"k": "w"})")) == ApplyResult::kUpdated);
  CHECK(LastPatch() == std::string("PATCH ") + kPath + "?fieldManager=karmada");
  const json::Value sent = json::Parse(m1.last_body()).value();
  CHECK(sent.Get({"metadata", "resourceVersion"}).AsString() == version);
  // Without it an apply would create an object that was deleted meanwhile.
  CHECK(sent.Get({"metadata", "uid"}).AsString() == Held().uid());
  CHECK(Held().Get({"data", "k"}).AsString() == "w");
}

TEST_CASE_METHOD(Fixture, "fields of others are not sent, and looked at once") {
  Apply(ConfigMap());
  kube::Object theirs = Held();
  theirs.SetLabel("theirs", "x");
  ChangeThere(theirs);
  const size_t patches = m1.Requests("PATCH").size();
  CHECK(Apply(ConfigMap()) == ApplyResult::kNone);
  CHECK(m1.Requests("PATCH").size() == patches);
  // Only the server knows whether this is somebody's right.
  theirs = Held();
  theirs.Set({"data", "theirs"}, "x");
  ChangeThere(theirs);
  Apply(ConfigMap());
  CHECK(m1.Requests("PATCH").size() == patches + 1);
  CHECK(Apply(ConfigMap()) == ApplyResult::kNone);
  CHECK(m1.Requests("PATCH").size() == patches + 1);
  // A process that does not know what was there compares.
  works::MemberObjects restarted{{mapper, members, *chain, clock, registry}};
  CHECK(ApplyBy(restarted, ConfigMap()) == ApplyResult::kNone);
  Apply(ConfigMap(R"({"k": "w"})"));
  CHECK_FALSE(absl::StrContains(m1.last_body(), "theirs"));
  CHECK(Held().Get({"data", "theirs"}).AsString() == "x");
}

TEST_CASE_METHOD(Fixture, "fields of others are taken where conflicts are to be overwritten") {
  Apply(ConfigMap());
  kube::Object manifest = ConfigMap(R"({"k": "w"})");
  manifest.SetAnnotation(api::kConflictResolutionAnnotation, api::kConflictOverwrite);
  Apply(manifest);
  CHECK(absl::StrContains(LastPatch(), "force=true"));
}

TEST_CASE_METHOD(Fixture, "what updates have set is handed over before it is applied") {
  kube::Object updated = ConfigMap();
  updated.EraseAnnotation(api::kServerSideApplyAnnotation);
  Apply(updated);
  kube::Object held = Held();
  CHECK(held.Annotation(api::kAppliedManifestAnnotation).empty());
  held.Set({"metadata", "managedFields"},
           Json(R"([{"manager": "karmada-controller-manager", "operation": "Update",
                     "fieldsV1": {"f:data": {"f:k": {}}}}])"));
  ChangeThere(held);
  const size_t patches = m1.Requests("PATCH").size();
  CHECK(Apply(ConfigMap()) == ApplyResult::kUpdated);
  CHECK(m1.Requests("PATCH").size() == patches + 2);
  const json::Value owners = Held().Get({"metadata", "managedFields"});
  REQUIRE(owners.size() == 1);
  CHECK(owners.At(0)["manager"].AsString() == "karmada");
  CHECK(owners.At(0)["operation"].AsString() == "Apply");
}

TEST_CASE_METHOD(Fixture, "an object that is not to be applied any more loses the digest") {
  Apply(ConfigMap());
  kube::Object manifest = ConfigMap();
  manifest.SetAnnotation(api::kServerSideApplyAnnotation, "false");
  CHECK(Apply(manifest) == ApplyResult::kUpdated);
  CHECK(Held().Annotation(api::kAppliedManifestAnnotation).empty());
}

TEST_CASE_METHOD(Fixture, "an object that is released loses Karmada's marks, and nothing else") {
  std::string wish = "true";
  SECTION("it is applied") {}
  SECTION("its annotation is wrong by now") { wish = "yes"; }
  kube::Object manifest = ConfigMap();
  manifest.SetAnnotation(api::kManagedLabelsAnnotation, api::kManagedLabel);
  Apply(manifest);
  kube::Object theirs = Held();
  theirs.Set({"data", "theirs"}, "x");
  theirs.SetLabel("theirs", "x");
  ChangeThere(theirs);
  manifest.SetAnnotation(api::kServerSideApplyAnnotation, wish);
  REQUIRE(works::Release(objects, "m1", manifest, {}).ok());
  const kube::Object left = Held();
  CHECK(left.Label(api::kManagedLabel).empty());
  CHECK(left.Annotation(api::kAppliedManifestAnnotation).empty());
  CHECK(left.Label("theirs") == "x");
  CHECK(left.root()["data"] == theirs.root()["data"]);
}

TEST_CASE_METHOD(Fixture, "an annotation that says neither yes nor no is an error") {
  kube::Object manifest = ConfigMap();
  manifest.SetAnnotation(api::kServerSideApplyAnnotation, "maybe");
  const auto result = objects.Apply("m1", manifest, {});
  CHECK(absl::IsInvalidArgument(result.status()));
  CHECK(base::IsTerminal(result.status()));
  CHECK(absl::StrContains(result.status().message(), "is neither \"true\" nor \"false\""));
}

}  // namespace
