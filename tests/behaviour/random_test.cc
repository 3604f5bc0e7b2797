// A random walk over templates, policies, members and faults, from a seed. At its end a fresh
// controller manager must find nothing to write, and the members must have what the templates ask
// for. BEHAVIOUR_SEED and BEHAVIOUR_STEPS choose another walk.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/membership.h"
#include "tests/behaviour/walked_objects.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

constexpr const char* kPlacements[] = {"member1", "member2", "member1, member2"};

class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {
    for (const char* stem : {"walk-a", "walk-b"}) {
      namespaces_.push_back(plane_.UniqueNamespace(stem));
      plane_.Apply("host", In(namespaces_.back(), kNamespaceYaml));
    }
  }

  void Step() {
    struct Choice {
      int weight;
      void (Walk::*step)();
    };
    static constexpr Choice kChoices[] = {
        {20, &Walk::EditConfigMap},
        {10, &Walk::EditDeployment},
        {6, &Walk::EditNeeded},
        {2, &Walk::DeleteNeeded},
        {1, &Walk::DeleteAttached},
        {6, &Walk::DeleteTemplate},
        {10, &Walk::EditPolicy},
        {2, &Walk::DeletePolicy},
        {8, &Walk::DriftInMember},
        {5, &Walk::DeleteInMember},
        {4, &Walk::DropWatches},
        {4, &Walk::FailSomeWrites},
        {2, &Walk::PartitionMember},
        {2, &Walk::HealMembers},
        {2, &Walk::StopOrStartDaemon},
        {1, &Walk::ExpireHistory},
        {4, &Walk::Pause},
        {8, &Walk::EditClusterRole},
        {5, &Walk::EditClusterPolicy},
        {1, &Walk::DeleteClusterPolicy},
        {1, &Walk::LeaveWithMember},
        {3, &Walk::JoinAgain},
        {1, &Walk::RotateTokenOfMember},
        {1, &Walk::MoveEndpointOfMember},
    };
    int total = 0;
    for (const Choice& choice : kChoices) total += choice.weight;
    int at = Pick(total);
    for (const Choice& choice : kChoices) {
      at -= choice.weight;
      if (at >= 0) continue;
      (this->*choice.step)();
      return;
    }
  }

  // Ends all faults, gives every template a policy and waits until nothing changes any more.
  void Finish() {
    HealMembers();
    plane_.fleet()->control_plane().faults().Clear();
    if (!running_) StopOrStartDaemon();
    for (const std::string& ns : namespaces_) plane_.Apply("host", In(ns, kAdoptAll));
    plane_.Apply("host", kAdoptAllRoles);
    // A cluster leaves once no binding names it, and only those of policies are scheduled again.
    REQUIRE(plane_.Eventually([&] {
      JoinAgain();
      return left_.empty();
    }));
    // While a cluster is not ready, nothing is placed there.
    REQUIRE(plane_.Eventually(
        [&] {
          return std::all_of(kMembers.begin(), kMembers.end(),
                             [&](const std::string& member) { return plane_.AcceptsWork(member); });
        },
        absl::Seconds(120)));
    REQUIRE(plane_.Eventually([&] { return objects_.Unclaimed().empty(); }, absl::Seconds(120)));
    AwaitCanary("one");
  }

  // Returns what a controller manager that has just started writes; it should write nothing.
  std::string WrittenByFresh() {
    const Snapshot before = objects_.Take();
    plane_.StopDaemon();
    plane_.StartDaemon();
    AwaitCanary("two");
    Snapshot after = objects_.Take();
    std::erase_if(after, [](const auto& entry) { return IsCanary(entry.first, "two"); });
    return Difference(before, after);
  }

  const WalkedObjects& objects() const { return objects_; }

 private:
  static constexpr char kAdoptAll[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: z-all, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: ConfigMap, labelSelector: {matchExpressions: [{key: app, operator: Exists}]}}
  - {apiVersion: apps/v1, kind: Deployment}
  propagateDeps: true
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

  static constexpr char kAdoptAllRoles[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: z-all}
