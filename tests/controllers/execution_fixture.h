// A Work for the member m1, and the loop that applies it.
#ifndef TESTS_CONTROLLERS_EXECUTION_FIXTURE_H_
#define TESTS_CONTROLLERS_EXECUTION_FIXTURE_H_

#include <catch2/catch.hpp>
#include <optional>

#include "api/work.h"
#include "base/status.h"
#include "controllers/execution/execution_reconciler.h"
#include "tests/support/members_fixture.h"
#include "works/work_writer.h"

namespace tests {

inline const kube::ObjectKey kWork = {"karmada-es-m1", "app-1"};
inline const kube::ObjectKey kApp = {"ns", "app"};

inline works::WantedWork Template() {
  works::WantedWork wanted;
  wanted.key = kWork;
  wanted.manifest = Parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "app", "namespace": "ns", "uid": "template",
      "labels": {"app": "x", "propagationpolicy.karmada.io/permanent-id": "p",
                 "resourcebinding.karmada.io/permanent-id": "b"},
      "annotations": {"note": "n", "propagationpolicy.karmada.io/name": "p",
                      "propagationpolicy.karmada.io/namespace": "ns",
                      "resourcebinding.karmada.io/name": "b",
                      "resourcebinding.karmada.io/namespace": "ns"}},
    "data": {"k": "v"}})");
  wanted.annotations = json::Value::Object({{api::kConflictResolutionAnnotation, "abort"}});
  wanted.suspend_dispatching = false;
  wanted.preserve_resources_on_deletion = false;
  return wanted;
}

// The execution loop on a member m1, whose Cluster is ready. It has a queue for what others do in
// the member, which only as Karmada v1.19 gets something.
struct ExecutionFixture : MembersFixture {
  FakeApiServer& m1 = member("m1");
  std::optional<works::WorkStatusWriter> status;
  works::Rechecks rechecks;
  kube::WorkQueue queue{{.name = "execution"}, clock};
  std::optional<controllers::ExecutionReconciler> reconciler;

  explicit ExecutionFixture(works::Repairs repairs = works::Repairs::kByObject)
      : MembersFixture(repairs) {
    Sync({api::Works(), api::Clusters()});
    status.emplace(Make());
    reconciler.emplace(controllers::ExecutionDeps{*manager, objects, *status, rechecks});
    rechecks.Subscribe(api::Works(), queue);
    objects.QueueRepairsInto(queue);
    PutCluster("Push", "True");
  }
  ~ExecutionFixture() override {
    base::IgnoreError(Finish(), "ends the loops before the writer goes");
    members.Remove("m1");  // Its handlers use the queue.
  }

  void PutCluster(const char* mode, const char* ready, bool leaving = false) {
    kube::Object c = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    c.Set({"spec", "syncMode"}, mode);
    c.Set({"status", "conditions"},
          json::Value::Array({json::Value::Object({{"type", "Ready"}, {"status", ready}})}));
    if (leaving) c.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Clusters(), c);
  }
  void PutWork(const works::WantedWork& wanted) { PutCached(api::Works(), works::NewWork(wanted)); }
  void PutDeletedWork(const works::WantedWork& wanted) {
    kube::Object work = works::NewWork(wanted);
    work.AddFinalizer("example.com/observer");  // Keeps the Work, so that the test can look at it.
    work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Works(), work);
  }
  // Forgets outcomes as a controller does.
  absl::Status Reconcile() {
    const absl::StatusOr<kube::Action> action = reconciler->Reconcile({.key = kWork}, {});
    if (action.ok() && action->is_gone()) reconciler->outcomes().Forget({.key = kWork});
    return action.status();
  }
  // Puts the object into the member by means of a Work.
  void Apply(const works::WantedWork& wanted) {
    PutWork(wanted);
    REQUIRE(Reconcile().ok());
    REQUIRE_FALSE(Held().empty());
  }
  kube::Object Held() const { return m1.Find(kConfigMaps, kApp); }
  bool IsFinalized() const {
    return !server->Find(api::Works(), kWork).HasFinalizer(api::kExecutionFinalizer);
  }
  // Runs the status writer's loop until the condition is written; returns the condition.
  json::Value Condition(const char* type) {
    if (!runner.joinable()) Start();
    json::Value found;
    REQUIRE(Eventually([&] {
      clock.Advance(works::kProgressHold);
      const kube::Object work = server->Find(api::Works(), kWork);
      const json::Value* c = kube::FindCondition(work.status()["conditions"], type);
      if (c != nullptr) found = *c;
      return c != nullptr;
    }));
    return found;
  }
};

}  // namespace tests

#endif  // TESTS_CONTROLLERS_EXECUTION_FIXTURE_H_
