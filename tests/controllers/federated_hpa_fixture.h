// A control plane and two members with the Deployment "web", its binding and pods, and metrics that
// the test sets, for the tests of the FederatedHPA loop.
#ifndef TESTS_CONTROLLERS_FEDERATED_HPA_FIXTURE_H_
#define TESTS_CONTROLLERS_FEDERATED_HPA_FIXTURE_H_

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "controllers/autoscaling/pod_metrics.h"
#include "controllers/federated_hpa/federated_hpa_reconciler.h"
#include "tests/support/loops_fixture.h"

namespace tests {

// Metrics by pod, in thousandths; without any, the API has none.
class SetMetrics : public autoscaling::MetricsSource {
 public:
  std::map<std::string, int64_t> use;
  absl::Time now;
  int asked = 0;

  absl::StatusOr<autoscaling::Samples> Resource(const autoscaling::PodSelection&,
                                                const api::MetricSpec&,
                                                const base::StopToken&) override {
    ++asked;
    if (use.empty()) return absl::NotFoundError("no metrics returned from resource metrics API");
    autoscaling::Samples samples;
    for (const auto& [pod, milli] : use) {
      samples.items.push_back({pod, "", {milli, now, absl::Seconds(30)}});
    }
    return samples;
  }
  absl::StatusOr<autoscaling::Samples> Pods(const autoscaling::PodSelection& pods,
                                            const api::MetricSpec& spec,
                                            const base::StopToken& stop) override {
    return Resource(pods, spec, stop);
  }
  absl::StatusOr<int64_t> Object(const std::string&, const api::MetricSpec&,
                                 const base::StopToken&) override {
    return absl::UnimplementedError("no test asks");
  }
  absl::StatusOr<int64_t> External(const std::string&, const api::MetricSpec&,
                                   const base::StopToken&) override {
    return absl::UnimplementedError("no test asks");
  }
};

struct FederatedHpaFixture : LoopsFixture {
  const kube::ObjectKey key{"ns", "web"};
  base::StopToken never;
  SetMetrics* metrics = nullptr;
  std::unique_ptr<controllers::FederatedHpaReconciler> reconciler;

  FederatedHpaFixture() {
    Make();
    // As after the first pass: a pass that changes the fields waits for new lists, and only the
    // test lets time pass.
    inventory.SetReads(api::kFederatedHpaController, kPods, autoscaling::PodFields());
    Restart();
    Sync({api::FederatedHpas(), api::ResourceBindings(), api::Clusters()});
    for (const char* name : {"m1", "m2"}) PutCluster(name, true);
    PutTemplate(4);
    PutBinding(R"([{"name": "m1", "replicas": 2}, {"name": "m2", "replicas": 2}])");
    for (const char* name : {"m1", "m2"}) PutMember(name, 2);
  }

  // What is remembered is lost.
  void Restart() {
    auto source = std::make_unique<SetMetrics>();
    source->now = clock.Now();
    if (metrics != nullptr) source->use = metrics->use;
    metrics = source.get();
    reconciler = std::make_unique<controllers::FederatedHpaReconciler>(
        controllers::FederatedHpaReconciler::Deps{*manager,
                                                  {objects, inventory, members, clock},
                                                  flags.pod_autoscaling,
                                                  std::move(source)});
  }

