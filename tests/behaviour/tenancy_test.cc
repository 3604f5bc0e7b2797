// Somebody may edit one namespace, by upstream's roles, and tries to reach what is not theirs.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/yaml.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/tenancy_attempts.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kTenant[] = "tenant";

// What upstream's artifacts/deploy/admin-clusterrole-aggregation.yaml lets editors of a namespace
// do. The roles are bound by name: whether a controller aggregates them is not the point here.
constexpr char kRights[] = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules:
  - apiGroups: [autoscaling.karmada.io, multicluster.x-k8s.io, networking.karmada.io]
    resources: ["*"]
    verbs: [create, delete, deletecollection, patch, update, get, list, watch]
  - apiGroups: [policy.karmada.io]
    resources: [overridepolicies, propagationpolicies]
    verbs: [create, delete, deletecollection, patch, update, get, list, watch]
  - apiGroups: [work.karmada.io]
    resources: [resourcebindings, resourcebindings/status, works, works/status]
    verbs: [create, delete, deletecollection, patch, update, get, list, watch]
  - apiGroups: [$VICTIM.example.io]
    resources: ["*"]
    verbs: [create, delete, patch, update, get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: karmada-edit, namespace: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NS}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: edit, namespace: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
)";

constexpr char kSecretYaml[] = R"(
apiVersion: v1
kind: Secret
metadata: {name: pw, namespace: $NS}
stringData: {pw: secret}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";

// An administrator's rule: it takes the namespace of a dependency from the template, which is its
// author's.
constexpr char kNeeds[] = R"(    dependencyInterpretation:
      luaScript: |
        function GetDependencies(o)
          return {
            {apiVersion = "v1", kind = "Secret", namespace = o.spec.namespace, name = "pw"},
            {apiVersion = "v1", kind = "Namespace", name = o.spec.namespace},
          }
        end)";

struct Tenancy {
  ControlPlane plane{{.daemon_flags = {"--controllers=*,hpaScaleTargetMarker"}}};
  const std::string mine = plane.UniqueNamespace("tenant"), victim = plane.UniqueNamespace("other");
  std::string id;

