#include "binding/binding_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "api/binding_scope.h"
#include "tests/support/members_fixture.h"

namespace {

using Scope = api::scope::Namespaced;

const kube::ObjectKey kKey = {"ns", "web-deployment"};
const kube::ObjectKey kWork = {"karmada-es-m1", "web-1"};

// A binding that is being deleted, and a Work that is not in the cache.
struct Fixture : tests::MembersFixture {
  std::optional<binding::BindingReconciler<Scope>> reconciler;

  Fixture() {
    kube::InformerSet& caches = informers;
    caches.Get(api::Works())->AddIndex(Scope::kIdLabel, kube::IndexByLabel(Scope::kIdLabel));
    Sync({api::Works(), api::ResourceBindings()});
    reconciler.emplace(Make(), *chain);
  }
  void PutDeletedBinding(const std::string& id) {
    kube::Object object = kube::Object::Make(api::ResourceBindings().gvk, kKey);
    object.SetLabel(Scope::kIdLabel, id);
    object.AddFinalizer(Scope::kFinalizer);
    // Keeps the object, so that the test can look at it.
    object.AddFinalizer("example.com/observer");
    object.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::ResourceBindings(), object);
  }
  // Stops the watches, so that the cache does not see the Work.
  void PutUnseenWork(const kube::ObjectKey& key, const std::string& id,
                     const std::string& binding = kKey.name) {
    server->Block("WATCH");
    server->EndWatches(absl::OkStatus());
    kube::Object work = kube::Object::Make(api::Works().gvk, key);
    work.SetLabel(Scope::kIdLabel, id);
    for (const auto& [name, value] : Scope::NamingAnnotations({kKey.ns, binding})) {
      work.SetAnnotation(name, value);
    }
    server->Put(api::Works(), work);
    REQUIRE(cluster.Find(api::Works(), key) == nullptr);
  }
  void Reconcile() {
    REQUIRE(reconciler->Reconcile({.key = kKey}, {}).ok());
    server->Unblock();
  }
  bool IsFinalized() const {
    return !server->Find(api::ResourceBindings(), kKey).HasFinalizer(Scope::kFinalizer);
  }
};

TEST_CASE_METHOD(Fixture, "a Work that the cache does not show yet goes with its binding") {
  PutDeletedBinding("mine");
  PutUnseenWork(kWork, "mine");
  PutUnseenWork({"karmada-es-m1", "other"}, "theirs");
  Reconcile();
  CHECK(server->Find(api::Works(), kWork).empty());
  CHECK_FALSE(server->Find(api::Works(), {"karmada-es-m1", "other"}).empty());
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "a binding that has lost its id finds its Works by its name") {
  PutDeletedBinding("");
  PutUnseenWork(kWork, "mine");
  PutUnseenWork({"karmada-es-m1", "other"}, "", "other-deployment");
  Reconcile();
  CHECK(server->Find(api::Works(), kWork).empty());
  CHECK_FALSE(server->Find(api::Works(), {"karmada-es-m1", "other"}).empty());
  CHECK(IsFinalized());
}

TEST_CASE_METHOD(Fixture, "a binding stays as long as its Works cannot be listed") {
  PutDeletedBinding("mine");
  server->FailNext("GET", 403, "Forbidden");
  CHECK_FALSE(reconciler->Reconcile({.key = kKey}, {}).ok());
  CHECK_FALSE(IsFinalized());
}

}  // namespace
