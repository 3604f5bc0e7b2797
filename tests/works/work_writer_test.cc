#include "works/work_writer.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Json;
using tests::Parse;

constexpr char kAllAnnotations[] =
    "note,resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/"
    "managed-labels,resourcetemplate.karmada.io/uid,work.karmada.io/conflict-resolution,"
    "work.karmada.io/name,work.karmada.io/namespace";

works::WantedWork Template() {
  works::WantedWork wanted;
  wanted.key = {"karmada-es-m1", "web-1"};
  wanted.manifest = Parse(R"({
    "apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "ns", "uid": "template-uid", "resourceVersion": "7",
                 "generation": 3, "creationTimestamp": "2024-01-01T00:00:00Z",
                 "finalizers": ["x"], "ownerReferences": [{"name": "o"}], "managedFields": [],
                 "labels": {"app": "web"},
                 "annotations": {"note": "n", "deployment.kubernetes.io/revision": "2"}},
    "spec": {"replicas": 2}, "status": {"replicas": 2}})");
  wanted.labels = Json(R"({"resourcebinding.karmada.io/permanent-id": "id"})");
  wanted.annotations = Json(R"({"work.karmada.io/conflict-resolution": "abort",
                               "resourcebinding.karmada.io/name": "web-deployment"})");
  wanted.suspend_dispatching = false;
  wanted.preserve_resources_on_deletion = true;
  return wanted;
}

kube::Object ManifestOf(const kube::Object& work) {
  return kube::Object(work.Get({"spec", "workload", "manifests"}).At(0));
}

TEST_CASE("a Work that is written again keeps what its spec has besides") {
  kube::Object existing = works::NewWork(Template());
  existing.Set({"spec", "later"}, 1);
  existing.Set({"spec", "workload", "later"}, 2);
  works::WantedWork wanted = Template();
  wanted.preserve_resources_on_deletion.reset();
  wanted.manifest.Set({"spec", "replicas"}, 3);
  const kube::Object merged = works::MergedWork(wanted, existing);
  CHECK(merged.spec()["later"].AsInt() == 1);
  CHECK(merged.spec()["workload"]["later"].AsInt() == 2);
  CHECK_FALSE(merged.spec().Has("preserveResourcesOnDeletion"));
  CHECK(ManifestOf(merged).spec()["replicas"].AsInt() == 3);
}

TEST_CASE("a new Work holds the pruned manifest, marked as Karmada's") {
  const kube::Object work = works::NewWork(Template());
  CHECK(work == Parse(R"({
    "apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
    "metadata": {"name": "web-1", "namespace": "karmada-es-m1",
                 "labels": {"resourcebinding.karmada.io/permanent-id": "id"},
                 "annotations": {"work.karmada.io/conflict-resolution": "abort",
                                 "resourcebinding.karmada.io/name": "web-deployment"},
                 "finalizers": ["karmada.io/execution-controller"]},
    "spec": {"suspendDispatching": false, "preserveResourcesOnDeletion": true,
             "workload": {"manifests": [{
      "apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "web", "namespace": "ns",
                   "labels": {"app": "web", "karmada.io/managed": "true"},
                   "annotations": {
                     "note": "n",
                     "resourcetemplate.karmada.io/uid": "template-uid",
                     "resourcetemplate.karmada.io/managed-labels": "app,karmada.io/managed",
                     "resourcetemplate.karmada.io/managed-annotations": ")" +
                      std::string(kAllAnnotations) + R"(",
                     "work.karmada.io/conflict-resolution": "abort",
                     "work.karmada.io/name": "web-1",
                     "work.karmada.io/namespace": "karmada-es-m1"}},
      "spec": {"replicas": 2}}]}}})"));
}

TEST_CASE("fields nobody asked for are left out") {
  works::WantedWork wanted = Template();
  wanted.suspend_dispatching.reset();
  wanted.preserve_resources_on_deletion.reset();
  wanted.annotations = json::Value();
  wanted.labels = json::Value();
  const kube::Object work = works::NewWork(wanted);
  CHECK_FALSE(work.spec().Has("suspendDispatching"));
  CHECK_FALSE(work.spec().Has("preserveResourcesOnDeletion"));
  CHECK_FALSE(work.metadata().Has("ownerReferences"));
  CHECK(work.annotations().is_null());
  CHECK_FALSE(ManifestOf(work).annotations().Has(api::kConflictResolutionAnnotation));
}

TEST_CASE("a template without uid is recorded as having none") {
  works::WantedWork wanted = Template();
  wanted.manifest.Erase({"metadata", "uid"});
  const kube::Object manifest = ManifestOf(works::NewWork(wanted));
  CHECK(manifest.annotations().Has(api::kTemplateUidAnnotation));
  CHECK(manifest.Annotation(api::kTemplateUidAnnotation) == "");
}

