#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "api/cluster.h"
#include "controllers/cluster/cluster_reconciler.h"
#include "controllers/cluster/register.h"
#include "tests/support/loops_fixture.h"

namespace {

using controllers::TaintsFor;
using tests::Json;
using tests::Parse;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr char kNowText[] = "2023-11-14T22:13:20Z";

kube::Object Cluster(const std::string& ready, const std::string& taints = "[]") {
  kube::Object cluster = Parse(R"({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
      "metadata": {"name": "m1"}, "spec": {"syncMode": "Push"}})");
  cluster.Set({"spec", "taints"}, Json(taints));
  if (!ready.empty()) {
    cluster.Set({"status", "conditions"},
                json::Value::Array({json::Value::Object({{"type", "Ready"}, {"status", ready}})}));
  }
  return cluster;
}

// Returns "key:effect" of each wanted taint; "same" when nothing has to change.
std::vector<std::string> Wanted(const kube::Object& cluster) {
  const auto taints = TaintsFor(api::ClusterView(cluster), kNow);
  if (!taints.has_value()) return {"same"};
  std::vector<std::string> names;
  for (const api::Taint& t : *taints) names.push_back(t.key + ":" + t.effect);
  return names;
}

constexpr char kNotReady[] =
    R"({"key": "cluster.karmada.io/not-ready", "effect": "NoSchedule", "timeAdded": "2020-01-01T00:00:00Z"})";
constexpr char kUnreachable[] =
    R"({"key": "cluster.karmada.io/unreachable", "effect": "NoSchedule"})";
constexpr char kTheirs[] = R"({"key": "team", "value": "x", "effect": "NoExecute"})";

TEST_CASE("taints follow the Ready condition") {
  using Names = std::vector<std::string>;
  const std::string not_ready = absl::StrCat("[", kNotReady, "]");
  const std::string unreachable = absl::StrCat("[", kUnreachable, "]");
  const Names none, tainted = {"cluster.karmada.io/not-ready:NoSchedule"},
                    silent = {"cluster.karmada.io/unreachable:NoSchedule"}, same = {"same"};
  CHECK(Wanted(Cluster("True")) == same);
  CHECK(Wanted(Cluster("True", not_ready)) == none);
  CHECK(Wanted(Cluster("True", unreachable)) == none);
  CHECK(Wanted(Cluster("False")) == tainted);
  CHECK(Wanted(Cluster("False", not_ready)) == same);
  CHECK(Wanted(Cluster("False", unreachable)) == tainted);
  CHECK(Wanted(Cluster("Unknown")) == silent);
  CHECK(Wanted(Cluster("Unknown", not_ready)) == silent);
  CHECK(Wanted(Cluster("Unknown", unreachable)) == same);
  CHECK(Wanted(Cluster("")) == tainted);
}

TEST_CASE("a new taint is stamped, other taints stay as they are") {
  const kube::Object cluster = Cluster("False", absl::StrCat("[", kTheirs, "]"));
  const auto taints = TaintsFor(api::ClusterView(cluster), kNow);
  REQUIRE(taints.has_value());
  REQUIRE(taints->size() == 2);
  CHECK((*taints)[0].ToJson() == Json(kTheirs));
  CHECK((*taints)[1].time_added == kNowText);
}

