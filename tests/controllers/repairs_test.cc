// Who puts back what others change in members, and what is said about it: the execution loop as
// Karmada v1.19, where the work-status loop only reads (work_status_reading_test.cc). How the
// work-status loop does it as v1.18 is tested in work_status_test.cc.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "controllers/context/context.h"
#include "tests/controllers/execution_fixture.h"

namespace {

using tests::Eventually;
using tests::kConfigMaps;
using tests::kWork;
using tests::Template;
using works::Repairs;

struct Execution : tests::ExecutionFixture {
  explicit Execution(Repairs repairs = Repairs::kByWork) : ExecutionFixture(repairs) {}

  // Waits for the Work in the queue, and reconciles it.
  absl::Status ReconcileQueued() {
    REQUIRE(Eventually([&] { return queue.size() > 0; }));
    const auto taken = queue.Get();
    queue.Done(taken->request);
    CHECK(taken->request.key == kWork);
    return reconciler->Reconcile(taken->request, {}).status();
  }
  void ChangeThere(json::Path path, json::Value value) {
    kube::Object there = Held();
    there.Set(path, std::move(value));
    m1.Put(kConfigMaps, there);
  }
  // Waits until the condition Applied has this reason, and returns its message.
  std::string MessageOf(const std::string& reason) {
    if (!runner.joinable()) Start();
    std::string message;
    REQUIRE(Eventually([&] {
      clock.Advance(works::kProgressHold);
      const kube::Object work = server->Find(api::Works(), kWork);
      const json::Value* c = kube::FindCondition(work.status()["conditions"], "Applied");
      if (c == nullptr || (*c)["reason"].AsString() != reason) return false;
      message = (*c)["message"].ToString();
      return true;
    }));
    return message;
  }
  double Count(const char* name, metrics::Labels labels) {
    labels.insert({{"apiversion", "v1"}, {"kind", "ConfigMap"}, {"member_cluster", "m1"}});
    return registry.GetCounter(name, "", labels).Value();
  }
};

TEST_CASE("the release determines who repairs") {
  CHECK(controllers::RepairsOf(config::Release::kV1_18) == Repairs::kByObject);
  CHECK(controllers::RepairsOf(config::Release::kV1_19) == Repairs::kByWork);
}

TEST_CASE_METHOD(Execution, "an object that was deleted is made again like one that is new") {
  recorded->WantRoutine();
  Apply(Template());
  MessageOf("AppliedSuccessful");
  REQUIRE(Shows(api::Works(), server->Find(api::Works(), kWork)));
  const size_t before = recorded->All().size();
  m1.Erase(kConfigMaps, tests::kApp);
  REQUIRE(ReconcileQueued().ok());
  CHECK(Held().Get({"data", "k"}).AsString() == "v");
  CHECK(MessageOf("AppliedSuccessful") == api::message::kManifestApplied);
  std::vector<std::string> events = recorded->All();
  events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(before));
  CHECK(events ==
        std::vector<std::string>{
            "Normal SyncSucceed ConfigMap: Successfully applied resource(ns/app) to cluster m1",
            "Normal SyncSucceed Work: Sync work(karmada-es-m1/app-1) to cluster(m1) successful."});
  CHECK(Count("create_resource_to_cluster", {{"recreate", "false"}, {"result", "success"}}) == 2);
  CHECK(Count("create_resource_to_cluster", {{"recreate", "true"}, {"result", "success"}}) == 0);
}

TEST_CASE_METHOD(Execution, "an object that cannot be made again is reported on its Work, too") {
  Apply(Template());
  m1.Erase(kConfigMaps, tests::kApp);
  m1.FailNext("POST", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(ReconcileQueued()));
  CHECK(absl::StartsWith(MessageOf("AppliedFailed"), "Failed to apply all manifests (0/1): "));
  const std::vector<std::string> events = recorded->All();
  REQUIRE(events.size() == 3);
  CHECK(absl::StartsWith(events[1], "Warning SyncFailed ConfigMap: Failed to create or update "));
  CHECK(absl::StartsWith(events[2], "Warning SyncFailed Work: Failed to sync work("));
  CHECK(Count("create_resource_to_cluster", {{"recreate", "true"}, {"result", "error"}}) == 0);
}

TEST_CASE_METHOD(Execution, "drift is put back by a pass over the Work, and counted as one") {
  Apply(Template());
  ChangeThere({"data", "k"}, "theirs");
  REQUIRE(ReconcileQueued().ok());
  CHECK(Held().Get({"data", "k"}).AsString() == "v");
  CHECK(Count("update_resource_to_cluster",
              {{"operationResult", "updated"}, {"result", "success"}}) == 1);
  const auto timed = registry.Expose();
  CHECK(
      absl::StrContains(timed, R"(work_sync_workload_duration_seconds_count{result="success"} 2)"));
  CHECK(queue.size() == 0);
}

TEST_CASE_METHOD(Execution, "a suspended Work is not repaired") {
  Apply(Template());
  works::WantedWork suspended = Template();
  suspended.suspend_dispatching = true;
  PutWork(suspended);
  m1.Erase(kConfigMaps, tests::kApp);
  REQUIRE(ReconcileQueued().ok());
  CHECK(Held().empty());
}

