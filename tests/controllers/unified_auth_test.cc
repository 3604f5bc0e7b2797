#include "controllers/unified_auth/register.h"
#include "controllers/unified_auth/unified_auth_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/names.h"
#include "api/reasons.h"
#include "controllers/unified_auth/impersonation.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/passes.h"

namespace {

using tests::Parse;

TEST_CASE("a rule for each kind of subject lists each name once and in order") {
  CHECK(controllers::ImpersonationRules({}).is_null());
  const std::vector<api::Subject> nobody = {{"Robot", "r2"}};
  CHECK(controllers::ImpersonationRules(nobody).is_null());
  const std::vector<api::Subject> subjects = {{"Group", "dev"},
                                              {"User", "bob"},
                                              {"User", "alice"},
                                              {"User", "bob"},
                                              {"ServiceAccount", "bot"}};
  CHECK(controllers::ImpersonationRules(subjects) == tests::Json(R"([
      {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"],
       "resourceNames": ["alice", "bob"]},
      {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["serviceaccounts"],
       "resourceNames": ["bot"]},
      {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["groups"],
       "resourceNames": ["dev"]}])"));
}

kube::Object ClusterOf(const std::string& name, const std::string& impersonator_namespace) {
  kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", name});
  cluster.Set({"metadata", "uid"}, name + "-uid");
  if (impersonator_namespace.empty()) return cluster;
  cluster.Set({"spec", "impersonatorSecretRef"},
              json::Value::Object({{"namespace", impersonator_namespace}, {"name", "secret"}}));
  return cluster;
}

kube::Object ExecutionNamespaceOf(const std::string& cluster) {
  return kube::Object::Make(api::Namespaces().gvk, {"", api::ExecutionNamespace(cluster)});
}

// `clusters` is a list of names in JSON; "" stands for all clusters.
kube::Object Role(const std::string& name, const std::string& clusters) {
  return Parse(absl::StrCat(
      R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
          "metadata": {"name": ")",
      name, R"("}, "rules": [{"apiGroups": ["cluster.karmada.io"], "verbs": ["*"],
          "resources": ["clusters/proxy"])",
      clusters.empty() ? "" : ", \"resourceNames\": " + clusters, "}]}"));
}

kube::Object Binding(const std::string& role, const std::string& user) {
  return Parse(absl::StrCat(
      R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
          "metadata": {"name": ")",
      role, R"("}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
          "name": ")",
      role, R"("}, "subjects": [{"kind": "User", "name": ")", user, R"("}]})"));
}

TEST_CASE("who has access to a cluster follows from all roles and their bindings") {
  const controllers::ClusterAccess::Objects roles = {
      kube::Share(Role("all", "")), kube::Share(Role("some", R"(["m1", "m2"])")),
      kube::Share(Role("one", R"(["m2"])")), kube::Share(Role("unbound", R"(["m1"])"))};
  const controllers::ClusterAccess::Objects bindings = {
      kube::Share(Binding("all", "root")), kube::Share(Binding("some", "alice")),
      kube::Share(Binding("one", "bob")), kube::Share(Binding("gone", "eve"))};
  const controllers::ClusterAccess access(roles, bindings);
  const auto names = [&](absl::string_view cluster) {
    std::vector<std::string> found;
    for (const api::Subject& subject : access.SubjectsFor(cluster)) found.push_back(subject.name);
    return absl::StrJoin(found, " ");
  };
  CHECK(names("m1") == "root alice");
  CHECK(names("m2") == "root alice bob");
  CHECK(names("m3") == "root");
}

// The Works of clusters, as the reconciler and the loop leave them on the server.
class Fixture : public tests::LoopsFixture {
 public:
  Fixture() {
    Make();
    Sync({api::Clusters(), api::Namespaces(), api::Works(), api::ClusterRoles(),
          api::ClusterRoleBindings()});
    for (const char* name : {"m1", "m2"}) {
      PutCached(api::Clusters(), ClusterOf(name, "karmada-cluster"));
      PutCached(api::Namespaces(), ExecutionNamespaceOf(name));
    }
  }
  kube::ObjectKey KeyOf(const std::string& cluster, const std::string& kind) {
    return {api::ExecutionNamespace(cluster), api::WorkName(kind, "karmada-impersonator", "")};
  }
  kube::Object ManifestFor(const std::string& cluster, const std::string& kind) {
    const kube::Object work = server->Find(api::Works(), KeyOf(cluster, kind));
    return kube::Object(work.Get({"spec", "workload", "manifests"}).At(0));
  }
  // Returns who may be impersonated in m1 and in m2: "alice,bob | alice".
  std::string Users() {
    std::vector<std::string> texts;
    for (const char* cluster : {"m1", "m2"}) {
      std::vector<std::string> names;
      const kube::Object role = ManifestFor(cluster, "ClusterRole");
      for (const json::Value& name : role.Get({"rules"}).At(0)["resourceNames"].items()) {
        names.push_back(name.ToString());
      }
      texts.push_back(absl::StrJoin(names, ","));
    }
    return absl::StrJoin(texts, " | ");
  }
};

struct ReconcilerFixture : Fixture {
  std::optional<controllers::UnifiedAuthReconciler> reconciler{*manager};
  absl::Status Reconcile(const std::string& cluster) {
    return reconciler->Reconcile({.key = {"", cluster}}, {}).status();
  }
};

TEST_CASE_METHOD(ReconcilerFixture,
                 "a cluster gets a ClusterRole and its binding, which belong to the Cluster") {
  PutCached(api::ClusterRoles(), Role("to-m1", R"(["m1"])"));
  PutCached(api::ClusterRoleBindings(), Binding("to-m1", "alice"));
  REQUIRE(Reconcile("m1").ok());
  REQUIRE(server->All(api::Works()).size() == 2);
  for (const kube::Object& work : server->All(api::Works())) {
    CHECK(work.HasFinalizer(api::kExecutionFinalizer));
    CHECK(work.OwnerRefs().at(0).uid == "m1-uid");
    CHECK_FALSE(work.spec().Has("suspendDispatching"));
  }
  CHECK(ManifestFor("m1", "ClusterRole").Label(api::kSystemLabel) == "true");
  CHECK(Users() == "alice | ");
  const kube::Object binding = ManifestFor("m1", "ClusterRoleBinding");
  CHECK(binding.Get({"roleRef"}) == tests::Json(R"({"apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole", "name": "karmada-impersonator"})"));
  CHECK(binding.Get({"subjects"}) == tests::Json(R"([{"kind": "ServiceAccount",
      "name": "karmada-impersonator", "namespace": "karmada-cluster"}])"));
  CHECK(recorded->All() == std::vector<std::string>{"Normal SyncImpersonationConfigSucceed "
                                                    "Cluster: Sync impersonation config succeed."});

