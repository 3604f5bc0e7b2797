// What becomes of objects in a cluster that returns from an outage, whose Work was deleted
// meanwhile.
#include "controllers/execution/handover.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/stand_in.h"
#include "controllers/execution/execution_reconciler.h"
#include "tests/support/members_fixture.h"
#include "works/work_writer.h"

namespace {

using tests::Json;
using tests::kConfigMaps;
using tests::Parse;

const kube::ObjectKey kWork = {"karmada-es-m1", "app-1"};
const kube::ObjectKey kApp = {"ns", "app"};
const kube::ObjectKey kBinding = {"ns", "b"};

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");
  std::optional<works::WorkStatusWriter> status;
  works::Rechecks rechecks;
  std::optional<controllers::ExecutionReconciler> reconciler;

  Fixture() {
    Sync({api::Works(), api::Clusters(), api::ResourceBindings(), api::ClusterResourceBindings()});
    status.emplace(Make());
    reconciler.emplace(controllers::ExecutionDeps{*manager, objects, *status, rechecks});
    clock.Advance(absl::Hours(24 * 365));
    PutCluster(clock.Now());
    // Works are deleted on the day before.
    REQUIRE(clock.Now() > *kube::ParseTime("2024-01-02T00:00:00Z"));
  }
  ~Fixture() override { base::IgnoreError(Finish(), "ends the loops before the writer goes"); }

  void PutCluster(absl::Time ready_since) {
    kube::Object c = Parse(R"({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
        "metadata": {"name": "m1"}, "spec": {"syncMode": "Push"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}})");
    c.Set({"status", "conditions"}, json::Value::Array({json::Value::Object(
                                        {{"type", "Ready"},
                                         {"status", "True"},
                                         {"lastTransitionTime", kube::FormatTime(ready_since)}})}));
    PutCached(api::Clusters(), c);
  }
  template <class Scope = api::scope::Namespaced>
  works::WantedWork Template() const {
    works::WantedWork wanted;
    wanted.key = kWork;
    wanted.manifest = Parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "app", "namespace": "ns", "uid": "template"}, "data": {"k": "v"}})");
    wanted.manifest.SetLabel(Scope::kIdLabel, "id");
    wanted.labels = json::Value::Object({{Scope::kIdLabel, "id"}});
    wanted.annotations = json::Value::Object();
    for (const auto& [name, value] : Scope::NamingAnnotations(kBinding)) {
      wanted.manifest.SetAnnotation(name, value);
      wanted.annotations.Set(name, value);
    }
    return wanted;
  }
  template <class Scope = api::scope::Namespaced>
  kube::Object Binding(const char* spec) const {
    kube::ObjectKey key = kBinding;
    if (!Scope::kNamespaced) key.ns.clear();
    kube::Object binding = kube::Object::Make(Scope::Bindings().gvk, key);
    binding.SetLabel(Scope::kIdLabel, "id");
    binding.Set({"spec"}, Json(spec));
    binding.Set({"spec", "resource"}, Json(R"({"apiVersion": "v1", "kind": "ConfigMap",
        "namespace": "ns", "name": "app", "uid": "template"})"));
    return binding;
  }
  // Puts the object into the member by a Work, which is then deleted.
  void PutDeletedWork(const works::WantedWork& wanted) {
    PutCached(api::Works(), works::NewWork(wanted));
    REQUIRE(Reconcile().ok());
    REQUIRE_FALSE(Held().empty());
    kube::Object work = server->Find(api::Works(), kWork);
    work.AddFinalizer("example.com/observer");  // Keeps the Work, so that the test can look at it.
    work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Works(), work);
  }
  absl::StatusOr<kube::Action> Reconcile(const kube::ObjectKey& key = kWork) {
    return reconciler->Reconcile({.key = key}, {});
  }
  kube::Object Held() const { return m1.Find(kConfigMaps, kApp); }
  bool IsFinalized() const {
    return !server->Find(api::Works(), kWork).HasFinalizer(api::kExecutionFinalizer);
  }
  kube::ObjectKey StandIn() const {
    for (const kube::Object& work : server->All(api::Works())) {
      if (controllers::Handover::IsStandIn(work)) return work.key();
    }
    return {};
  }
  // Waits until the cache shows the Work as the server has it.
  void Await(const kube::ObjectKey& key) {
    REQUIRE(tests::Eventually([&] {
      const kube::Object stored = server->Find(api::Works(), key);
      const kube::ObjectPtr seen = cluster.Find(api::Works(), key);
      if (seen == nullptr || stored.empty()) return seen == nullptr && stored.empty();
      return seen->resource_version() == stored.resource_version();
    }));
  }
  // Lets the Work hand its object over and go; returns the stand-in.
  kube::ObjectKey HandOver() {
    PutCached(api::ResourceBindings(), Binding(R"({"clusters": [{"name": "m1"}]})"));
    PutDeletedWork(Template());
    REQUIRE(Reconcile().ok());
    const kube::ObjectKey stand_in = StandIn();
    REQUIRE_FALSE(stand_in.name.empty());
    Await(stand_in);
    return stand_in;
  }
  void EndWork() {
    server->Erase(api::Works(), kWork);
    Await(kWork);
  }
};