TEST_CASE_METHOD(Execution, "an object that loses its label is not Karmada's any more") {
  Apply(Template());
  kube::Object there = Held();
  there.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, there);
  CHECK(absl::IsAlreadyExists(ReconcileQueued()));
  CHECK(MessageOf("AppliedFailed") ==
        absl::StrCat("Failed to apply all manifests (0/1): ",
                     api::message::ObjectExistsUnmanaged("ConfigMap", tests::kApp, "m1")));
  CHECK(Held().Label(api::kManagedLabel).empty());
  // Whoever puts the label back has the Work applied at once.
  there = Held();
  there.SetLabel(api::kManagedLabel, api::kManagedValue);
  m1.Put(kConfigMaps, there);
  CHECK(ReconcileQueued().ok());
}

TEST_CASE_METHOD(Execution, "an object without its label keeps the status that its Work has") {
  Apply(Template());
  kube::Object work = server->Find(api::Works(), kWork);
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  const api::ManifestStatus healthy{api::ManifestIdentifier::Of(manifest, 0), {}, "Healthy"};
  work.Set({"status", "manifestStatuses"}, json::Value::Array({healthy.ToJson()}));
  PutCached(api::Works(), work);
  kube::Object there = Held();
  there.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, there);
  CHECK(absl::IsAlreadyExists(ReconcileQueued()));
  MessageOf("AppliedFailed");
  CHECK(server->Find(api::Works(), kWork).status()["manifestStatuses"].size() == 1);
}

TEST_CASE_METHOD(Execution, "the reason of an older release stays until something is written") {
  PutWork(Template());
  REQUIRE(Reconcile().ok());
  kube::Object work = server->Find(api::Works(), kWork);
  work.Set({"status", "conditions"}, tests::Json(R"([
      {"type": "Dispatching", "status": "True", "reason": "Dispatching",
       "message": "Work is being dispatched to member clusters."},
      {"type": "Applied", "status": "True", "reason": "ReCreateSuccessful",
       "message": "Manifest has been successfully applied"}])"));
  PutCached(api::Works(), work);
  REQUIRE(Reconcile().ok());
  MessageOf("ReCreateSuccessful");
  m1.Erase(kConfigMaps, tests::kApp);
  REQUIRE(ReconcileQueued().ok());
  MessageOf("AppliedSuccessful");
}

TEST_CASE_METHOD(Execution, "drift that comes again and again is reported") {
  const bool meets_conflicts = GENERATE(false, true);  // They are tried again, and count once.
  Sync({api::ResourceBindings(), api::ClusterResourceBindings()});
  Apply(Template());
  for (int i = 0; i < works::kDriftsToReport; ++i) {
    ChangeThere({"data", "k"}, absl::StrCat("theirs", i));
    if (meets_conflicts) {
      m1.FailNext("PATCH", 409, "Conflict");
      CHECK(absl::IsAborted(ReconcileQueued()));
      REQUIRE(Reconcile().ok());
    } else {
      REQUIRE(ReconcileQueued().ok());
    }
  }
  const auto reports = [&] {
    int n = 0;
    for (const std::string& event : recorded->All()) n += absl::StrContains(event, "RepeatedDrift");
    return n;
  };
  CHECK(reports() == 1);
}

TEST_CASE_METHOD(Execution, "edits of a template are no drift, however many they are") {
  Apply(Template());
  for (int i = 0; i < 2 * works::kDriftsToReport; ++i) {
    works::WantedWork edited = Template();
    edited.manifest.Set({"data", "k"}, absl::StrCat("v", i));
    Apply(edited);
  }
  for (const std::string& event : recorded->All()) {
    CHECK_FALSE(absl::StrContains(event, "RepeatedDrift"));
  }
  CHECK(queue.size() == 0);
}

TEST_CASE_METHOD(Execution, "Works that wait for a namespace are applied when it is made again") {
  kube::Object failed = works::NewWork(Template());
  failed.Set({"status", "conditions"}, tests::Json(R"([
      {"type": "Applied", "status": "False", "reason": "AppliedFailed"}])"));
  PutCached(api::Works(), failed);
  works::WantedWork ns = Template();
  ns.key.name = "ns-1";
  ns.manifest = tests::Parse(R"({"apiVersion": "v1", "kind": "Namespace",
      "metadata": {"name": "ns", "uid": "template"}})");
  PutWork(ns);
  REQUIRE(reconciler->Reconcile({.key = ns.key}, {}).ok());
  REQUIRE(queue.size() == 1);
  CHECK(queue.Get()->request.key == kWork);
}

struct ExecutionOfV118 : Execution {
  ExecutionOfV118() : Execution(Repairs::kByObject) {}
};

TEST_CASE_METHOD(ExecutionOfV118, "as v1.18 the annotations alone make an object Karmada's") {
  Apply(Template());
  kube::Object there = Held();
  there.EraseLabel(api::kManagedLabel);
  m1.Put(kConfigMaps, there);
  REQUIRE(Eventually([&] { return *objects.Find("m1", there, {}) == nullptr; }));
  CHECK(Reconcile().ok());
  CHECK(Held().Label(api::kManagedLabel) == api::kManagedValue);
  CHECK(queue.size() == 0);
}

}  // namespace
