#include "binding/work_templates.h"

#include <catch2/catch.hpp>

#include "api/preserved_state.h"
#include "base/json.h"
#include "tests/support/scripted_interpreter.h"

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
  const works::WantedWork work = binding::WorkFor<api::scope::Namespaced>(Parse(kJob), view, "m1");
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

TEST_CASE("What a rule returns keeps the template's uid and generation") {
  const kube::Object binding = Parse(kDivided);
  tests::ScriptedInterpreter scripted;
  scripted.Enable(interpreter::Operation::kReviseReplica);
  scripted.revised = Parse(R"({"apiVersion": "batch/v1", "kind": "Job",
      "metadata": {"name": "pi", "namespace": "ns", "generation": 9}, "spec": {"parallelism": 2}})");
  const auto manifest =
      binding::ManifestFor(Parse(kJob), api::BindingView(binding), {"m1", 2}, -1, scripted);
  REQUIRE(manifest.ok());
  CHECK(manifest->uid() == "u");
  CHECK(manifest->generation() == 4);
  CHECK(manifest->Get({"spec", "parallelism"}).AsInt() == 2);
}

TEST_CASE("A rule that makes another object of the template is refused") {
  const kube::Object binding = Parse(kDivided);
  tests::ScriptedInterpreter scripted;
  scripted.Enable(interpreter::Operation::kReviseReplica);
  scripted.revised = Parse(kJob);
  SECTION("name") { scripted.revised.Set({"metadata", "name"}, "other"); }
  SECTION("namespace") { scripted.revised.Erase({"metadata", "namespace"}); }
  SECTION("kind") { scripted.revised.Set({"kind"}, "CronJob"); }
  SECTION("apiVersion") { scripted.revised.Set({"apiVersion"}, "batch/v2"); }
  const auto manifest =
      binding::ManifestFor(Parse(kJob), api::BindingView(binding), {"m1", 2}, -1, scripted);
  CHECK(absl::IsInvalidArgument(manifest.status()));
  CHECK_THAT(std::string(manifest.status().message()),
             Catch::Contains("ReviseReplica made ") && Catch::Contains(" of Job ns/pi"));
}

TEST_CASE("State of the last failover goes to a single new cluster, after a purge at once") {
  const kube::Object object = Parse(R"({"metadata": {"name": "b", "namespace": "ns"}, "spec": {
      "clusters": [{"name": "m2"}], "gracefulEvictionTasks": [
          {"fromCluster": "m0", "purgeMode": "Directly", "preservedLabelState": {"id": "old"}},
          {"fromCluster": "m1", "purgeMode": "Directly", "clustersBeforeFailover": ["m1"],
           "preservedLabelState": {"id": "7", "example.io/step": "3"}}]}})");
  const auto labels = [](const kube::Object& binding, const char* cluster) {
    kube::Object manifest = Parse(R"({"metadata": {"name": "web", "labels": {"id": "own"}}})");
    binding::InjectPreservedState(api::BindingView(binding), cluster, manifest);
    return json::Write(manifest.labels());
  };
  CHECK(labels(object, "m2") == R"({"example.io/step":"3","id":"7"})");
  CHECK(labels(object, "m1") == R"({"id":"own"})");

  kube::Object two = object;
  two.Set({"spec", "clusters"}, json::Parse(R"([{"name": "m2"}, {"name": "m3"}])").value());
  CHECK(labels(two, "m2") == R"({"id":"own"})");
  kube::Object referred = object;
  referred.Set({"spec", "requiredBy"},
               json::Parse(R"([{"name": "a", "clusters": [{"name": "m3"}]}])").value());
  CHECK(labels(referred, "m2") == R"({"id":"own"})");

  kube::Object graceful = object;
  graceful.mutable_root()
      .Mutable({"spec", "gracefulEvictionTasks"})
      .MutableAt(1)
      .Set("purgeMode", "Gracefully");
  CHECK(labels(graceful, "m2") == R"({"id":"own"})");
  kube::Object ended = object;
  ended.Erase({"spec", "gracefulEvictionTasks"});
  CHECK(labels(ended, "m2") == R"({"id":"own"})");
  // What the task has left behind is injected as before.
  const api::EvictionTask task = api::BindingView(object).EvictionTasks().back();
  api::SetKeptPreservedState(ended, api::PreservedStateOf(task));
  CHECK(labels(ended, "m2") == R"({"example.io/step":"3","id":"7"})");
  CHECK(labels(ended, "m1") == R"({"id":"own"})");
}