  const size_t calls = server->Calls();
  REQUIRE(Reconcile("m1").ok());
  CHECK(server->Calls() == calls);
  CHECK(recorded->All().size() == 1);
}

// Works as upstream v1.18.2 writes them; a list without items is null there.
TEST_CASE_METHOD(ReconcilerFixture, "Works that upstream has made are taken over without a write") {
  const bool has_users = GENERATE(true, false);
  if (has_users) {
    PutCached(api::ClusterRoles(), Role("to-m1", R"(["m1"])"));
    PutCached(api::ClusterRoleBindings(), Binding("to-m1", "alice"));
  }
  constexpr char kWork[] = R"({
    "apiVersion": "work.karmada.io/v1alpha1", "kind": "Work",
    "metadata": {"namespace": "karmada-es-m1", "name": "$WORK",
        "finalizers": ["karmada.io/execution-controller"],
        "labels": {"work.karmada.io/permanent-id": "id"},
        "ownerReferences": [{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
            "name": "m1", "uid": "m1-uid", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"workload": {"manifests": [{
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "$KIND",
        "metadata": {"name": "karmada-impersonator",
            "annotations": {
                "resourcetemplate.karmada.io/managed-annotations": "resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels,resourcetemplate.karmada.io/uid,work.karmada.io/name,work.karmada.io/namespace",
                "resourcetemplate.karmada.io/managed-labels": "karmada.io/managed,karmada.io/system,work.karmada.io/permanent-id",
                "resourcetemplate.karmada.io/uid": "",
                "work.karmada.io/name": "$WORK", "work.karmada.io/namespace": "karmada-es-m1"},
            "labels": {"karmada.io/managed": "true", "karmada.io/system": "true",
                       "work.karmada.io/permanent-id": "id"}},
        $CONTENT}]}}})";
  const std::string rules = has_users ? R"([{"verbs": ["impersonate"], "apiGroups": [""],
      "resources": ["users"], "resourceNames": ["alice"]}])"
                                      : "null";
  PutCached(api::Works(),
            Parse(absl::StrReplaceAll(kWork, {{"$WORK", KeyOf("m1", "ClusterRole").name},
                                              {"$KIND", "ClusterRole"},
                                              {"$CONTENT", "\"rules\": " + rules}})));
  PutCached(
      api::Works(),
      Parse(absl::StrReplaceAll(
          kWork, {{"$WORK", KeyOf("m1", "ClusterRoleBinding").name},
                  {"$KIND", "ClusterRoleBinding"},
                  {"$CONTENT",
                   R"("roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                           "name": "karmada-impersonator"},
               "subjects": [{"kind": "ServiceAccount", "name": "karmada-impersonator",
                             "namespace": "karmada-cluster"}])"}})));
  const size_t calls = server->Calls();
  REQUIRE(Reconcile("m1").ok());
  CHECK(server->Calls() == calls);
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(ReconcilerFixture,
                 "a cluster without impersonator, or on its way out, is let be") {
  kube::Object cluster = ClusterOf("m1", GENERATE("", "karmada-cluster"));
  if (cluster.spec().Has("impersonatorSecretRef")) {
    cluster.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  }
  PutCached(api::Clusters(), cluster);
  REQUIRE(Reconcile("m1").ok());
  REQUIRE(Reconcile("gone").ok());
  CHECK(server->All(api::Works()).empty());
}

TEST_CASE_METHOD(ReconcilerFixture, "a Work that is refused does not keep back the other one") {
  server->FailNext("POST", 403, "Forbidden");
  const absl::Status failed = Reconcile("m1");
  CHECK(absl::IsPermissionDenied(failed));
  CHECK(server->All(api::Works()).size() == 1);
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning SyncImpersonationConfigFailed Cluster: the Work of ClusterRole "
                         "karmada-impersonator for cluster m1: "));
  REQUIRE(Reconcile("m1").ok());
  CHECK(server->All(api::Works()).size() == 2);
  CHECK(absl::StartsWith(recorded->All()[1], "Normal SyncImpersonationConfigSucceed"));
}

struct LoopFixture : Fixture {
  LoopFixture() {
    REQUIRE(controllers::RegisterUnifiedAuth(Context(), 1).ok());
    PutCached(api::ClusterRoles(), Role("to-m1", R"(["m1", "nowhere"])"));
    PutCached(api::ClusterRoleBindings(), Binding("to-m1", "alice"));
    Start();
    REQUIRE(Becomes("alice | "));
  }
  bool Becomes(const std::string& users) {
    return tests::Eventually([&] { return Users() == users; });
  }
};

TEST_CASE_METHOD(LoopFixture, "clusters follow roles and bindings that come, change and go") {
  PutCached(api::ClusterRoleBindings(), Binding("to-m1", "bob"));
  CHECK(Becomes("bob | "));
  PutCached(api::ClusterRoleBindings(), Binding("to-all", "carol"));  // Its role comes later.
  PutCached(api::ClusterRoles(), Role("to-all", ""));
  CHECK(Becomes("bob,carol | carol"));
  PutCached(api::ClusterRoles(), Role("to-all", R"(["m2"])"));
  CHECK(Becomes("bob | carol"));
  SECTION("a binding goes") {
    server->Erase(api::ClusterRoleBindings(), {"", "to-m1"});
    CHECK(Becomes(" | carol"));
  }
  SECTION("a role goes, and its binding stays") {
    server->Erase(api::ClusterRoles(), {"", "to-all"});
    CHECK(Becomes("bob | "));
  }
  SECTION("a role goes, and its binding with it") {
    server->Erase(api::ClusterRoles(), {"", "to-m1"});
    server->Erase(api::ClusterRoleBindings(), {"", "to-m1"});
    CHECK(Becomes(" | carol"));
  }
}

TEST_CASE_METHOD(LoopFixture, "a Work that somebody changes or deletes is put right") {
  const kube::ObjectKey key = KeyOf("m1", "ClusterRole");
  SECTION("changed") {
    kube::Object work = server->Find(api::Works(), key);
    work.Set({"spec", "workload", "manifests"}, json::Value::Array({tests::Json("{}")}));
    work.Set({"metadata", "generation"}, work.generation() + 1);
    server->Put(api::Works(), work);
  }
  SECTION("deleted") { server->Erase(api::Works(), key); }
  CHECK(tests::Eventually([&] { return Users() == "alice | "; }));
}

TEST_CASE_METHOD(LoopFixture, "a cluster that joins waits for its execution namespace") {
  PutCached(api::ClusterRoles(), Role("to-m1", R"(["m3"])"));
  PutCached(api::Clusters(), ClusterOf("m3", "karmada-cluster"));
  PutCached(api::Namespaces(), ExecutionNamespaceOf("m3"));
  CHECK(tests::Eventually([&] {
    return ManifestFor("m3", "ClusterRole").Get({"rules"}).At(0)["resourceNames"] ==
           tests::Json(R"(["alice"])");
  }));
  CHECK(tests::Passes(registry, api::kUnifiedAuthController, "error") == 0);
}

TEST_CASE_METHOD(LoopFixture, "another ServiceAccount in the Cluster gets the rules") {
  PutCached(api::Clusters(), ClusterOf("m1", "elsewhere"));
  CHECK(tests::Eventually([&] {
    return ManifestFor("m1", "ClusterRoleBinding").Get({"subjects"}).At(0)["namespace"] ==
           json::Value("elsewhere");
  }));
}

}  // namespace
