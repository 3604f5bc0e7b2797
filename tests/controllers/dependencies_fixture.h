// Fixtures for tests of the dependencies loop: a Deployment "web" with its binding, and what it
// needs.
#ifndef TESTS_CONTROLLERS_DEPENDENCIES_FIXTURE_H_
#define TESTS_CONTROLLERS_DEPENDENCIES_FIXTURE_H_

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/keys.h"
#include "api/object_reference.h"
#include "controllers/dependencies/attached_bindings.h"
#include "controllers/dependencies/dependencies_reconciler.h"
#include "kube/runtime/controller.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/scripted_interpreter.h"
#include "works/kept_work.h"

namespace tests {

inline const kube::ObjectKey kWeb = {"ns", "web"};
inline const kube::ObjectKey kWebBinding = {"ns", "web-deployment"};
inline constexpr char kConfig[] =
    R"([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "ns", "name": "config"}])";
inline constexpr char kConfigText[] =
    R"([{"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"config"}])";

// Returns a binding of "web" that is in m1.
inline kube::Object BindingOfWeb(const std::string& name, bool propagate) {
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"ns", name});
  const kube::Object object = kube::Object::Make(kDeployments.gvk, kWeb);
  binding.SetLabel(api::kResourceBindingIdLabel, "id-of-" + name);
  binding.Set({"metadata", "generation"}, 1);
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(object).ToJson());
  binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
  if (propagate) binding.Set({"spec", "propagateDeps"}, true);
  return binding;
}

struct DependenciesFixture : LoopsFixture {
  ScriptedInterpreter scripted;
  std::shared_ptr<controllers::SeenDeletions> seen;
  std::optional<controllers::DependenciesReconciler> reconciler;

  DependenciesFixture() {
    Sync({kDeployments, kConfigMaps, api::ResourceBindings(), api::Works(), api::Clusters()});
    informers.Get(api::ResourceBindings())
        ->AddIndex(controllers::kReferrerIndex, controllers::ReferrerKeys);
    informers.Get(api::Works())
        ->AddIndex(api::kResourceBindingIdLabel, kube::IndexByLabel(api::kResourceBindingIdLabel));
    informers.Get(api::Works())->AddIndex(works::kStandInIndex, works::StandsInFor);
    PutCached(kDeployments, kube::Object::Make(kDeployments.gvk, kWeb));
    Make();
    Renew();
    scripted.Enable(interpreter::Operation::kInterpretDependency);
    scripted.dependencies = Json(kConfig);
  }
  ~DependenciesFixture() override {
    base::IgnoreError(Finish(), "ends the loop before the interpreter goes");
  }

  // Makes a new reconciler, which has forgotten everything, as after a restart.
  void Renew(bool transitive = false) {
    seen = std::make_shared<controllers::SeenDeletions>();
    reconciler.emplace(controllers::DependencySearch::Deps{cluster, scripted, transitive}, *events,
                       nullptr, seen);
  }
  kube::Object Put(const kube::Object& binding) {
    return PutCached(api::ResourceBindings(), binding);
  }
  kube::Object Now(const std::string& name = kWebBinding.name) const {
    return server->Find(api::ResourceBindings(), {"ns", name});
  }
  // Returns the recorded dependencies; "-" for none.
  std::string Recorded(const std::string& name = kWebBinding.name) const {
    const kube::Object now = Now(name);
    const json::Value* text = now.annotations().Find(api::kDependenciesAnnotation);
    return text == nullptr ? "-" : text->ToString();
  }
  absl::Status Reconcile() { return reconciler->Reconcile({.key = kWebBinding}, {}).status(); }
  size_t Writes() const {
    return server->Requests("PATCH").size() + server->Requests("PUT").size();
  }
};

// A ConfigMap "config" that the Deployment "web" needs.
struct AttachingFixture : DependenciesFixture {
  AttachingFixture() {
    Put(BindingOfWeb(kWebBinding.name, true));
    PutConfig("config");
  }
  kube::Object PutConfig(const std::string& name, const std::string& app = "") {
    kube::Object config = kube::Object::Make(kConfigMaps.gvk, {"ns", name});
    config.Set({"metadata", "uid"}, "uid-of-" + name);
    if (!app.empty()) config.SetLabel("app", app);
    return PutCached(kConfigMaps, config);
  }
  kube::Object Config() const { return Now("config-configmap"); }
  void SetClusters(const std::string& binding, const std::string& clusters) {
    kube::Object changed = Now(binding);
    changed.Set({"spec", "clusters"}, Json(clusters));
    Put(changed);
  }
};

}  // namespace tests

#endif  // TESTS_CONTROLLERS_DEPENDENCIES_FIXTURE_H_
