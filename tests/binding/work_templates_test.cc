#include "binding/work_templates.h"

#include <catch2/catch.hpp>

#include "base/json.h"

namespace {

kube::Object Parse(const char* text) { return kube::Object(json::Parse(text).value()); }

const char kDivided[] = R"({
  "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
  "metadata": {"name": "pi-job", "namespace": "ns",
               "labels": {"resourcebinding.karmada.io/permanent-id": "id-1"}},
  "spec": {"replicas": 3, "conflictResolution": "Abort",
           "clusters": [{"name": "m1", "replicas": 2}, {"name": "m2", "replicas": 1}],
           "placement": {"replicaScheduling": {"replicaSchedulingType": "Divided"}}}})";

const char kJob[] = R"({
  "apiVersion": "batch/v1", "kind": "Job",
  "metadata": {"name": "pi", "namespace": "ns", "uid": "u", "generation": 4},
  "spec": {"parallelism": 3, "completions": 5}})";

}  // namespace

TEST_CASE("A job's completions follow the replicas of its clusters and add up") {
  const kube::Object binding = Parse(kDivided);
  const api::BindingView view(binding);
  const std::vector<int64_t> shares =
      binding::DividedCompletions(Parse(kJob), view, view.DispatchTargets());
  REQUIRE(shares.size() == 2);
  CHECK(shares[0] + shares[1] == 5);
  CHECK(shares[0] > shares[1]);
}

TEST_CASE("Completions are not divided for other kinds or without completions") {
  const kube::Object binding = Parse(kDivided);
  const api::BindingView view(binding);
  kube::Object other = Parse(kJob);
  other.Set({"kind"}, "Deployment");
  CHECK(binding::DividedCompletions(other, view, view.DispatchTargets()).empty());
  kube::Object endless = Parse(kJob);
  endless.Erase({"spec", "completions"});
  CHECK(binding::DividedCompletions(endless, view, view.DispatchTargets()).empty());
}

TEST_CASE("A Work carries the binding's marks, and so does its manifest") {
  const kube::Object binding = Parse(kDivided);
  const api::BindingView view(binding);
  const works::WorkTemplate work =
      binding::WorkFor<api::scope::Namespaced>(Parse(kJob), view, "m1");
  CHECK(work.key.ns == "karmada-es-m1");
  CHECK(work.labels["resourcebinding.karmada.io/permanent-id"].AsString() == "id-1");
  CHECK(work.manifest.Label("resourcebinding.karmada.io/permanent-id") == "id-1");
  CHECK(work.annotations["resourcebinding.karmada.io/name"].AsString() == "pi-job");
  CHECK(work.annotations["work.karmada.io/conflict-resolution"].AsString() == "abort");
  CHECK(work.manifest.Annotation("resourcetemplate.karmada.io/generation") == "4");
  CHECK(work.suspend_dispatching == false);
  CHECK(work.preserve_resources_on_deletion == false);
}

TEST_CASE("A valid conflict resolution of the template wins over the binding's") {
  const kube::Object binding = Parse(kDivided);
  kube::Object job = Parse(kJob);
  job.SetAnnotation("work.karmada.io/conflict-resolution", "overwrite");
  const auto resolution = [&](const kube::Object& object) {
    return binding::WorkFor<api::scope::Namespaced>(object, api::BindingView(binding), "m1")
        .annotations["work.karmada.io/conflict-resolution"]
        .ToString();
  };
  CHECK(resolution(job) == "overwrite");
  job.SetAnnotation("work.karmada.io/conflict-resolution", "nonsense");
  CHECK(resolution(job) == "abort");
}
