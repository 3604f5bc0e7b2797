#include "controllers/cluster_api/cluster_api_reconciler.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/controllers/cluster_api_fixture.h"

namespace {

using controllers::ClusterApiReconciler;
using tests::Eventually;
using tests::Json;
using Fixture = tests::ClusterApiFixture;

bool IsRecheck(const absl::StatusOr<kube::Action>& action) {
  return action.ok() && action->kind() == kube::Action::Kind::kAfter &&
         action->delay() == ClusterApiReconciler::kRecheck;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a provisioned cluster is joined with what karmadactl join makes") {
  tests::FakeApiServer& member = AddWorkload("https://w1", "id-1");
  PutKubeconfig(Kubeconfig("https://w1", ", insecure-skip-tls-verify: true, proxy-url: http://p"));
  PutSource("Provisioned");
  Restart();
  CHECK(IsRecheck(Reconcile()));

  const kube::Object ns = member.Find(api::Namespaces(), {"", "karmada-cluster"});
  CHECK(ns.Label("karmada.io/system") == "true");
  for (const char* account : {"karmada-impersonator", "karmada-w1"}) {
    CHECK(member.Find(tests::kServiceAccounts, {"karmada-cluster", account})
              .Label("karmada.io/system") == "true");
  }
  const kube::ObjectKey role{"", "karmada-controller-manager:karmada-w1"};
  CHECK(member.Find(api::ClusterRoles(), role).Get({"rules"}) ==
        Json(R"([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
                 {"verbs": ["get"], "nonResourceURLs": ["*"]}])"));
  const kube::Object binding = member.Find(api::ClusterRoleBindings(), role);
  CHECK(binding.Get({"roleRef", "name"}).AsString() == role.name);
  CHECK(binding.Get({"subjects"}) == Json(R"([{"kind": "ServiceAccount", "name": "karmada-w1",
                                              "namespace": "karmada-cluster"}])"));

  CHECK(server->Find(api::Namespaces(), {"", "karmada-cluster"}).Label("karmada.io/system") ==
        "true");
  CHECK(Cluster().spec() == Json(R"({"id": "id-1", "syncMode": "Push",
      "apiEndpoint": "https://w1", "insecureSkipTLSVerification": true, "proxyURL": "http://p",
      "secretRef": {"namespace": "karmada-cluster", "name": "w1"},
      "impersonatorSecretRef": {"namespace": "karmada-cluster", "name": "w1-impersonator"}})"));
  CHECK(Secret("w1").Get({"data"}) ==
        Json(absl::StrCat(R"({"token": ")", absl::Base64Escape("token of karmada-w1"),
                          R"(", "caBundle": ")", absl::Base64Escape("authority of id-1"), "\"}")));
  CHECK(Secret("w1-impersonator").Get({"data"}) ==
        Json(absl::StrCat(R"({"token": ")", absl::Base64Escape("token of karmada-impersonator"),
                          "\"}")));
  for (const char* secret : {"w1", "w1-impersonator"}) {
    const kube::OwnerRef owner = Secret(secret).ControllerOwner();
    CHECK(owner.uid == Cluster().uid());
    CHECK(owner.api_version == "cluster.karmada.io/v1alpha1");
    CHECK(owner.block_owner_deletion);
    CHECK(Secret(secret).Label("karmada.io/system") == "true");
  }
  CHECK(recorded->All() == std::vector<std::string>{"Normal JoinClusterSucceed Cluster: "
                                                    "cluster(w1) is joined successfully"});
}

TEST_CASE_METHOD(Fixture, "what has joined is neither written nor contacted again") {
  JoinOne();
  const size_t writes = Writes();
  const int contacts = joins;
  PutKubeconfig(Kubeconfig("https://w1", "", "{token: renewed}"));
  server->Put(api::Clusters(), [&] {  // As an administrator may do.
    kube::Object cluster = Cluster();
    cluster.Set({"spec", "apiEndpoint"}, "https://inside");
    return cluster;
  }());
  REQUIRE(Shows(api::Clusters(), Cluster()));
  Restart();
  CHECK(IsRecheck(Reconcile()));
  CHECK(Writes() == writes);
  CHECK(joins == contacts);
  CHECK(recorded->All().size() == 1);
}

