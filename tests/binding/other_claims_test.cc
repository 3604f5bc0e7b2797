// What becomes of Works that a binding lets go, by who else needs them.
#include "binding/other_claims.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "binding/binding_works.h"
#include "kube/runtime/fan_out.h"
#include "tests/support/members_fixture.h"
#include "works/standing_binding.h"

namespace {

using Scope = api::scope::Namespaced;
using tests::Json;

const kube::ObjectKey kBinding = {"tenant", "x"};
const kube::ObjectKey kWork = {"karmada-es-m1", "work"};

// A binding in the namespace `tenant`, and its Work in the cluster m1.
struct Fixture : tests::MembersFixture {
  kube::FanOut fan_out{clock};
  std::optional<binding::OtherClaims> others;
  std::optional<binding::BindingWorks<Scope>> works;
  kube::Object own = kube::Object::Make(api::ResourceBindings().gvk, kBinding);

  Fixture() {
    informers.Get(api::Works())->AddIndex(Scope::kIdLabel, kube::IndexByLabel(Scope::kIdLabel));
    for (const kube::Resource& kind : {api::ResourceBindings(), api::ClusterResourceBindings()}) {
      informers.Get(kind)->AddIndex(works::kBindingsByObject, works::ObjectNamedBy);
    }
    Sync({api::Works(), api::ResourceBindings(), api::ClusterResourceBindings(), api::Namespaces(),
          api::Clusters()});
    PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", "m1"}));
    PutCached(api::Namespaces(), kube::Object::Make(api::Namespaces().gvk, {"", kWork.ns}));
    own.SetLabel(Scope::kIdLabel, "id");
    others.emplace(cluster, [](const kube::Object& ns) { return ns.name() == "synced"; });
    works.emplace(cluster, fan_out, *others);
  }
  // Puts the Work that brings the object, and has the binding let go of it.
  void LetGoOfWorkOf(const kube::Object& manifest) {
    kube::Object work = kube::Object::Make(api::Works().gvk, kWork);
    work.SetLabel(Scope::kIdLabel, "id");
    for (const auto& [name, value] : Scope::NamingAnnotations(kBinding)) {
      work.SetAnnotation(name, value);
    }
    work.Set({"spec", "suspendDispatching"}, true);
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
    PutCached(api::Works(), work);
    REQUIRE(works->LetGo(own, {cluster.Find(api::Works(), kWork)}, {}).ok());
  }
  // Puts the binding that Karmada makes for the object, placed in m1.
  void PutProperBinding(const kube::Object& object) {
    const kube::Resource& resource =
        object.ns().empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
    kube::Object proper = kube::Object::Make(
        resource.gvk, {std::string(object.ns()), api::BindingName(object.kind(), object.name())});
    proper.Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
    proper.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
    PutCached(resource, proper);
  }
  bool WasDeleted() const { return !server->Requests("DELETE").empty(); }
  kube::Object Work() const { return server->Find(api::Works(), kWork); }
  bool HasMarks() const {
    return !Work().Label(Scope::kIdLabel).empty() || !Scope::BindingOf(Work()).name.empty();
  }
};

kube::Object ConfigMapIn(const std::string& ns) {
  return kube::Object::Make(tests::kConfigMaps.gvk, {ns, "settings"});
}

TEST_CASE_METHOD(Fixture, "a Work that nobody else needs is deleted") {
  LetGoOfWorkOf(ConfigMapIn("tenant"));
  CHECK(WasDeleted());
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "an object that was never the binding's stays in the member") {
  LetGoOfWorkOf(ConfigMapIn("other"));
  CHECK(server->Requests("PATCH").size() == 1);
  CHECK(WasDeleted());
}

TEST_CASE_METHOD(Fixture, "a Work that another binding needs is left to that one") {
  const kube::Object object = GENERATE(
      ConfigMapIn("other"), kube::Object::Make({"x.io", "v1", "ClusterStore"}, {"", "vault"}));
  PutProperBinding(object);
  LetGoOfWorkOf(object);
  CHECK_FALSE(WasDeleted());
  CHECK_FALSE(HasMarks());
  CHECK(Work().spec()["suspendDispatching"].AsBool());  // The other one writes what it wants.
}

TEST_CASE_METHOD(Fixture, "the Work of a Namespace that goes everywhere is the namespace loop's") {
  kube::Object ns = kube::Object::Make(api::Namespaces().gvk, {"", "synced"});
  ns.Set({"metadata", "uid"}, "uid-of-ns");
  PutCached(api::Namespaces(), ns);
  LetGoOfWorkOf(ns);
  CHECK_FALSE(WasDeleted());
  CHECK_FALSE(HasMarks());
  CHECK_FALSE(Work().spec().Has("suspendDispatching"));
  CHECK(Work().ControllerOwner().uid == ns.uid());  // It goes with its Namespace.
}

TEST_CASE_METHOD(Fixture, "clusters and objects of names that no server has hold up no deletion") {
  own.Set({"spec", "resource"}, api::ObjectReference::Of(ConfigMapIn("tenant")).ToJson());
  SECTION("a cluster") { own.Set({"spec", "clusters"}, Json(R"([{"name": "m1/works"}])")); }
  SECTION("an object") {
    own.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
    own.Set({"spec", "resource", "name"}, "../../victim/secrets/pw");
  }
  const auto all = works->All(api::BindingView(own), {});
  REQUIRE(all.ok());
  CHECK(all->empty());
}

TEST_CASE_METHOD(Fixture, "a copy is told from the binding that Karmada makes") {
  const kube::Object object = ConfigMapIn("tenant");
  own.Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
  CHECK(others->OriginalsOf(own).CheckIsNoCopy(own, "m1").ok());
  PutProperBinding(object);
  CHECK(absl::IsFailedPrecondition(others->OriginalsOf(own).CheckIsNoCopy(own, "m1")));
  CHECK(others->OriginalsOf(own).CheckIsNoCopy(own, "m2").ok());
  const kube::ObjectPtr proper =
      cluster.Find(api::ResourceBindings(), {"tenant", "settings-configmap"});
  CHECK(others->OriginalsOf(*proper).CheckIsNoCopy(*proper, "m1").ok());
}

TEST_CASE_METHOD(Fixture, "of many bindings of one object no clusters are compared") {
  own.Set({"spec", "resource"}, api::ObjectReference::Of(ConfigMapIn("tenant")).ToJson());
  own.Set({"metadata", "creationTimestamp"}, "2024-05-01T10:00:00Z");
  for (int i = 0; i < 20; ++i) {
    kube::Object other =
        kube::Object::Make(api::ResourceBindings().gvk, {"tenant", absl::StrCat("b", i)});
    other.Set({"metadata", "creationTimestamp"}, "2024-05-01T09:00:00Z");
    other.Set({"spec", "resource"}, own.Get({"spec", "resource"}));
    PutCached(api::ResourceBindings(), other);
  }
  const binding::Originals originals = others->OriginalsOf(own);
  CHECK(originals.by_cluster.empty());
  CHECK(absl::IsFailedPrecondition(originals.CheckIsNoCopy(own, "m1")));
}

TEST_CASE_METHOD(Fixture, "of two bindings with names of their own the older one stands") {
  const kube::Object object = ConfigMapIn("tenant");
  kube::Object other = kube::Object::Make(api::ResourceBindings().gvk, {"tenant", "y"});
  for (kube::Object* binding : {&own, &other}) {
    binding->Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
    binding->Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
    binding->Set({"metadata", "creationTimestamp"}, "2024-05-01T10:00:00Z");
  }
  const bool is_older = GENERATE(true, false);  // Else their names decide.
  if (is_older) other.Set({"metadata", "creationTimestamp"}, "2024-05-01T09:00:00Z");
  for (const kube::Object& binding : {own, other}) PutCached(api::ResourceBindings(), binding);
  CHECK(others->OriginalsOf(own).CheckIsNoCopy(own, "m1").ok() == !is_older);
  CHECK(others->OriginalsOf(other).CheckIsNoCopy(other, "m1").ok() == is_older);
  CHECK(others->OriginalsOf(own).CheckIsNoCopy(own, "m2").ok());
  LetGoOfWorkOf(object);  // The end of the one that stands does not take the Work along.
  CHECK_FALSE(WasDeleted());
  CHECK_FALSE(HasMarks());
}

}  // namespace