TEST_CASE("a taint of the same key and another effect is another taint") {
  CHECK(Wanted(
            Cluster("False", R"([{"key": "cluster.karmada.io/not-ready", "effect": "NoExecute"}])"))
            .size() == 2);
}

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::ClusterReconciler> reconciler;
  Fixture() {
    Make();
    REQUIRE(controllers::RegisterCluster(Context(), 1).ok());
    reconciler.emplace(*manager);
    Sync({api::Clusters(), api::Namespaces(), api::Works(), api::ResourceBindings(),
          api::ClusterResourceBindings(), api::Leases()});
  }
  kube::Object Stored() const { return server->Find(api::Clusters(), {"", "m1"}); }
  absl::StatusOr<kube::Action> Reconcile() {
    return reconciler->Reconcile({.key = {"", "m1"}}, {});
  }
  bool HasNamespace() const {
    return !server->Find(api::Namespaces(), {"", "karmada-es-m1"}).empty();
  }
  // Returns a binding that is in m1.
  static kube::Object Binding(const std::string& name) {
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"ns", name});
    binding.Set({"spec", "resource"}, Json(R"({"apiVersion": "v1", "kind": "ConfigMap",
                                               "namespace": "ns", "name": "config"})"));
    binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
    return binding;
  }
  kube::Object Deleting(const char* mode = "Push") {
    kube::Object cluster = Cluster("True");
    cluster.Set({"spec", "syncMode"}, mode);
    cluster.AddFinalizer(api::kClusterFinalizer);
    cluster.Set({"metadata", "deletionTimestamp"}, kNowText);
    return cluster;
  }
};

TEST_CASE_METHOD(Fixture, "a new cluster gets its namespace, its taint and the finalizer") {
  PutCached(api::Clusters(), Cluster(""));
  REQUIRE(Reconcile().ok());
  CHECK(server->Find(api::Namespaces(), {"", "karmada-es-m1"}).Label(api::kSystemLabel) == "true");
  CHECK(Stored().spec()["taints"].At(0)["key"].AsString() == "cluster.karmada.io/not-ready");
  CHECK(Stored().HasFinalizer(api::kClusterFinalizer));
  CHECK(
      recorded->All() ==
      std::vector<std::string>{
          "Normal CreateExecutionSpaceSucceed Cluster: Created execution space(karmada-es-m1) for "
          "cluster(m1).",
          "Normal TaintClusterSucceed Cluster: Taint cluster succeed: cluster now has "
          "taints([{Key:cluster.karmada.io/not-ready,Effect:NoSchedule}])."});
}

TEST_CASE_METHOD(Fixture, "a cluster that is as it should be is not written") {
  PutCached(api::Clusters(), Cluster("True"));
  REQUIRE(Reconcile().ok());
  const size_t before = server->Calls();
  REQUIRE(Reconcile().ok());
  CHECK(server->Calls() == before);
}

TEST_CASE_METHOD(Fixture, "a cluster that has recovered loses its taint, with an event") {
  kube::Object cluster = Cluster("True", absl::StrCat("[", kNotReady, ",", kTheirs, "]"));
  PutCached(api::Clusters(), cluster);
  REQUIRE(Reconcile().ok());
  CHECK(Stored().spec()["taints"] == Json(absl::StrCat("[", kTheirs, "]")));
}

TEST_CASE_METHOD(Fixture, "taking the last taint away does not erase one that was just added") {
  PutCached(api::Clusters(), Cluster("True"));
  REQUIRE(Reconcile().ok());  // Creates namespace and finalizer.
  server->Block("WATCH");
  kube::Object cluster = Stored();
  cluster.Set({"spec", "taints"}, Json(absl::StrCat("[", kNotReady, "]")));
  PutCached(api::Clusters(), cluster);
  server->EndWatches(absl::OkStatus());  // From here on the cache does not change.
  cluster.Set({"spec", "taints"}, Json(absl::StrCat("[", kNotReady, ",", kTheirs, "]")));
  server->Put(api::Clusters(), cluster);

  CHECK(absl::IsAborted(Reconcile().status()));
  CHECK(Stored().spec()["taints"].size() == 2);
}

