#include "api/work.h"

#include <catch2/catch.hpp>

#include "api/cluster.h"
#include "api/reasons.h"

namespace {

json::Value Json(const char* text) { return json::Parse(text).value(); }

}  // namespace

TEST_CASE("a Work finds the manifest an object stands for") {
  const kube::Object work(Json(R"({"spec": {"workload": {"manifests": [
      {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ns"}},
      {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "ns"}}]}}})"));
  const api::WorkView view(work);
  REQUIRE(view.Manifests().size() == 2);
  CHECK(view.IndexOf(kube::Object(view.Manifests()[1])) == std::optional<int64_t>(1));
  const kube::Object other = kube::Object::Make({"", "v1", "Secret"}, {"ns", "b"});
  CHECK_FALSE(view.IndexOf(other).has_value());
  CHECK_FALSE(view.IsDispatchingSuspended());
  CHECK_FALSE(view.IsApplied());
}

TEST_CASE("a manifest identifier has every member the schema requires") {
  const kube::Object manifest = kube::Object::Make({"", "v1", "Namespace"}, {"", "demo"});
  const api::ManifestIdentifier id = api::ManifestIdentifier::Of(manifest, 0);
  CHECK(json::Write(id.ToJson()) ==
        R"({"kind":"Namespace","name":"demo","ordinal":0,"resource":"","version":"v1"})");
  CHECK(api::ManifestIdentifier::FromJson(id.ToJson()) == id);
}

TEST_CASE("a manifest status writes what it reads") {
  const json::Value item = Json(R"({"health":"Healthy","identifier":{"group":"apps","kind":
      "Deployment","name":"web","namespace":"ns","ordinal":0,"resource":"","version":"v1"},
      "status":{"replicas":2}})");
  CHECK(api::ManifestStatus::FromJson(item).ToJson() == item);
}

TEST_CASE("a Cluster says how to reach it and whether it is ready") {
  const kube::Object object(Json(R"({"metadata": {"name": "m1"}, "spec": {"syncMode": "Push",
      "apiEndpoint": "https://m1", "secretRef": {"namespace": "karmada-cluster", "name": "m1"},
      "taints": [{"key": "k", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}]},
      "status": {"conditions": [{"type": "Ready", "status": "Unknown"}],
        "apiEnablements": [{"groupVersion": "apps/v1",
                            "resources": [{"kind": "Deployment"}]}]}})"));
  const api::ClusterView cluster(object);
  CHECK(cluster.IsPush());
  CHECK(cluster.SecretRef() == kube::ObjectKey{"karmada-cluster", "m1"});
  CHECK_FALSE(cluster.IsReady());
  CHECK(cluster.ReadyStatus() == "Unknown");
  CHECK(cluster.HasApi({"apps", "v1", "Deployment"}));
  CHECK_FALSE(cluster.HasApi({"apps", "v1", "DaemonSet"}));
  CHECK_FALSE(cluster.HasApi({"batch", "v1", "Job"}));
  REQUIRE(cluster.Taints().size() == 1);
  CHECK(cluster.Taints()[0].ToJson() == object.spec()["taints"].At(0));
}

TEST_CASE("messages about an unhealthy object say why, and are understood") {
  namespace message = api::message;
  const std::string turned =
      message::UnhealthyBecause("Deployment", {"ns", "web"}, "0 of 3: no unhealthy: quota");
  CHECK(turned ==
        "Interpret health of object(Deployment/ns/web) as unhealthy. 0 of 3: no unhealthy: quota");
  CHECK(message::WhyUnhealthyIn(turned) == "0 of 3: no unhealthy: quota");
  CHECK(message::WhyUnhealthyIn("(combined from similar events): " + turned) ==
        "0 of 3: no unhealthy: quota");
  const std::string lasting =
      message::UnhealthyFor("Deployment ns/web", "m1", absl::Minutes(5), "0 of 3");
  CHECK(lasting == "Deployment ns/web in cluster m1 has been unhealthy for 5m: 0 of 3");
  CHECK(message::WhyUnhealthyIn(lasting) == "0 of 3");
  const std::string silent = message::UnhealthyFor("Deployment ns/web", "m1", absl::Minutes(5), "");
  CHECK(silent == "Deployment ns/web in cluster m1 has been unhealthy for 5m");
  CHECK(message::WhyUnhealthyIn(silent).empty());
  CHECK(message::WhyUnhealthyIn(message::HealthInterpreted("Pod", {"ns", "a"}, false)).empty());
  CHECK(message::WhyUnhealthyIn(message::HealthInterpreted("Pod", {"ns", "a"}, true)).empty());
}

TEST_CASE("messages are upstream's words") {
  namespace message = api::message;
  const absl::Status why = absl::UnavailableError("boom");
  CHECK(message::PolicyApplied("policy(ns/p)") == "Apply policy(ns/p) succeed");
  CHECK(message::PolicyNotApplied("cluster policy(p)", why) ==
        "Apply cluster policy(p) failed: boom");
  CHECK(message::WorksSynced("ResourceBinding(ns/b)") ==
        "Sync work of ResourceBinding(ns/b) successful.");
  CHECK(message::WorkSynced({"karmada-es-m1", "w"}, "m1") ==
        "Sync work(karmada-es-m1/w) to cluster(m1) successful.");
  CHECK(message::ManifestSynced({"", "cr"}, "m1") ==
        "Successfully applied resource(/cr) to cluster m1");
  CHECK(message::ManifestsNotApplied(0, 1, why) == "Failed to apply all manifests (0/1): boom");
  CHECK(message::ObjectExistsUnmanaged("Deployment", {"ns", "web"}, "m1") ==
        "resource(kind=Deployment, ns/web) already exists in the cluster m1 and the "
        "work.karmada.io/conflict-resolution strategy value is empty, Karmada will not manage this "
        "resource");
  CHECK(message::ManifestNotSynced({"ns", "web"}, "m1", why) ==
        "Failed to create or update resource(ns/web) in member cluster(m1): boom");
  CHECK(message::ManifestNotSynced({"", "cr"}, "m1", why) ==
        "Failed to create or update resource(cr) in member cluster(m1): boom");
  // Where upstream's text says nothing of the cause, it follows behind the whole of that.
  CHECK(message::OverridePolicyNotApplied("override policy(ns/p)", "m1", why) ==
        "Apply override policy(ns/p) for cluster(m1) failed. boom");
  CHECK(message::StatusNotReflected("Deployment", {"ns", "web"}, why) ==
        "Reflect status for object(Deployment/ns/web) failed, err: boom.");
  CHECK(message::HealthNotInterpreted("Deployment", {"ns", "web"}, why) ==
        "Interpret health of object(Deployment/ns/web) failed, err: boom.");
  CHECK(message::HealthInterpreted("Deployment", {"ns", "web"}, false) ==
        "Interpret health of object(Deployment/ns/web) as unhealthy.");
  CHECK(message::UnhealthyBecause("Deployment", {"ns", "web"}, "") ==
        "Interpret health of object(Deployment/ns/web) as unhealthy.");
  CHECK(message::ClusterTainted({}) == "Taint cluster succeed: cluster now does not have taints.");
  CHECK(message::ClusterTainted({{"a", "", "NoSchedule", ""}, {"b", "v", "NoExecute", ""}}) ==
        "Taint cluster succeed: cluster now has taints([{Key:a,Effect:NoSchedule},"
        "{Key:b,Value:v,Effect:NoExecute}]).");
}