  void PutCluster(const std::string& name, bool ready) {
    member(name);
    PutCached(api::Clusters(), Parse(absl::StrCat(
                                   R"({"apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster", "metadata": {"name": ")",
                                   name, R"("}, "status": {"conditions": [{"type": "Ready",
        "status": ")",
                                   ready ? "True" : "False", R"("}]}})")));
  }
  void PutTemplate(int64_t replicas) { server->Put(kDeployments, DeploymentOf(replicas)); }
  void PutBinding(const std::string& clusters) {
    kube::Object binding = Parse(R"({"apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding", "metadata": {"namespace": "ns", "name": "web-deployment"},
        "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns",
                              "name": "web"}}})");
    binding.Set({"spec", "clusters"}, Json(clusters));
    PutCached(api::ResourceBindings(), binding);
  }
  // Puts the Deployment and that many running pods, <cluster>-0, ..., into the member.
  void PutMember(const std::string& name, int replicas) {
    kube::Object deployment = DeploymentOf(replicas);
    deployment.SetLabel(api::kManagedLabel, api::kManagedValue);
    deployment.Set({"status", "replicas"}, replicas);
    Await(*objects.InformerFor(name, kDeployments.gvk, never),
          member(name).Put(kDeployments, deployment));
    for (int i = 0; i < replicas; ++i) PutPod(name, absl::StrCat(name, "-", i));
  }
  void PutPod(const std::string& cluster, const std::string& name) {
    kube::Object pod = Parse(R"({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "ns", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Running", "startTime": "2001-01-01T00:00:00Z", "conditions":
          [{"type": "Ready", "status": "True", "lastTransitionTime": "2001-01-01T00:00:10Z"}]}})");
    pod.Set({"metadata", "name"}, name);
    Await(*inventory.InformerFor(cluster, kPods), member(cluster).Put(kPods, pod));
  }
  // Waits until a member's cache has this version of the object.
  static void Await(const std::shared_ptr<kube::Informer>& informer, const kube::Object& stored) {
    REQUIRE(informer->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    REQUIRE(Eventually([&] {
      const kube::ObjectPtr held = informer->store().Find(stored.key());
      return held != nullptr && held->resource_version() == stored.resource_version();
    }));
  }
  static kube::Object DeploymentOf(int64_t replicas) {
    kube::Object deployment = Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "ns", "name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}}})");
    deployment.Set({"spec", "replicas"}, replicas);
    return deployment;
  }
  // `spec` completes the spec, which has a target and a maximum of ten.
  void PutHpa(const std::string& spec = "{}", const std::string& name = "web") {
    PutCached(api::FederatedHpas(), HpaOf(spec, name));
  }
  static kube::Object HpaOf(const std::string& spec, const std::string& name = "web") {
    kube::Object hpa = Parse(R"({"apiVersion": "autoscaling.karmada.io/v1alpha1",
        "kind": "FederatedHPA", "metadata": {"namespace": "ns", "generation": 1},
        "spec": {"maxReplicas": 10, "scaleTargetRef":
                 {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})");
    hpa.Set({"metadata", "name"}, name);
    const json::Value more = Json(spec);
    for (const json::Member& m : more.members()) hpa.Set({"spec", m.name()}, m.value);
    return hpa;
  }
  // Each pod uses so much of its core.
  void Use(int64_t milli) {
    for (const char* pod : {"m1-0", "m1-1", "m2-0", "m2-1"}) metrics->use[pod] = milli;
  }

  // Makes a pass, whose writes are in the cache afterwards.
  absl::StatusOr<kube::Action> Pass(const std::string& name = "web") {
    metrics->now = clock.Now();
    return reconciler->Reconcile({.key = {"ns", name}}, never);
  }
  void PassOnce(const std::string& name = "web") {
    const auto action = Pass(name);
    INFO(action.status());
    REQUIRE(action.ok());
    CHECK(action->delay() == absl::Seconds(15));
  }
  int64_t Replicas() { return server->Find(kDeployments, key).spec()["replicas"].AsInt(); }
  json::Value Status(const std::string& name = "web") {
    return server->Find(api::FederatedHpas(), {"ns", name}).status();
  }
  // Returns "<status> <reason>" of a condition; "" without it.
  std::string Condition(const std::string& type, const std::string& name = "web") {
    const json::Value status = Status(name);
    const json::Value* condition = kube::FindCondition(status["conditions"], type);
    if (condition == nullptr) return "";
    return absl::StrCat((*condition)["status"].AsString(), " ", (*condition)["reason"].AsString());
  }
  std::string Message(const std::string& type) {
    const json::Value status = Status();
    const json::Value* condition = kube::FindCondition(status["conditions"], type);
    return condition == nullptr ? "" : (*condition)["message"].ToString();
  }
};

}  // namespace tests

#endif  // TESTS_CONTROLLERS_FEDERATED_HPA_FIXTURE_H_
