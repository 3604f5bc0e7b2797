#include "lens/plan/passages.h"

#include <catch2/catch.hpp>

#include "api/names.h"
#include "api/passed_template.h"
#include "base/yaml.h"
#include "lens/plan/dry_control_plane.h"

namespace lens::plan {
namespace {

// A live template of version 7 and generation 3, and its binding in m1, as upstream writes it.
constexpr char kTemplate[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: u, resourceVersion: "7", generation: 3}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
)";
constexpr char kBinding[] = R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web-deployment, namespace: shop}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web, uid: u}
  clusters: [{name: m1}]
)";

kube::Object Read(const char* text) { return kube::Object(*yaml::Parse(text)); }

struct Fixture {
  LiveState live;

  Fixture() { live.templates.push_back(Read(kTemplate)); }

  kube::Object Binding(const std::string& version) const {
    kube::Object binding = Read(kBinding);
    binding.Set({"spec", "resource", "resourceVersion"}, version);
    return binding;
  }

  // Adds a Work in the cluster that was made of that generation, when the image was another one.
  void AddWork(const std::string& cluster, const std::string& generation) {
    kube::Object work(
        json::Value::Object({{"apiVersion", "work.karmada.io/v1alpha1"}, {"kind", "Work"}}));
    work.Set({"metadata", "name"}, api::WorkName("Deployment", "web", "shop"));
    work.Set({"metadata", "namespace"}, api::ExecutionNamespace(cluster));
    work.SetAnnotation("resourcebinding.karmada.io/name", "web-deployment");
    work.SetAnnotation("resourcebinding.karmada.io/namespace", "shop");
    kube::Object manifest = Read(kTemplate);
    manifest.Set({"spec", "paused"}, true);
    manifest.SetAnnotation("resourcetemplate.karmada.io/generation", generation);
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest.root()}));
    live.works.push_back(std::move(work));
  }

  bool Passed(const kube::Object& binding) {
    live.bindings = {binding};
    return PassedBindings(live).contains({"shop", "web-deployment"});
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Plan: the version that a live binding names has passed") {
  CHECK(Passed(Binding("7")));
  CHECK_FALSE(Passed(Binding("6")));
}

TEST_CASE_METHOD(Fixture, "Plan: without a record the Works of the targets say what has passed") {
  AddWork("m2", "2");  // No target any more.
  CHECK_FALSE(Passed(Binding("6")));
  AddWork("m1", "3");
  CHECK(Passed(Binding("6")));
  live.works.clear();
  AddWork("m1", "2");
  CHECK_FALSE(Passed(Binding("6")));
}

TEST_CASE_METHOD(Fixture, "Plan: a record is made one of the template that was taken over") {
  const auto plane = *DryControlPlane::Start({});
  REQUIRE(plane->Restore(live.templates[0]).ok());
  const kube::ObjectPtr here =
      *plane->backend().Get({"apps", "v1", "deployments"}, {"shop", "web"});
  kube::Object edited = *here;
  edited.Set({"metadata", "resourceVersion"}, "999999");
  edited.Set({"metadata", "generation"}, 2);
  edited.Set({"spec", "paused"}, true);

  kube::Object binding = Binding("6");
  REQUIRE(RecordPassage(plane->backend(), /*has_passed=*/true, binding).ok());
  CHECK(api::CompareWithRecord(binding, *here) == api::PassedRecord::kSame);
  CHECK(api::CompareWithRecord(binding, edited) == api::PassedRecord::kOther);

  REQUIRE(RecordPassage(plane->backend(), /*has_passed=*/false, binding).ok());
  CHECK(api::CompareWithRecord(binding, *here) == api::PassedRecord::kOther);

  kube::Object by_hand = Binding("");
  REQUIRE(RecordPassage(plane->backend(), /*has_passed=*/false, by_hand).ok());
  CHECK(by_hand == Binding(""));
}

}  // namespace lens::plan