TEST_CASE_METHOD(Fixture, "an unjoined cluster waits for its namespace and its bindings") {
  PutCached(api::Namespaces(), kube::Object::Make(api::Namespaces().gvk, {"", "karmada-es-m1"}));
  kube::Object binding = Binding("b");
  PutCached(api::ResourceBindings(), binding);
  PutCached(api::Clusters(), Deleting());

  auto action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() == absl::Seconds(10));
  CHECK_FALSE(HasNamespace());
  CHECK(recorded->All() == std::vector<std::string>{"Normal RemoveExecutionSpaceSucceed Cluster: "
                                                    "Removed execution space for cluster(m1)."});
  action = Reconcile();  // The namespace is gone, but the binding still names the cluster.
  REQUIRE(action.ok());
  CHECK(action->delay() == absl::Seconds(10));
  CHECK(Stored().HasFinalizer(api::kClusterFinalizer));

  binding.Set({"spec", "clusters"}, Json(R"([{"name": "m2"}])"));
  binding.Set({"spec", "requiredBy"}, Json(R"([{"clusters": [{"name": "m1"}]}])"));
  PutCached(api::ResourceBindings(), binding);
  action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->kind() == kube::Action::Kind::kDone);
  CHECK_FALSE(Stored().HasFinalizer(api::kClusterFinalizer));
}

TEST_CASE_METHOD(Fixture, "an unjoin that does not end says what it waits for") {
  const auto event = [&] {
    const std::vector<std::string> all = recorded->All();
    return all.empty() ? "" : all.back();
  };
  kube::Object ns = kube::Object::Make(api::Namespaces().gvk, {"", "karmada-es-m1"});
  ns.AddFinalizer("example.com/stays");
  PutCached(api::Namespaces(), ns);
  kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "w"});
  work.AddFinalizer(api::kExecutionFinalizer);
  PutCached(api::Works(), work);
  PutCached(api::Clusters(), Deleting());
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All().size() == 1);  // That the namespace is being removed.

  clock.Advance(absl::Seconds(30));
  REQUIRE(Reconcile().ok());
  CHECK(absl::StartsWith(event(),
                         "Warning DeletionBlocked Cluster: Cluster m1 is being removed since "
                         "2023-11-14T22:13:20Z, and waits for the end of its execution namespace. "
                         "That still has 1 Work: karmada-es-m1/w. "));
  server->Erase(api::Works(), work.key());
  REQUIRE(tests::Eventually(
      [&] { return manager->cluster().Find(api::Works(), work.key()) == nullptr; }));
  REQUIRE(Reconcile().ok());
  CHECK(absl::StrContains(event(), "It has no Works; status.conditions of the namespace say"));

  server->Erase(api::Namespaces(), ns.key());
  REQUIRE(tests::Eventually(
      [&] { return manager->cluster().Find(api::Namespaces(), ns.key()) == nullptr; }));
  for (int i = 0; i < 6; ++i) {
    kube::Object binding = Binding(absl::StrCat("b", i));
    if (i < 5) binding.SetLabel(api::kPropagationPolicyIdLabel, "policy");
    PutCached(api::ResourceBindings(), binding);
  }
  REQUIRE(Reconcile().ok());
  CHECK(absl::StrContains(event(), "and waits for 6 bindings: ns/b"));
  CHECK(absl::StrContains(event(), ", .... The scheduler takes a cluster"));
  CHECK(absl::StrContains(event(), " No policy selects 1 binding: ns/b5. The scheduler hears"));
  CHECK(Stored().HasFinalizer(api::kClusterFinalizer));
}

TEST_CASE_METHOD(Fixture, "an unjoin does not wait for a binding that is refused, nor writes it") {
  kube::Object binding = Binding("b");
  binding.Set(
      {"spec", "resource"},
      Json(GENERATE(
          as<std::string>(),
          R"({"apiVersion": "v1", "kind": "Secret", "namespace": "other", "name": "s"})",
          R"({"apiVersion": "v1", "kind": "Namespace", "namespace": "ns", "name": "other"})")));
  PutCached(api::ResourceBindings(), binding);
  PutCached(api::Clusters(), Deleting());
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(Stored().HasFinalizer(api::kClusterFinalizer));
  CHECK(server->Find(api::ResourceBindings(), binding.key()).spec() == binding.spec());
}

