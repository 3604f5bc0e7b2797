#include "sandbox/sim/karmada_admission.h"

#include <catch2/catch.hpp>

#include "api/keys.h"
#include "tests/sandbox/sim/sim_cluster.h"

namespace sandbox {
namespace {

const tests::FakeClock& Clock() {
  static const auto& clock = *new tests::FakeClock;
  return clock;
}

AdmissionRequest RequestFor(const kube::Object& object, const char* verb) {
  AdmissionRequest request;
  request.verb = verb;
  request.resource.gvk = object.gvk();
  return request;
}

absl::Status Admit(kube::Object& object, const char* verb = Verbs::kCreate,
                   const kube::Object& before = {}) {
  AdmissionRequest request = RequestFor(object, verb);
  request.old_object = before;
  return KarmadaAdmission(Clock())(request, object);
}

absl::Status AdmitAs(config::Release release, kube::Object& object) {
  return KarmadaAdmission(Clock(), release)(RequestFor(object, Verbs::kCreate), object);
}

kube::Object Policy(const std::string& spec, const std::string& kind = "PropagationPolicy") {
  kube::Object policy = kube::Object::Make({"policy.karmada.io", "v1alpha1", kind},
                                           {kind == "PropagationPolicy" ? "default" : "", "p"});
  policy.Set({"spec"}, Json(spec));
  return policy;
}

constexpr char kSelector[] =
    R"("resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}])";

std::string Spec(const std::string& rest) { return absl::StrCat("{", kSelector, ", ", rest, "}"); }

TEST_CASE("a new policy gets its own id, its finalizer and its namespace in selectors") {
  kube::Object policy = Policy(Spec(R"("placement": {})"));
  policy.SetLabel(api::kPropagationPolicyIdLabel, "stolen");
  REQUIRE(Admit(policy).ok());
  CHECK(policy.Label(api::kPropagationPolicyIdLabel).size() == 36);
  CHECK(policy.HasFinalizer(api::kPropagationPolicyFinalizer));
  CHECK(policy.spec()["resourceSelectors"].At(0)["namespace"].ToString() == "default");

  kube::Object cluster_policy = Policy(Spec(R"("placement": {})"), "ClusterPropagationPolicy");
  REQUIRE(Admit(cluster_policy).ok());
  CHECK(cluster_policy.Label(api::kClusterPropagationPolicyIdLabel).size() == 36);
  CHECK(cluster_policy.HasFinalizer(api::kClusterPropagationPolicyFinalizer));
  CHECK(cluster_policy.spec()["resourceSelectors"].At(0)["namespace"].is_null());
}

TEST_CASE("an updated policy keeps its id and gets no finalizer back") {
  kube::Object before = Policy(Spec(R"("placement": {})"));
  REQUIRE(Admit(before).ok());
  kube::Object after = before;
  after.RemoveFinalizer(api::kPropagationPolicyFinalizer);
  REQUIRE(Admit(after, Verbs::kUpdate, before).ok());
  CHECK(after.Label(api::kPropagationPolicyIdLabel) ==
        before.Label(api::kPropagationPolicyIdLabel));
  CHECK_FALSE(after.HasFinalizer(api::kPropagationPolicyFinalizer));
}

TEST_CASE("placements are completed") {
  kube::Object policy = Policy(Spec(R"("placement": {
      "replicaScheduling": {"replicaSchedulingType": "Divided"},
      "spreadConstraints": [{"maxGroups": 2}]}, "propagateDeps": true,
      "failover": {"application": {"purgeMode": "Gracefully"}})"));
  REQUIRE(Admit(policy).ok());
  const json::Value& placement = policy.spec()["placement"];
  CHECK(placement["replicaScheduling"]["replicaDivisionPreference"].ToString() == "Weighted");
  CHECK(placement["spreadConstraints"].At(0) ==
        Json(R"({"maxGroups": 2, "minGroups": 1, "spreadByField": "cluster"})"));
  CHECK(policy.Get({"spec", "failover", "application", "gracePeriodSeconds"}).AsInt() == 600);
}