TEST_CASE_METHOD(Fixture,
                 "a cluster that is not provisioned is left alone, whatever it was before") {
  AddWorkload("https://w1", "id-1");
  PutKubeconfig(Kubeconfig("https://w1"));
  PutSource(GENERATE("Provisioning", "Pending", "Failed", "Deleting", ""));
  Restart();
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().empty());
  PutSource("Provisioned");
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Cluster().empty());
  PutSource("Deleting");
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Cluster().empty());
}

TEST_CASE_METHOD(Fixture, "a cluster that is deleted is un-joined, also while nobody runs") {
  JoinOne();
  const bool runs = GENERATE(true, false);
  if (!runs) Forget();
  EraseSource();
  if (!runs) Restart();
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().empty());
  CHECK(LastEvent() ==
        "Normal UnjoinClusterSucceed Cluster: Cluster fleet/w1 of Cluster API was "
        "deleted");
}

TEST_CASE_METHOD(Fixture,
                 "nothing is un-joined because another management cluster does not have it") {
  JoinOne();
  Forget();
  management = std::make_shared<tests::FakeApiServer>();
  Identify(*management, "another one");
  ServeVersions({"v1beta1"});
  Restart();
  CHECK(Reconcile().ok());
  CHECK_FALSE(Cluster().empty());
}

TEST_CASE_METHOD(Fixture,
                 "nothing is un-joined while the management cluster does not have the kind") {
  JoinOne();
  Forget();
  management->Serve({});
  management->Erase(Sources(), {"fleet", "w1"});
  Restart(/*await=*/false);
  const auto action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() == ClusterApiReconciler::kWait);
  CHECK_FALSE(Cluster().empty());
  CHECK_FALSE(watching->Exists({"fleet", "w1"}, {}).ok());
}

TEST_CASE_METHOD(Fixture, "a cluster that only the cache does not have is not un-joined") {
  JoinOne();
  Forget();
  const kube::Object source = management->Find(Sources(), {"fleet", "w1"});
  management->Erase(Sources(), {"fleet", "w1"});
  management->Block("WATCH");
  Restart();
  management->Put(Sources(), source);
  REQUIRE(watching->Find({"fleet", "w1"}) == nullptr);
  CHECK(Reconcile().ok());
  CHECK_FALSE(Cluster().empty());
  management->Unblock();
}

TEST_CASE_METHOD(Fixture, "clusters that others have joined are not touched") {
  AddWorkload("https://w1", "id-1");
  PutKubeconfig(Kubeconfig("https://w1"));
  PutSource("Provisioned");
  PutCached(api::Clusters(), tests::Parse(R"({"apiVersion": "cluster.karmada.io/v1alpha1",
      "kind": "Cluster", "metadata": {"name": "w1"}, "spec": {"syncMode": "Push", "id": "id-1"}})"));
  Restart();
  REQUIRE(Reconcile().ok());
  CHECK(absl::StrContains(LastEvent(),
                          "Warning JoinClusterFailed Cluster: Cluster fleet/w1 of "
                          "Cluster API cannot be joined: there is a cluster of this "
                          "name that was joined in another way"));
  EraseSource();
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Cluster().empty());
  CHECK(Writes() == 0);
  CHECK(joins == 0);
}

