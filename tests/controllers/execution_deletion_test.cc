// What becomes of the object in the member when its Work is deleted.
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "tests/controllers/execution_fixture.h"
#include "works/work_writer.h"

namespace {

using tests::Eventually;
using tests::kConfigMaps;
using tests::Parse;
using tests::Template;
using Fixture = tests::ExecutionFixture;

TEST_CASE_METHOD(Fixture, "a deleted Work takes its object with it") {
  Apply(Template());
  works::WantedWork wanted = Template();
  wanted.suspend_dispatching = GENERATE(false, true);  // Suspension does not delay deletion.
  PutDeletedWork(wanted);
  REQUIRE(Reconcile().ok());
  CHECK(Held().empty());
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "a deleted Work leaves alone an object that is not Karmada's any more") {
  Apply(Template());
  kube::Object released = Held();
  released.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, released);
  REQUIRE(Eventually([&] { return *objects.Find("m1", released, {}) == nullptr; }));
  PutDeletedWork(Template());
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Held().empty());
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "an object whose creation was not answered goes, or is released") {
  works::WantedWork wanted = Template();
  wanted.preserve_resources_on_deletion = GENERATE(false, true);
  const kube::Object manifest(works::NewWork(wanted).Get({"spec", "workload", "manifests"}).At(0));
  REQUIRE(*objects.Find("m1", manifest, {}) == nullptr);
  m1.Block("WATCH");
  m1.EndWatches(absl::OkStatus());
  m1.Put(kConfigMaps, manifest);
  REQUIRE(*objects.Find("m1", manifest, {}) == nullptr);
  PutDeletedWork(wanted);
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized());
  CHECK(Held().empty() == !*wanted.preserve_resources_on_deletion);
  CHECK(Held().Label(api::kManagedLabel).empty());
  m1.Unblock();
}

TEST_CASE_METHOD(Fixture, "an object that cannot be deleted keeps its Work") {
  Apply(Template());
  PutDeletedWork(Template());
  m1.FailNext("DELETE", 403, "Forbidden");
  const absl::Status failed = Reconcile();
  CHECK(absl::IsPermissionDenied(failed));
  CHECK(absl::StrContains(failed.message(), "deleting ConfigMap ns/app in cluster m1"));
  CHECK_FALSE(IsFinalized());
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "a deletion that the member denies is in condition and events") {
  Apply(Template());
  const size_t before = recorded->All().size();
  PutDeletedWork(Template());
  m1.FailNext("DELETE", 403, "Forbidden");
  REQUIRE(absl::IsPermissionDenied(Reconcile()));
  const auto events = recorded->All();
  REQUIRE(events.size() == before + 2);
  CHECK(absl::StartsWith(events[before],
                         "Warning SyncFailed ConfigMap: Failed to delete resource(ns/app) in "
                         "member cluster(m1): "));
  CHECK(absl::StartsWith(events[before + 1],
                         "Warning SyncFailed Work: Failed to sync work(karmada-es-m1/app-1) to "
                         "cluster(m1), err: deleting ConfigMap ns/app in cluster m1: "));
  SECTION("and it is tried again") {
    REQUIRE(Reconcile().ok());
    CHECK(recorded->All().back() ==
          "Normal SyncSucceed ConfigMap: Successfully deleted resource(ns/app) in cluster m1");
  }
  SECTION("until then the condition says it") {
    const json::Value applied = Condition("Applied");
    CHECK(applied["status"].AsString() == "False");
    CHECK(applied["reason"].AsString() == "AppliedFailed");
    CHECK(absl::StartsWith(applied["message"].AsString(),
                           "Failed to remove all manifests from the cluster: deleting ConfigMap"));
  }
}

TEST_CASE_METHOD(Fixture, "while its cluster is not ready a deleted Work stays") {
  Apply(Template());
  PutCluster("Push", GENERATE(as<const char*>(), "False", "Unknown"));
  PutDeletedWork(Template());
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(IsFinalized());
  CHECK_FALSE(Held().empty());
  PutCluster("Push", "True");
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized());
  CHECK(Held().empty());
}

TEST_CASE_METHOD(Fixture, "a cluster that is not ready and is being removed lets go of its Works") {
  Apply(Template());
  PutCluster("Push", "False", /*leaving=*/true);
  PutDeletedWork(Template());
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized());
  CHECK_FALSE(Held().empty());
}

TEST_CASE_METHOD(Fixture,
                 "an object that is to be preserved loses what made it Karmada's, and stays") {
  Apply(Template());
  kube::Object theirs = Held();
  theirs.SetLabel("their-label", "x");
  const kube::Object stored = m1.Put(kConfigMaps, theirs);
  REQUIRE(Eventually([&] {
    return (*objects.Find("m1", stored, {}))->resource_version() == stored.resource_version();
  }));
  works::WantedWork wanted = Template();
  wanted.preserve_resources_on_deletion = true;
  PutDeletedWork(wanted);
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized());
  REQUIRE_FALSE(Held().empty());
  CHECK(Held().labels() == Parse(R"({"app": "x", "their-label": "x"})").root());
  CHECK(Held().annotations() ==
        Parse(R"({"note": "n", "work.karmada.io/conflict-resolution": "abort"})").root());
  CHECK(Held().Get({"data"}) == Template().manifest.Get({"data"}));
}

// Upstream keeps such a Work for ever (issue 7463).
TEST_CASE_METHOD(Fixture, "an object that was to be preserved and is gone does not hold its Work") {
  works::WantedWork wanted = Template();
  wanted.preserve_resources_on_deletion = true;
  PutDeletedWork(wanted);
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized());
  CHECK(Held().empty());
}

TEST_CASE_METHOD(Fixture, "an object to be preserved waits for its cluster, unless that leaves") {
  Apply(Template());
  works::WantedWork wanted = Template();
  wanted.preserve_resources_on_deletion = true;
  const bool leaving = GENERATE(false, true);
  PutCluster("Push", "False", leaving);
  PutDeletedWork(wanted);
  const size_t requests = m1.Calls();
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized() == leaving);
  CHECK(m1.Calls() == requests);
}

TEST_CASE_METHOD(Fixture, "an object to be preserved of a kind that is not served does not exist") {
  works::WantedWork wanted = Template();
  wanted.manifest.Set({"apiVersion"}, "example.io/v1");
  wanted.manifest.Set({"kind"}, "Gone");
  wanted.preserve_resources_on_deletion = true;
  PutDeletedWork(wanted);
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "a Work without our finalizer is not touched") {
  Apply(Template());
  kube::Object work = works::NewWork(Template());
  work.RemoveFinalizer(api::kExecutionFinalizer);
  work.AddFinalizer("example.com/observer");
  work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::Works(), work);
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Held().empty());
}

}  // namespace