TEST_CASE("a grace period belongs to a graceful purge, for which v1.19 has one word") {
  struct Case {
    const char* application;
    config::Release release;
    int64_t seconds;      // Of the admitted policy.
    const char* refusal;  // "" when it is admitted.
  };
  const auto v18 = config::Release::kV1_18, v19 = config::Release::kV1_19;
  const std::string path = "spec.failover.application.gracePeriodSeconds: Invalid value: ";
  const Case cases[] = {
      {R"({"purgeMode": "Gracefully"})", v18, 600, ""},
      {R"({"purgeMode": "Gracefully"})", v19, 600, ""},
      {R"({"purgeMode": "Graciously"})", v18, 600, ""},
      {R"({"purgeMode": "Graciously"})", v19, 0, ""},  // The schema refuses it.
      {R"({"purgeMode": "Graciously", "gracePeriodSeconds": 5})", v18, 5, ""},
      {R"({"purgeMode": "Graciously", "gracePeriodSeconds": 5})", v19, 0,
       "5: only takes effect when purgeMode is gracefully"},
      {R"({"purgeMode": "Directly", "gracePeriodSeconds": 5})", v18, 0,
       "5: only takes effect when purgeMode is gracefully"},
      {R"({"purgeMode": "Gracefully", "gracePeriodSeconds": 0})", v19, 0,
       "0: must be greater than 0"},
  };
  for (const Case& c : cases) {
    INFO(c.application << " " << config::kReleases.TextOf(c.release));
    kube::Object policy = Policy(Spec(absl::StrCat(
        R"("propagateDeps": true, "failover": {"application": )", c.application, "}")));
    const absl::Status admitted = AdmitAs(c.release, policy);
    CHECK(admitted.ok() == absl::string_view(c.refusal).empty());
    if (admitted.ok()) {
      const auto& grace = policy.Get({"spec", "failover", "application", "gracePeriodSeconds"});
      CHECK(grace.AsInt() == c.seconds);
    } else {
      CHECK_THAT(std::string(admitted.message()), Catch::Contains(path + c.refusal));
    }
  }
}

TEST_CASE("a selector for service imports turns on propagateDeps") {
  kube::Object policy = Policy(R"({"resourceSelectors": [
      {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ServiceImport"}]})");
  REQUIRE(Admit(policy).ok());
  CHECK(policy.spec()["propagateDeps"].AsBool());
}

TEST_CASE("insane policies are refused") {
  const std::string specs[] = {
      Spec(R"("placement": {"clusterAffinity": {}, "clusterAffinities": []})"),
      Spec(R"("placement": {"clusterAffinities": [{"affinityName": "a"}, {"affinityName": "a"}]})"),
      Spec(R"("placement": {"spreadConstraints": [{"spreadByField": "region"}]})"),
      Spec(R"("placement": {"spreadConstraints": [{"minGroups": 3, "maxGroups": 2}]})"),
      Spec(R"("placement": {"spreadConstraints": [{"spreadByField": "cluster"}, {}]})"),
      Spec(R"("placement": {"clusterAffinity": {"fieldSelector": {"matchExpressions": [
          {"key": "planet", "operator": "In"}]}}})"),
      Spec(R"("failover": {"application": {}})"),
      Spec(
          R"("suspension": {"dispatching": true, "dispatchingOnClusters": {"clusterNames": ["a"]}})"),
      Spec(R"("preemption": "Always")"),
      R"({"resourceSelectors": [{"apiVersion": "v1", "kind": "Secret", "namespace": "other"}]})",
  };
  for (const std::string& spec : specs) {
    INFO(spec);
    kube::Object policy = Policy(spec);
    const absl::Status status = Admit(policy);
    CHECK(ErrorOf(status).code == 403);
    CHECK(std::string(status.message())
              .find("admission webhook \"propagationpolicy.karmada.io\" denied the request: ") ==
          0);
  }
}

TEST_CASE("scheduler name and permanent id of a policy are immutable") {
  kube::Object before = Policy(Spec(R"("schedulerName": "default-scheduler")"));
  REQUIRE(Admit(before).ok());
  kube::Object other_scheduler = before;
  other_scheduler.Set({"spec", "schedulerName"}, "mine");
  CHECK(ErrorOf(Admit(other_scheduler, Verbs::kUpdate, before)).code == 403);
  kube::Object other_id = before;
  other_id.SetLabel(api::kPropagationPolicyIdLabel, "x");
  CHECK(ErrorOf(Admit(other_id, Verbs::kUpdate, before)).code == 403);
  kube::Object no_id = before;
  no_id.EraseLabel(api::kPropagationPolicyIdLabel);
  CHECK(ErrorOf(Admit(no_id, Verbs::kUpdate, before)).code == 403);
}