spec:
  resourceSelectors:
  - apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRole
    labelSelector: {matchExpressions: [{key: team, operator: Exists}]}
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

  int Pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  const std::string& AnyNamespace() { return namespaces_[Pick(2)]; }
  const std::string& AnyMember() { return kMembers[Pick(2)]; }
  std::string AnyName() { return absl::StrCat("t", Pick(5)); }

  void EditConfigMap() {
    plane_.Apply("host",
                 In(AnyNamespace(),
                    absl::StrCat(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: )",
                                 AnyName(), ", namespace: $NS, labels: {app: x, team: ",
                                 Pick(2) ? "red" : "blue", "}}\ndata: {k: v", ++values_, "}\n")));
  }

  // It needs ConfigMaps: one that no policy selects, or one that is a template, too.
  void EditDeployment() {
    const std::string needed = Pick(3) ? AnyNeeded() : AnyName();
    plane_.Apply(
        "host",
        In(AnyNamespace(),
           Deployment(
               AnyName(), 1 + Pick(3),
               absl::StrCat(R"({containers: [{name: main, image: "nginx:1.)", Pick(20),
                            R"("}], volumes: [{name: v, configMap: {name: )", needed, "}}]}"))));
  }

  // ConfigMaps that no policy selects: they follow Deployments.
  std::string AnyNeeded() { return absl::StrCat(kNeededPrefix, Pick(3)); }
  void EditNeeded() {
    plane_.Apply("host",
                 In(AnyNamespace(),
                    absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ", AnyNeeded(),
                                 ", namespace: $NS}\ndata: {k: v", ++values_, "}\n")));
  }
  void DeleteNeeded() { Delete("host", kConfigMaps, {AnyNamespace(), AnyNeeded()}); }
  void DeleteAttached() {
    Delete("host", api::ResourceBindings(),
           {AnyNamespace(), api::BindingName("ConfigMap", AnyNeeded())});
  }

  void EditClusterRole() {
    static constexpr const char* kVerbs[] = {"get", "list", "watch"};
    plane_.Apply("host",
                 absl::StrCat(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: )",
                              kRolePrefix, AnyName(), ", labels: {team: ", Pick(2) ? "red" : "blue",
                              R"(}}
rules: [{apiGroups: [""], resources: [pods], verbs: [)",
                              kVerbs[Pick(3)], "]}]\n"));
  }

  void DeleteTemplate() { DeleteAnyIn("host"); }
  void DeleteAnyIn(const std::string& cluster) {
    switch (Pick(3)) {
      case 0:
        return Delete(cluster, kConfigMaps, {AnyNamespace(), AnyName()});
      case 1:
        return Delete(cluster, kDeployments, {AnyNamespace(), AnyName()});
      default:
        return Delete(cluster, kClusterRoles, {"", kRolePrefix + AnyName()});
    }
  }

  void EditPolicy() {
    static constexpr const char* kSelectors[] = {
        "{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {team: red}}}",
        "{apiVersion: v1, kind: ConfigMap, name: t1}",
        "{apiVersion: v1, kind: ConfigMap, name: t2}",
        "{apiVersion: apps/v1, kind: Deployment, name: t3}",
        "{apiVersion: apps/v1, kind: Deployment}",
    };
    plane_.Apply(
        "host", In(AnyNamespace(), absl::StrCat(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p)",
                                                Pick(3), R"(, namespace: $NS}
spec:
  resourceSelectors: [)",
                                                kSelectors[Pick(5)],
                                                "]\n  propagateDeps: ", Pick(3) ? "true" : "false",
                                                "\n  placement: {clusterAffinity: {clusterNames: [",
                                                kPlacements[Pick(3)], "]}}\n")));
  }

  // Also one that competes with the policies of namespaces.
  void EditClusterPolicy() {
    static constexpr const char* kSelectors[] = {
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: walk-t1}",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, "
        "labelSelector: {matchLabels: {team: red}}}",
        "{apiVersion: v1, kind: ConfigMap, name: t1}",
    };
    plane_.Apply("host", absl::StrCat(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: p)",
                                      Pick(3), R"(}
spec:
  resourceSelectors: [)",
                                      kSelectors[Pick(3)],
                                      "]\n  placement: {clusterAffinity: {clusterNames: [",
                                      kPlacements[Pick(3)], "]}}\n"));
  }

  void DeleteClusterPolicy() {
    Delete("host", api::ClusterPropagationPolicies(), {"", absl::StrCat("p", Pick(3))});
  }

  void DeletePolicy() {
    Delete("host", api::PropagationPolicies(), {AnyNamespace(), absl::StrCat("p", Pick(3))});
  }

  void DriftInMember() {
    const std::string member = AnyMember();
    const kube::ObjectKey key{AnyNamespace(), AnyName()};
    if (partitioned_.count(member) > 0 || !plane_.Exists(member, kConfigMap, key)) return;
    const absl::StatusOr<json::Value> patch =
        json::Parse(absl::StrCat(R"({"data":{"k":"theirs)", ++values_, "\"}}"));
    // The object may be deleted at this moment, so errors are ignored.
    plane_.client(member)
        .Patch(kConfigMaps, key, kube::PatchType::kMerge, *patch, {}, {})
        .status()
        .IgnoreError();
  }

  void DeleteInMember() {
    const std::string member = AnyMember();
    if (partitioned_.count(member) == 0) DeleteAnyIn(member);
  }

  // One at a time, so that there is a cluster to place things in.
  void LeaveWithMember() {
    const std::string member = AnyMember();
    if (left_.empty()) left_.emplace(member, Leave(plane_, member));
  }
  // The member comes back once it has left. Objects stay in a member that is cut off while it
  // leaves; an administrator removes them.
  void JoinAgain() {
    if (left_.empty()) return;
    const auto& [member, cluster] = *left_.begin();
    if (partitioned_.count(member) > 0 || plane_.Exists("host", kCluster, {"", member})) return;
    for (const auto& [name, object] : objects_.TemplatesIn(member)) {
      if (object.Label(api::kManagedLabel) == api::kManagedValue) {
        Delete(member, KindNamed(std::string(object.kind())), object.key());
      }
    }
    REQUIRE(plane_.Eventually([&] { return Join(plane_, cluster).ok(); }));
    left_.clear();
  }
  void RotateTokenOfMember() {
    const std::string member = AnyMember();
    if (left_.count(member) == 0) RotateToken(plane_, member);
  }
  void MoveEndpointOfMember() {
    const std::string member = AnyMember();
    if (left_.count(member) > 0) return;
    MoveEndpoint(
        plane_, member,
        absl::StrCat("https://", Pick(2) ? "localhost" : "127.0.0.1", ":", PortOf(plane_, member)));
  }

  void DropWatches() { AnyServer().faults().DropWatches(); }
  void ExpireHistory() {
    AnyServer().faults().ExpireHistory();
    AnyServer().faults().DropWatches();
  }
  void FailSomeWrites() {
    static constexpr const char* kPaths[] = {"/works", "bindings", "/status"};
    plane_.fleet()->control_plane().faults().FailNext(1 + Pick(3), Pick(2) ? 500 : 409,
                                                      Pick(2) ? "PATCH" : "POST", kPaths[Pick(3)]);
  }
  sandbox::ApiServer& AnyServer() {
    const int n = Pick(3);
    return n == 2 ? plane_.fleet()->control_plane() : *plane_.fleet()->member(kMembers[n]);
  }

  void PartitionMember() {
    const std::string member = AnyMember();
    plane_.fleet()->member(member)->faults().SetPartitioned(true);
    partitioned_.insert(member);
  }
  void HealMembers() {
    for (const std::string& member : partitioned_) {
      plane_.fleet()->member(member)->faults().SetPartitioned(false);
    }
    partitioned_.clear();
  }

  void StopOrStartDaemon() {
    if (running_) {
      plane_.StopDaemon();
    } else {
      plane_.StartDaemon();
    }
    running_ = !running_;
  }

  // Gives the controller manager time between two steps.
  void Pause() {
    plane_.Always([] { return true; }, absl::Milliseconds(50 * (1 + Pick(10))));
  }

  void Delete(const std::string& cluster, const kube::Resource& resource,
              const kube::ObjectKey& key) {
    plane_.Eventually([&] {
      const absl::Status deleted =
          plane_.client(cluster).Delete(resource, key, {.propagation = "Background"}, {}).status();
      return deleted.ok() || absl::IsNotFound(deleted);
    });
  }

  // Waits until a new template has reached the members, and then until nothing changes any more.
  void AwaitCanary(const std::string& name) {
    for (const std::string& ns : namespaces_) {
      plane_.Apply(
          "host",
          In(ns, absl::StrCat(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: canary-)",
                              name, ", namespace: $NS, labels: {app: canary}}\ndata: {k: v}\n")));
    }
    REQUIRE(plane_.Eventually(
        [&] {
          for (const std::string& ns : namespaces_) {
            for (const std::string& member : kMembers) {
              if (!plane_.Exists(member, kConfigMap, {ns, "canary-" + name})) return false;
            }
          }
          return true;
        },
        absl::Seconds(120)));
    REQUIRE(plane_.Settles([&] { return Versions(objects_.Take()); }, absl::Seconds(4)));
  }

  static bool IsCanary(const std::string& name, const std::string& canary) {
    return absl::StrContains(name, "canary-" + canary);
  }

  ControlPlane plane_;
  std::mt19937_64 random_;
  std::vector<std::string> namespaces_;
  const WalkedObjects objects_{plane_, namespaces_};
  std::set<std::string> partitioned_;
  std::map<std::string, kube::Object> left_;  // With what they join again.
  bool running_ = true;
  int64_t values_ = 0;
};

}  // namespace

// `make test` takes a short walk; BEHAVIOUR_SEED=7 BEHAVIOUR_STEPS=3000 takes another and longer
// one.
TEST_CASE("After a random walk a fresh controller manager finds nothing to do",
          "[random][sandbox]") {
  const auto seed = static_cast<uint64_t>(FromEnvironment("BEHAVIOUR_SEED", 1));
  const int64_t steps = FromEnvironment("BEHAVIOUR_STEPS", 250);
  INFO("BEHAVIOUR_SEED=" << seed << " BEHAVIOUR_STEPS=" << steps);
  Walk walk(seed);
  for (int64_t i = 0; i < steps; ++i) walk.Step();
  walk.Finish();
  CHECK(walk.objects().Wrong() == "");
  CHECK(walk.WrittenByFresh() == "");
}

}  // namespace tests