  Tenancy() {
    plane.AddUser(kTenant, kTenant);
    for (const std::string& ns : {mine, victim}) plane.Apply("host", In(ns, kNamespaceYaml));
    plane.ApplyEverywhere(In(victim, Definition("Robot", "robots")));
    plane.Apply("host", In(victim, Customization("Robot", kNeeds)));
    plane.Apply("host", Filled(kRights));
    plane.Apply("host", In(victim, WebDeployment()));
    plane.Apply("host", In(victim, kSecretYaml));
    REQUIRE(plane.Eventually([&] {
      return plane.Exists("member1", kDeployment, {victim, "web"});
    }));
    id = std::string(plane.Get("host", kBinding, {victim, "web-deployment"})
                         ->Label("resourcebinding.karmada.io/permanent-id"));
    plane.AwaitDaemon(mine);
    // The status has come.
    REQUIRE(plane.Settles([&] { return State(); }, absl::Seconds(3)));
  }
  ~Tenancy() {
    plane.Delete("host", kCustomization, {"", victim});
    plane.Delete("host", kClusterRole, {"", mine});
  }
  std::string Filled(const std::string& yaml) const {
    return absl::StrReplaceAll(yaml, {{"$VICTIM", victim}, {"$NS", mine}, {"$ID", id}});
  }
  std::string StateOf(const std::string& cluster, const kube::Gvk& gvk,
                      const kube::ObjectKey& key) {
    const auto object = plane.Get(cluster, gvk, key);
    if (!object) return absl::StrCat(cluster, " ", key.ToString(), ": none\n");
    return absl::StrCat(cluster, " ", object->Describe(), ": ", object->uid(), " ",
                        json::Write(object->labels()), json::Write(object->annotations()),
                        json::Write(object->spec()), object->root()["data"].is_null() ? "" : "data",
                        object->IsDeleting() ? "deleted" : "", "\n");
  }
  // Returns everything that is not the tenant's.
  std::string State() {
    const kube::ObjectKey ns{"", victim}, web{victim, "web"}, pw{victim, "pw"};
    std::string state = StateOf("host", kBinding, {victim, "web-deployment"});
    const auto deployment = plane.Get("host", kDeployment, web);
    if (deployment) absl::StrAppend(&state, json::Write(deployment->status()), "\n");
    for (const std::string cluster : {"host", "member1", "member2"}) {
      absl::StrAppend(&state, StateOf(cluster, kNamespace, ns), StateOf(cluster, kDeployment, web),
                      StateOf(cluster, kSecret, pw),
                      StateOf(cluster, kConfigMap, {victim, "moved"}),
                      StateOf(cluster, kConfigMap, {victim, "stray"}));
    }
    return state;
  }
  // Returns what of the other namespace has come to the tenant.
  std::string Learned() {
    std::string learned = StateOf("member2", kConfigMap, {mine, "claimed"});
    const auto needed = plane.Get("host", kBinding, {mine, "needed-configmap"});
    if (needed) absl::StrAppend(&learned, json::Write(needed->labels()));
    const auto copy = plane.Get("host", kBinding, {mine, "web-deployment"});
    if (copy) absl::StrAppend(&learned, json::Write(copy->annotations()));
    return learned;
  }
  void CheckRefused(const std::string& event) {
    if (event.empty()) return plane.AwaitDaemon(mine);
    const std::vector<std::string> words = absl::StrSplit(event, ' ');
    const kube::Gvk about{"", "", words[0]};
    CHECK(plane.Eventually([&] {
      return absl::StrContains(plane.EventsOn(about, words[1]),
                               absl::StrCat("Warning ", words[2], ":"));
    }));
  }
  absl::Status TryFirst(const std::string& manifest) {
    const auto document = yaml::ParseAll(manifest);
    REQUIRE(document.ok());
    return plane.TryApply(kTenant, kube::Object(document->front()));
  }
  bool IsNotAdmitted(const std::string& manifest) {
    return absl::IsPermissionDenied(TryFirst(manifest));
  }
  // Real servers and Karmada's webhooks know better than the sandbox what some kinds may name.
  bool IsRefusedThere(const std::string& manifest) {
    if (plane.fleet() != nullptr) return false;
    const absl::Status tried = TryFirst(manifest);
    return absl::IsInvalidArgument(tried) ||
           absl::StrContains(tried.message(), "admission webhook");
  }
  void TakeBack(const std::string& yaml) {
    const auto documents = yaml::ParseAll(yaml);
    REQUIRE(documents.ok());
    for (auto d = documents->rbegin(); d != documents->rend(); ++d) {
      const kube::Object object(*d);
      plane.Delete(kTenant, object.gvk(), object.key());
      CHECK(plane.Eventually([&] { return !plane.Exists("host", object.gvk(), object.key()); }));
    }
  }
};

}  // namespace

TEST_CASE("An editor of one namespace reaches nothing that is not theirs") {
  Tenancy t;
  const std::string before = t.State();
  for (const Attempt& attempt : Attempts()) {
    INFO(attempt.kind << " " << attempt.field << ": " << attempt.what);
    const std::string manifest = t.Filled(attempt.manifest);
    const bool by_admission = attempt.event == absl::string_view("admission");
    if (by_admission && t.IsNotAdmitted(manifest)) continue;
    // The webhook of Karmada v1.16 sets the namespace instead.
    if (by_admission) CHECK(t.plane.fleet() == nullptr);
    if (t.IsRefusedThere(manifest)) continue;
    t.plane.Apply(kTenant, manifest);
    t.CheckRefused(by_admission ? "" : attempt.event);
    const std::string learned = t.Learned();
    CHECK(absl::StrContains(learned, "none"));
    CHECK_FALSE(absl::StrContains(learned, t.id));
    CHECK_FALSE(absl::StrContains(learned, "resourcebinding.karmada.io/dependencies"));
    CHECK(t.State() == before);
    t.TakeBack(manifest);
    t.plane.AwaitDaemon(t.mine);
    CHECK(t.State() == before);
  }
}

}  // namespace tests