TEST_CASE_METHOD(Fixture, "what the scheduler leaves in a cluster that is unjoined loses it") {
  const kube::ObjectKey in_ns = {"ns", "b"}, of_cluster = {"", "c"};
  for (const auto& [kind, key] : {std::pair(api::ResourceBindings(), in_ns),
                                  std::pair(api::ClusterResourceBindings(), of_cluster)}) {
    kube::Object binding = kube::Object::Make(kind.gvk, key);
    binding.Set({"spec", "resource"}, Binding("b").spec()["resource"]);
    binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}, {"name": "m2", "replicas": 2}])"));
    PutCached(kind, binding);
  }
  kube::Object cluster = Deleting();
  const auto began = [&](absl::Duration ago) {
    cluster.Set({"metadata", "deletionTimestamp"}, kube::FormatTime(clock.Now() - ago));
    PutCached(api::Clusters(), cluster);
  };
  began(absl::Minutes(14));
  REQUIRE(Reconcile().ok());
  CHECK(server->Requests("PATCH").empty());
  CHECK(absl::StrContains(recorded->All().back(),
                          "What still names it 15 minutes after the removal began loses it then."));

  began(absl::Minutes(15));
  REQUIRE(Reconcile().ok());
  const json::Value left = Json(R"([{"name": "m2", "replicas": 2}])");
  CHECK(server->Find(api::ResourceBindings(), in_ns).spec()["clusters"] == left);
  CHECK(server->Find(api::ClusterResourceBindings(), of_cluster).spec()["clusters"] == left);
  CHECK_FALSE(Stored().HasFinalizer(api::kClusterFinalizer));
  CHECK(absl::StartsWith(recorded->All().back(),
                         "Warning TakenOutOfBindings Cluster: Cluster m1 was taken out of "
                         "spec.clusters of 2 bindings: ns/b, c. The scheduler has not done so "
                         "within 15 minutes"));
}

TEST_CASE_METHOD(Fixture, "an unjoin goes on when the last binding has left, or is gone") {
  const bool deleted = GENERATE(false, true);
  kube::Object binding = Binding("b");
  binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}, {"name": "m2"}])"));
  PutCached(api::ResourceBindings(), binding);
  PutCached(api::Clusters(), Deleting());
  Start();
  // The clock does not move, so the look every ten seconds does not come.
  REQUIRE(tests::Eventually([&] {
    return registry
               .GetCounter("controller_runtime_reconcile_total", "",
                           {{"controller", "cluster-controller"}, {"result", "requeue_after"}})
               .Value() > 0;
  }));
  CHECK(Stored().HasFinalizer(api::kClusterFinalizer));
  if (deleted) {
    server->Erase(api::ResourceBindings(), binding.key());
  } else {
    binding.Set({"spec", "clusters"}, Json(R"([{"name": "m2"}])"));
    server->Put(api::ResourceBindings(), binding);
  }
  CHECK(tests::Eventually([&] { return !Stored().HasFinalizer(api::kClusterFinalizer); }));
}

TEST_CASE_METHOD(Fixture, "Works of a pull cluster that cannot answer are let go, others are not") {
  const bool ready = GENERATE(true, false);
  kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "w"});
  work.AddFinalizer(api::kExecutionFinalizer);
  work.AddFinalizer("example.com/other");
  PutCached(api::Works(), work);
  kube::Object cluster = Deleting("Pull");
  if (!ready) cluster.Erase({"status"});
  PutCached(api::Clusters(), cluster);
  REQUIRE(Reconcile().ok());
  const kube::Object now = server->Find(api::Works(), work.key());
  CHECK(now.HasFinalizer(api::kExecutionFinalizer) == ready);
  CHECK(now.HasFinalizer("example.com/other"));
}

TEST_CASE_METHOD(Fixture, "a failed deletion of the namespace is reported and tried again") {
  PutCached(api::Namespaces(), kube::Object::Make(api::Namespaces().gvk, {"", "karmada-es-m1"}));
  PutCached(api::Clusters(), Deleting());
  server->FailNext("DELETE", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(Reconcile().status()));
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0], "Warning RemoveExecutionSpaceFailed"));
  CHECK(Stored().HasFinalizer(api::kClusterFinalizer));
}

}  // namespace