TEST_CASE("a MultiClusterService gets an id, keeps it, and is checked") {
  kube::Object service = kube::Object::Make(
      {"networking.karmada.io", "v1alpha1", "MultiClusterService"}, {"ns", "web"});
  service.Set({"spec"}, Json(R"({"types": ["CrossCluster"], "ports": [{"port": 80}]})"));
  REQUIRE(Admit(service).ok());
  const std::string id(service.Label(api::kMultiClusterServiceIdLabel));
  CHECK(id.size() == 36);
  kube::Object after = service;
  REQUIRE(Admit(after, Verbs::kUpdate, service).ok());
  CHECK(after.Label(api::kMultiClusterServiceIdLabel) == id);
  for (
      const char* spec :
      {R"({"types": ["LoadBalancer"]})", R"({"types": ["CrossCluster", "LoadBalancer"]})",
       R"({"types": ["CrossCluster"], "ports": [{"port": 0}]})",
       R"({"types": ["CrossCluster"], "ports": [{"name": "a", "port": 1}, {"name": "a", "port": 2}]})"}) {
    INFO(spec);
    kube::Object wrong = service;
    wrong.Set({"spec"}, Json(spec));
    CHECK(ErrorOf(Admit(wrong, Verbs::kUpdate, service)).code == 403);
  }
}

TEST_CASE("bindings get an id only when they have none") {
  kube::Object binding =
      kube::Object::Make({"work.karmada.io", "v1alpha2", "ResourceBinding"}, {"default", "b"});
  REQUIRE(Admit(binding).ok());
  CHECK(binding.Label(api::kResourceBindingIdLabel).size() == 36);
  binding.SetLabel(api::kResourceBindingIdLabel, "mine");
  REQUIRE(Admit(binding).ok());
  CHECK(binding.Label(api::kResourceBindingIdLabel) == "mine");
  binding.SetAnnotation(api::kDependenciesAnnotation, "{not json");
  CHECK(ErrorOf(Admit(binding, Verbs::kUpdate, binding)).code == 403);

  kube::Object cluster_binding =
      kube::Object::Make({"work.karmada.io", "v1alpha2", "ClusterResourceBinding"}, {"", "b"});
  REQUIRE(Admit(cluster_binding).ok());
  CHECK(cluster_binding.Label(api::kClusterResourceBindingIdLabel).size() == 36);
}

TEST_CASE(
    "a work's manifests are pruned and list their managed labels and annotations, only once") {
  kube::Object work =
      kube::Object::Make({"work.karmada.io", "v1alpha1", "Work"}, {"karmada-es-m", "w"});
  work.Set({"spec", "workload", "manifests"}, Json(R"([{
      "apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "web", "uid": "u", "generation": 3, "resourceVersion": "9",
                   "ownerReferences": [], "finalizers": ["x"],
                   "labels": {"b": "1", "a": "2"},
                   "annotations": {"deployment.kubernetes.io/revision": "1", "note": "n"}},
      "status": {"replicas": 1}}])"));
  REQUIRE(Admit(work).ok());
  const std::string id(work.Label(api::kWorkIdLabel));
  CHECK(id.size() == 36);
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  CHECK(manifest.status().is_null());
  CHECK(manifest.metadata().members().size() == 3);  // name, labels, annotations
  CHECK(manifest.Label(api::kWorkIdLabel) == id);
  CHECK(manifest.Annotation(api::kManagedLabelsAnnotation) == "a,b,work.karmada.io/permanent-id");
  CHECK(manifest.Annotation(api::kManagedAnnotationsAnnotation) ==
        "note,resourcetemplate.karmada.io/managed-annotations,"
        "resourcetemplate.karmada.io/managed-labels");
  const kube::Object once = work;
  REQUIRE(Admit(work, Verbs::kUpdate, once).ok());
  CHECK(work == once);
}

TEST_CASE("pruning knows what each kind's API server fills in") {
  struct Case {
    const char* name;
    const char* manifest;
    const char* pruned;
  };
  const Case cases[] = {
      {"Job", R"({"kind": "Job", "spec": {"ttlSecondsAfterFinished": 9,
           "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u", "x": "y"}},
           "template": {"metadata": {"labels": {"controller-uid": "u", "job-name": "j", "x": "y"}}}}})",
       R"({"kind": "Job", "spec": {"selector": {"matchLabels": {"x": "y"}},
           "template": {"metadata": {"labels": {"x": "y"}}}}})"},
      {"Job with its own selector",
       R"({"kind": "Job", "spec": {"manualSelector": true,
           "selector": {"matchLabels": {"controller-uid": "u"}}}})",
       R"({"kind": "Job", "spec": {"manualSelector": true,
           "selector": {"matchLabels": {"controller-uid": "u"}}}})"},
      {"Service",
       R"({"kind": "Service", "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"]}})",
       R"({"kind": "Service", "spec": {}})"},
      {"headless Service", R"({"kind": "Service", "spec": {"clusterIP": "None"}})",
       R"({"kind": "Service", "spec": {"clusterIP": "None"}})"},
      {"ServiceAccount",
       R"({"kind": "ServiceAccount", "metadata": {"name": "a"},
           "secrets": [{"name": "a-token-x"}, {"name": "pull"}]})",
       R"({"kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{"name": "pull"}]})"},
      {"token Secret",
       R"({"kind": "Secret", "type": "kubernetes.io/service-account-token", "data": {"token": "eA=="},
           "metadata": {"annotations": {"kubernetes.io/service-account.uid": "u", "x": "y"}}})",
       R"({"kind": "Secret", "type": "kubernetes.io/service-account-token", "data": null,
           "metadata": {"annotations": {"x": "y"}}})"},
      {"ConfigMap", R"({"kind": "ConfigMap", "data": {"status": "x"}, "status": 1})",
       R"({"kind": "ConfigMap", "data": {"status": "x"}})"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    json::Value manifest = Json(c.manifest);
    PruneManifest(manifest);
    CHECK(json::Write(manifest) == json::Write(Json(c.pruned)));
  }
}