template <class Scope>
void CheckStays(Fixture& f, const char* spec) {
  f.PutCached(Scope::Bindings(), f.Binding<Scope>(spec));
  f.PutDeletedWork(f.Template<Scope>());
  const size_t before = f.m1.Calls();
  const auto action = f.Reconcile();
  REQUIRE(action.ok());
  CHECK(action->kind() == kube::Action::Kind::kDone);
  CHECK(f.IsFinalized());
  CHECK(f.Held().Label(api::kManagedLabel) == "true");
  CHECK(f.m1.Calls() == before);
  const kube::Object stand_in = f.server->Find(api::Works(), f.StandIn());
  CHECK(stand_in.IsDeleting());
  CHECK(stand_in.HasFinalizer(api::kExecutionFinalizer));
  CHECK(stand_in.labels().size() == 0);
}

TEST_CASE_METHOD(Fixture, "an object stays in a cluster that returns and is wanted again") {
  const char* spec = GENERATE(
      R"({"clusters": [{"name": "m1"}]})",
      R"({"requiredBy": [{"name": "r", "namespace": "ns", "clusters": [{"name": "m1"}]}]})");
  SECTION("a namespaced one") { CheckStays<api::scope::Namespaced>(*this, spec); }
  SECTION("a cluster-scoped one") { CheckStays<api::scope::Cluster>(*this, spec); }
}

TEST_CASE_METHOD(Fixture, "a stand-in keeps the duty to delete until the next Work is there") {
  const kube::ObjectKey stand_in = HandOver();
  // The Work that has handed its object over is not gone yet.
  REQUIRE(Reconcile(stand_in)->kind() == kube::Action::Kind::kAfter);
  EndWork();
  REQUIRE(Reconcile(stand_in)->kind() == kube::Action::Kind::kAfter);
  REQUIRE(server->Find(api::Works(), stand_in).HasFinalizer(api::kExecutionFinalizer));
  SECTION("the next Work comes") {
    kube::Object next = works::NewWork(Template());
    next.Set({"metadata", "uid"}, "next");
    SECTION("and stays") {}
    SECTION("and is being deleted already") {
      next.Set({"metadata", "deletionTimestamp"}, kube::FormatTime(clock.Now()));
    }
    PutCached(api::Works(), next);
    REQUIRE(Reconcile(stand_in).ok());
    CHECK_FALSE(Held().empty());
  }
  SECTION("the binding does not want it any more") {
    SECTION("since it is gone") { server->Erase(api::ResourceBindings(), kBinding); }
    SECTION("since it is elsewhere") {
      server->Put(api::ResourceBindings(), Binding(R"({"clusters": [{"name": "m2"}]})"));
    }
    // While the cache shows the binding as it was, the stand-in waits.
    REQUIRE(tests::Eventually([&] { return Reconcile(stand_in).ok() && Held().empty(); }));
  }
  CHECK_FALSE(server->Find(api::Works(), stand_in).HasFinalizer(api::kExecutionFinalizer));
}

TEST_CASE_METHOD(Fixture, "a stand-in that was not deleted yet is not applied") {
  const kube::ObjectKey key = HandOver();
  kube::Object stand_in = server->Find(api::Works(), key);
  stand_in.Erase({"metadata", "deletionTimestamp"});
  PutCached(api::Works(), stand_in);
  const size_t before = m1.Calls();
  REQUIRE(Reconcile(key).ok());
  CHECK(m1.Calls() == before);
  CHECK(server->Find(api::Works(), key).IsDeleting());
}