TEST_CASE_METHOD(Fixture, "a cluster that a person marks is followed from then on") {
  AddWorkload("https://w1", "id-1");
  PutKubeconfig(Kubeconfig("https://w1"));
  PutSource("Provisioned");
  const std::string id = GENERATE("id-1", "id-2", "");
  kube::Object cluster = tests::Parse(R"({"apiVersion": "cluster.karmada.io/v1alpha1",
      "kind": "Cluster", "metadata": {"name": "w1"}, "spec": {"syncMode": "Push",
      "region": "r", "secretRef": {"namespace": "own", "name": "s", "later": 1}}})");
  if (!id.empty()) cluster.Set({"spec", "id"}, id);
  cluster.SetAnnotation("cluster-api.karmada.io/cluster", "fleet/w1");
  PutCached(api::Clusters(), cluster);
  Restart();
  CHECK(IsRecheck(Reconcile()));
  if (id != "id-1") {
    CHECK(absl::StrContains(LastEvent(), "leads to the cluster with the id id-1"));
    CHECK(Writes() == 0);
    return;
  }
  CHECK(Cluster().spec()["region"].AsString() == "r");
  CHECK(Cluster().spec()["secretRef"]["later"].AsInt() == 1);
  CHECK(server->Find(api::Secrets(), {"own", "s"}).ControllerOwner().uid == Cluster().uid());
  EraseSource();
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().empty());
}

TEST_CASE_METHOD(Fixture, "a join that was interrupted is completed") {
  JoinOne();
  const kube::Object cluster = Cluster();
  const int lost = GENERATE(0, 1, 2, 3);
  CAPTURE(lost);
  if (lost == 0) {  // Nothing but the Secrets.
    for (const char* name : {"w1", "w1-impersonator"}) {
      kube::Object secret = Secret(name);
      secret.Erase({"metadata", "ownerReferences"});
      PutCached(api::Secrets(), secret);
    }
    server->Erase(api::Clusters(), {"", "w1"});
    REQUIRE(Eventually([&] { return informers.Get(api::Clusters())->store().size() == 0; }));
  } else if (lost == 1) {  // The owner of one.
    kube::Object secret = Secret("w1");
    secret.Erase({"metadata", "ownerReferences"});
    PutCached(api::Secrets(), secret);
  } else if (lost == 2) {  // One Secret.
    server->Erase(api::Secrets(), {"karmada-cluster", "w1-impersonator"});
    REQUIRE(Eventually([&] { return informers.Get(api::Secrets())->store().size() == 1; }));
  } else {  // The token.
    kube::Object secret = Secret("w1");
    secret.Erase({"data", "token"});
    PutCached(api::Secrets(), secret);
  }
  Restart();
  REQUIRE(Reconcile().ok());
  CHECK(Cluster().spec() == cluster.spec());
  for (const char* name : {"w1", "w1-impersonator"}) {
    CHECK(Secret(name).ControllerOwner().uid == Cluster().uid());
    CHECK_FALSE(Secret(name).Get({"data", "token"}).AsString().empty());
  }
}

TEST_CASE_METHOD(Fixture, "Secrets that a join left go with the cluster that was to be joined") {
  JoinOne();
  for (const char* name : {"w1", "w1-impersonator"}) {
    kube::Object secret = Secret(name);
    secret.Erase({"metadata", "ownerReferences"});
    PutCached(api::Secrets(), secret);
  }
  PutCached(api::Secrets(), tests::Parse(R"({"apiVersion": "v1", "kind": "Secret",
      "metadata": {"namespace": "karmada-cluster", "name": "w1-other"}})"));
  server->Erase(api::Clusters(), {"", "w1"});
  REQUIRE(Eventually([&] { return informers.Get(api::Clusters())->store().size() == 0; }));
  EraseSource();
  Restart();
  REQUIRE(Reconcile().ok());
  CHECK(Secret("w1").empty());
  CHECK(Secret("w1-impersonator").empty());
  CHECK_FALSE(Secret("w1-other").empty());
}

TEST_CASE_METHOD(Fixture, "a Secret of another cluster is not overwritten") {
  AddWorkload("https://w1", "id-1");
  PutKubeconfig(Kubeconfig("https://w1"));
  PutSource("Provisioned");
  PutCached(api::Secrets(), tests::Parse(R"({"apiVersion": "v1", "kind": "Secret",
      "metadata": {"namespace": "karmada-cluster", "name": "w1-impersonator", "ownerReferences":
        [{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "name":
          "w1-impersonator", "uid": "u", "controller": true}]}})"));
  Restart();
  CHECK(IsRecheck(Reconcile()));
  CHECK(absl::StrContains(LastEvent(), "belongs to Cluster w1-impersonator"));
  CHECK(Cluster().empty());
}