TEST_CASE("clusters get resource models, zones and taint times") {
  kube::Object cluster =
      kube::Object::Make({"cluster.karmada.io", "v1alpha1", "Cluster"}, {"", "m"});
  cluster.Set({"spec"}, Json(R"({"zone": "z1", "taints": [
      {"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoSchedule"}]})"));
  REQUIRE(Admit(cluster).ok());
  CHECK(cluster.spec()["zones"] == Json(R"(["z1"])"));
  CHECK(cluster.spec()["zone"].is_null());
  CHECK(cluster.spec()["taints"].At(0)["timeAdded"].is_string());
  CHECK(cluster.spec()["taints"].At(1)["timeAdded"].is_null());
  const json::Value& models = cluster.spec()["resourceModels"];
  REQUIRE(models.size() == 9);
  CHECK(models.At(0) == Json(R"({"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": "1"},
                                                       {"name": "memory", "min": "0", "max": "4Gi"}]})"));
  CHECK(models.At(8)["ranges"].At(1) ==
        Json(R"({"name": "memory", "min": "1Ti", "max": "9223372036854775807"})"));

  kube::Object own = kube::Object::Make({"cluster.karmada.io", "v1alpha1", "Cluster"}, {"", "o"});
  own.Set({"spec", "resourceModels"}, Json(R"([
      {"grade": 1, "ranges": [{"name": "cpu", "min": "2", "max": "4"}]},
      {"grade": 0, "ranges": [{"name": "cpu", "min": "1", "max": "2"}]}])"));
  REQUIRE(Admit(own).ok());
  CHECK(own.spec()["resourceModels"].At(0)["ranges"].At(0)["min"].ToString() == "0");
  CHECK(own.spec()["resourceModels"].At(1)["ranges"].At(0)["max"].ToString() ==
        "9223372036854775807");
}

TEST_CASE("a FederatedHPA gets a minimum, a metric, and all rules of its behavior") {
  kube::Object hpa = kube::Object::Make({"autoscaling.karmada.io", "v1alpha1", "FederatedHPA"},
                                        {"default", "web"});
  hpa.Set({"spec"}, Json(R"({"maxReplicas": 9})"));
  REQUIRE(Admit(hpa).ok());
  CHECK(hpa.spec() == Json(R"({"maxReplicas": 9, "minReplicas": 1, "metrics": [
      {"type": "Resource", "resource": {"name": "cpu",
       "target": {"type": "Utilization", "averageUtilization": 80}}}]})"));
  hpa.Set({"spec", "behavior"},
          Json(R"({"scaleDown": {"selectPolicy": "Min", "tolerance": "10m"}})"));
  REQUIRE(Admit(hpa, Verbs::kUpdate).ok());
  CHECK(hpa.spec()["behavior"] == Json(R"({
      "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [
          {"type": "Pods", "value": 4, "periodSeconds": 15},
          {"type": "Percent", "value": 100, "periodSeconds": 15}]},
      "scaleDown": {"selectPolicy": "Min", "policies": [
          {"type": "Percent", "value": 100, "periodSeconds": 15}]}})"));
}

TEST_CASE("protected objects of any kind are not deleted") {
  kube::Object object = kube::Object::Make({"", "v1", "Namespace"}, {"", "prod"});
  CHECK(Admit(object, Verbs::kDelete).ok());
  object.SetLabel(api::kDeletionProtectedLabel, "Sometimes");
  CHECK(Admit(object, Verbs::kDelete).ok());
  object.SetLabel(api::kDeletionProtectedLabel, "Always");
  const absl::Status status = Admit(object, Verbs::kDelete);
  CHECK(ErrorOf(status).code == 403);
}

}  // namespace
}  // namespace sandbox