TEST_CASE("owner references are written on creation only") {
  works::WantedWork wanted = Template();
  wanted.owner_references = Json(R"([{"name": "ns", "uid": "u"}])");
  const kube::Object created = works::NewWork(wanted);
  CHECK(created.metadata()["ownerReferences"] == wanted.owner_references);
  wanted.owner_references = Json(R"([{"name": "other", "uid": "v"}])");
  CHECK(works::MergedWork(wanted, created).metadata()["ownerReferences"] ==
        created.metadata()["ownerReferences"]);
  wanted.owner_references = json::Value();
  CHECK(works::MergedWork(wanted, created).metadata()["ownerReferences"] ==
        created.metadata()["ownerReferences"]);
}

TEST_CASE("a Work's own id goes into the manifest and its list of labels") {
  kube::Object existing = works::NewWork(Template());
  existing.SetLabel(api::kWorkIdLabel, "work-id");
  const kube::Object manifest = ManifestOf(works::MergedWork(Template(), existing));
  CHECK(manifest.Label(api::kWorkIdLabel) == "work-id");
  CHECK(manifest.Annotation(api::kManagedLabelsAnnotation) ==
        "app,karmada.io/managed,work.karmada.io/permanent-id");
}

TEST_CASE("merging replaces the spec, adds metadata and removes none of it") {
  kube::Object existing = works::NewWork(Template());
  existing.SetLabel("theirs", "x");
  existing.SetAnnotation("example.com/theirs", "[]");
  existing.AddFinalizer("example.com/other");
  existing.Set({"status"}, Json(R"({"conditions": []})"));
  works::WantedWork wanted = Template();
  wanted.manifest.Set({"spec"}, Json(R"({"paused": true})"));
  wanted.suspend_dispatching = true;
  wanted.preserve_resources_on_deletion.reset();
  wanted.labels = Json(R"({"resourcebinding.karmada.io/permanent-id": "other"})");
  const kube::Object merged = works::MergedWork(wanted, existing);
  CHECK(merged.Label("theirs") == "x");
  CHECK(merged.Label(api::kResourceBindingIdLabel) == "other");
  CHECK(merged.Annotation("example.com/theirs") == "[]");
  CHECK(merged.HasFinalizer("example.com/other"));
  CHECK(merged.HasFinalizer(api::kExecutionFinalizer));
  CHECK(merged.status() == existing.status());
  CHECK(ManifestOf(merged).spec() == Json(R"({"paused": true})"));
  CHECK(merged.spec()["suspendDispatching"] == json::Value(true));
  CHECK_FALSE(merged.spec().Has("preserveResourcesOnDeletion"));
}

struct Fixture : tests::MembersFixture {
  works::WorkWriter writer{cluster};
  Fixture() { Sync({api::Works()}); }

  kube::Object Stored() const { return server->Find(api::Works(), Template().key); }
  size_t Writes() const {
    return server->Requests("POST").size() + server->Requests("PATCH").size() +
           server->Requests("PUT").size();
  }
};

TEST_CASE_METHOD(Fixture, "a Work that is not there is created") {
  REQUIRE(writer.CreateOrUpdate(Template(), {})->written);
  CHECK(Stored().spec() == works::NewWork(Template()).spec());
  CHECK(Writes() == 1);
}

TEST_CASE_METHOD(Fixture, "a Work that is as it should be is not written again") {
  REQUIRE(writer.CreateOrUpdate(Template(), {}).ok());
  REQUIRE(writer.CreateOrUpdate(Template(), {}).ok());
  kube::Object labelled = Stored();  // Admission and other components change objects like this.
  labelled.SetLabel("theirs", "x");
  labelled.Set({"status"}, Json(R"({"conditions": []})"));
  PutCached(api::Works(), labelled);
  REQUIRE_FALSE(writer.CreateOrUpdate(Template(), {})->written);
  CHECK(Writes() == 1);
}

TEST_CASE_METHOD(Fixture, "a difference is sent as a patch of what differs") {
  REQUIRE(writer.CreateOrUpdate(Template(), {}).ok());
  works::WantedWork wanted = Template();
  wanted.suspend_dispatching = true;
  REQUIRE(writer.CreateOrUpdate(wanted, {}).ok());
  CHECK(server->last_body() == R"({"spec":{"suspendDispatching":true}})");
  CHECK(Writes() == 2);
  REQUIRE(writer.CreateOrUpdate(wanted, {}).ok());
  CHECK(Writes() == 2);
}