TEST_CASE_METHOD(Fixture, "a Work of a returned cluster waits for the scheduler, but not long") {
  PutCached(api::ResourceBindings(), Binding(R"({"clusters": [{"name": "m2"}]})"));
  PutDeletedWork(Template());
  REQUIRE(Reconcile()->kind() == kube::Action::Kind::kAfter);
  clock.Advance(controllers::kReturnGrace / 2);
  REQUIRE(Reconcile()->kind() == kube::Action::Kind::kAfter);
  REQUIRE_FALSE(Held().empty());
  SECTION("the scheduler chooses the cluster") {
    PutCached(api::ResourceBindings(), Binding(R"({"clusters": [{"name": "m1"}]})"));
    REQUIRE(Reconcile()->kind() == kube::Action::Kind::kDone);
    CHECK_FALSE(Held().empty());
  }
  SECTION("the scheduler does not") {
    clock.Advance(controllers::kReturnGrace);
    REQUIRE(Reconcile()->kind() == kube::Action::Kind::kDone);
    CHECK(Held().empty());
    CHECK(StandIn().name.empty());
  }
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "a Work waits while its cluster is evicted from, and for what follows") {
  const auto put_binding = [&](const char* spec, int generation) {
    kube::Object binding = Binding(spec);
    binding.Set({"metadata", "generation"}, generation);
    binding.Set({"status", "schedulerObservedGeneration"}, 2);
    PutCached(api::ResourceBindings(), binding);
  };
  put_binding(R"({"gracefulEvictionTasks": [{"fromCluster": "m1"}]})", 2);
  PutDeletedWork(Template());
  clock.Advance(10 * controllers::kReturnGrace);
  REQUIRE(Reconcile()->kind() == kube::Action::Kind::kAfter);
  put_binding("{}", 3);
  REQUIRE(Reconcile()->kind() == kube::Action::Kind::kAfter);
  REQUIRE_FALSE(Held().empty());
  SECTION("the scheduler chooses the cluster") {
    put_binding(R"({"clusters": [{"name": "m1"}]})", 4);
    REQUIRE(Reconcile()->kind() == kube::Action::Kind::kDone);
    CHECK_FALSE(Held().empty());
  }
  SECTION("the scheduler chooses another one") {
    put_binding(R"({"clusters": [{"name": "m2"}]})", 4);
    REQUIRE(Reconcile()->kind() == kube::Action::Kind::kDone);
    CHECK(Held().empty());
  }
  SECTION("the scheduler chooses none") {
    clock.Advance(works::PlacementWait::kPatience);
    REQUIRE(Reconcile()->kind() == kube::Action::Kind::kDone);
    CHECK(Held().empty());
  }
}

TEST_CASE_METHOD(Fixture, "an object that nobody wants, or not the same one, goes at once") {
  kube::Object binding = Binding(R"({"clusters": [{"name": "m1"}]})");
  SECTION("the binding is gone") { binding = kube::Object(); }
  SECTION("the binding is being deleted") {
    binding.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  }
  SECTION("the template is another one of the same name") {
    binding.Set({"spec", "resource", "uid"}, "another");
  }
  SECTION("the binding is another one of the same name") {
    binding.SetLabel(api::kResourceBindingIdLabel, "another");
  }
  SECTION("it must be gone before it runs elsewhere") {
    binding.Set({"spec", "gracefulEvictionTasks"},
                Json(R"([{"fromCluster": "m1", "purgeMode": "Immediately"}])"));
  }
  SECTION("the Work was deleted while the cluster was ready") {
    PutCluster(*kube::ParseTime(GENERATE("2023-12-31T00:00:00Z", "2024-01-01T00:00:00Z")));
  }
  if (!binding.empty()) PutCached(api::ResourceBindings(), binding);
  PutDeletedWork(Template());
  REQUIRE(Reconcile()->kind() == kube::Action::Kind::kDone);
  CHECK(Held().empty());
  CHECK(IsFinalized());
  CHECK(StandIn().name.empty());
}

TEST_CASE_METHOD(Fixture, "nothing is decided while the control plane does not answer") {
  PutCached(api::ResourceBindings(), Binding(R"({"clusters": [{"name": "m1"}]})"));
  PutDeletedWork(Template());
  const char* method = GENERATE("GET", "POST", "DELETE");
  server->FailNext(method, 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  CHECK_FALSE(IsFinalized());
  CHECK_FALSE(Held().empty());
  REQUIRE(Reconcile().ok());
  CHECK(IsFinalized());
  CHECK_FALSE(Held().empty());
}

}  // namespace
