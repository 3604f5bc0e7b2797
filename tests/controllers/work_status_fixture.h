// The work-status loop on fake servers, with Works of an object ns/app in the member m1.
#ifndef TESTS_CONTROLLERS_WORK_STATUS_FIXTURE_H_
#define TESTS_CONTROLLERS_WORK_STATUS_FIXTURE_H_

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>

#include "api/names.h"
#include "api/work.h"
#include "controllers/work_status/work_of_object.h"
#include "controllers/work_status/work_status_reconciler.h"
#include "tests/support/members_fixture.h"
#include "works/work_writer.h"

namespace tests {

inline const kube::ObjectKey kApp = {"ns", "app"};

inline works::WantedWork Template(const kube::Resource& kind) {
  works::WantedWork wanted;
  wanted.key = {"karmada-es-m1", api::WorkName(kind.gvk.kind, "app", "ns")};
  wanted.manifest = kube::Object::Make(kind.gvk, kApp);
  wanted.manifest.Set({"metadata", "uid"}, "template");
  wanted.manifest.SetAnnotation(api::kTemplateGenerationAnnotation, "1");
  wanted.manifest.Set({"spec"}, Json(R"({"replicas": 1})"));
  return wanted;
}

// The work-status loop of the member m1.
struct WorkStatusFixture : MembersFixture {
  FakeApiServer& m1 = member("m1");
  std::optional<works::WorkStatusWriter> status;
  works::Rechecks rechecks;
  kube::WorkQueue execution{{.name = "execution"}, clock};  // Requests to apply Works again.
  std::optional<controllers::WorkStatusReconciler> reconciler;

  explicit WorkStatusFixture(works::Repairs repairs = works::Repairs::kByObject)
      : MembersFixture(repairs) {
    informers.Get(api::Works())
        ->AddIndex(controllers::kWorksByObject, controllers::ObjectIndexValues);
    Sync({api::Works(), api::Clusters()});
    PutCluster("Push");
    status.emplace(Make());
    rechecks.Subscribe(api::Works(), execution);
    Use(*chain);
  }
  void Use(const interpreter::Interpreter& rules) {
    reconciler.emplace(controllers::WorkStatusDeps{*manager, objects, *status, rechecks, rules});
  }
  ~WorkStatusFixture() override {
    base::IgnoreError(Finish(), "ends the loops before the writer goes");
  }

  void PutCluster(const char* mode) {
    kube::Object c = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    c.Set({"spec", "syncMode"}, mode);
    c.Set({"status", "conditions"}, Json(R"([{"type": "Ready", "status": "True"}])"));
    PutCached(api::Clusters(), c);
  }
  // Puts a Work and its object in the member, as the execution loop leaves them.
  void PutApplied(const kube::Resource& kind, works::WantedWork wanted) {
    const kube::Object work = PutCached(api::Works(), works::NewWork(wanted));
    const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
    REQUIRE(objects.Apply("m1", manifest, {}).ok());
    REQUIRE_FALSE(m1.Find(kind, kApp).empty());
  }
  void PutApplied(const kube::Resource& kind) { PutApplied(kind, Template(kind)); }
  // Changes the object as a client in the member would.
  void ChangeThere(const kube::Resource& kind, json::Path path, json::Value value) {
    kube::Object object = m1.Find(kind, kApp);
    object.Set(path, std::move(value));
    const kube::Object stored = m1.Put(kind, object);
    REQUIRE(Eventually([&] {
      const auto seen = objects.Find("m1", stored, {});
      return seen.ok() && *seen != nullptr &&
             (*seen)->resource_version() == stored.resource_version();
    }));
  }
  void DeleteThere(const kube::Resource& kind) {
    m1.Erase(kind, kApp);
    REQUIRE(Eventually(
        [&] { return *objects.Find("m1", kube::Object::Make(kind.gvk, kApp), {}) == nullptr; }));
  }
  absl::Status Reconcile(const kube::Resource& kind,
                         kube::Reason reason = controllers::kMemberObjectSeen) {
    kube::Request request;
    request.cluster = "m1";
    request.gvk = kind.gvk;
    request.key = kApp;
    request.reason = reason;
    return reconciler->Reconcile(request, {}).status();
  }
  // Reconciles as after the deletion of the object in the member.
  absl::Status ReconcileDeleted(const kube::Resource& kind) {
    return Reconcile(kind, controllers::kMemberObjectDeleted);
  }
  // Waits until the writer has written a status of the Work, and returns the status.
  json::Value Written(const kube::Resource& kind) {
    if (!runner.joinable()) Start();
    json::Value found;
    REQUIRE(Eventually([&] {
      clock.Advance(works::kProgressHold);
      found = server->Find(api::Works(), Template(kind).key).status();
      return !found.is_null();
    }));
    return found;
  }
};

}  // namespace tests

#endif  // TESTS_CONTROLLERS_WORK_STATUS_FIXTURE_H_