// A leader that was cut off sends its last write after those of its successor.
TEST_CASE_METHOD(Fixture, "manifests that the cache does not show are not written over") {
  REQUIRE(writer.CreateOrUpdate(Template(), {}).ok());
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());
  works::WantedWork theirs = Template();
  theirs.manifest.Set({"spec", "replicas"}, 7);
  server->Put(api::Works(), works::MergedWork(theirs, Stored()));
  works::WantedWork wanted = Template();
  wanted.manifest.Set({"spec", "replicas"}, 5);
  CHECK(kube::IsConflict(writer.CreateOrUpdate(wanted, {}).status()));
  CHECK(ManifestOf(Stored()).spec()["replicas"].AsInt() == 7);
  // The next pass, which reads the template again, sees what is there.
  REQUIRE(writer.CreateOrUpdate(wanted, {}).ok());
  CHECK(ManifestOf(Stored()).spec()["replicas"].AsInt() == 5);
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a status written in between holds up no change and stays") {
  REQUIRE(writer.CreateOrUpdate(Template(), {}).ok());
  kube::Object other = Stored();
  other.Set({"status"}, Json(R"({"conditions": [{"type": "Applied"}]})"));
  server->Put(api::Works(), other);  // The cache may not have it yet.
  works::WantedWork wanted = Template();
  wanted.manifest.Set({"spec", "replicas"}, 5);
  REQUIRE(writer.CreateOrUpdate(wanted, {}).ok());
  CHECK(Stored().status() == other.status());
  CHECK(ManifestOf(Stored()).spec()["replicas"].AsInt() == 5);
}

TEST_CASE_METHOD(Fixture, "a Work on its way out is left alone, with an error that says so") {
  kube::Object dying = works::NewWork(Template());
  dying.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::Works(), dying);
  CHECK(writer.CreateOrUpdate(Template(), {}).status() ==
        absl::FailedPreconditionError("work karmada-es-m1/web-1 is being deleted; it waits for "
                                      "karmada.io/execution-controller"));
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture, "a Work whose name would be too long is not sent, for good") {
  works::WantedWork wanted = Template();
  wanted.key.name = std::string(254, 'w');
  const absl::Status refused = writer.CreateOrUpdate(wanted, {}).status();
  CHECK(base::IsTerminal(refused));
  CHECK(absl::StrContains(refused.message(), "the Work of Deployment ns/web"));
  CHECK(absl::StrContains(refused.message(), "254 characters"));
  CHECK(Writes() == 0);
  wanted.key.name = std::string(253, 'w');
  CHECK(writer.CreateOrUpdate(wanted, {}).ok());
}

TEST_CASE_METHOD(Fixture, "a Work whose annotations would be too long is not sent, for good") {
  works::WantedWork wanted = Template();
  kube::Object existing = works::NewWork(wanted);
  existing.SetAnnotation(api::kAppliedClusterOverridesAnnotation, std::string(200'000, 'x'));
  PutCached(api::Works(), existing);
  wanted.annotations.Set(api::kAppliedOverridesAnnotation,
                         absl::StrCat(R"([{"policyName": "long", "overriders": {}, "x": ")",
                                      std::string(100'000, 'x'), R"("}])"));
  const absl::Status refused = writer.CreateOrUpdate(wanted, {}).status();
  CHECK(base::IsTerminal(refused));
  CHECK(absl::StartsWith(refused.message(), "the annotations of Work karmada-es-m1/web-1"));
  CHECK(absl::StrContains(refused.message(), "which record the overriders of long"));
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture,
                 "a Work too large for etcd is reported with its object and its policies") {
  works::WantedWork wanted = Template();
  wanted.manifest.Set({"metadata", "annotations", "large"}, std::string(1600000, 'x'));
  wanted.annotations.Set(api::kAppliedOverridesAnnotation,
                         R"([{"policyName": "grow", "overriders": {}}])");
  server->FailNext("POST", 500, "InternalError");
  const absl::Status failed = writer.CreateOrUpdate(wanted, {}).status();
  INFO(failed.message().substr(0, 400));
  CHECK(absl::StartsWith(failed.message(),
                         "Deployment ns/web with its overrides (of grow) makes a Work of 160"));
  CHECK(absl::StrContains(failed.message(), "etcd stores 1572864 by default"));
}

TEST_CASE_METHOD(Fixture, "errors of the server are handed on") {
  server->FailNext("POST", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(writer.CreateOrUpdate(Template(), {}).status()));
  REQUIRE(writer.CreateOrUpdate(Template(), {}).ok());
}

}  // namespace
