// Who has access to a cluster in the control plane can be impersonated in that cluster.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kClusterRoleBinding{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"};

constexpr char kAccessYaml[] = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules:
- {apiGroups: [cluster.karmada.io], resources: [clusters/proxy], resourceNames: [member1], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NS}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: user-$NS}
)";

// Returns whether the user may be impersonated in the member.
bool IsKnown(ControlPlane& plane, const std::string& member, const std::string& user) {
  const auto role = plane.Get(member, kClusterRole, {"", "karmada-impersonator"});
  return role &&
         absl::StrContains(json::Write(role->Get({"rules"})), absl::StrCat("\"", user, "\""));
}

}  // namespace

TEST_CASE("Users with access to a cluster in the control plane can be impersonated there") {
  ControlPlane plane;
  const std::string name = plane.UniqueNamespace("auth"), user = absl::StrCat("user-", name);
  plane.Apply("host", In(name, kAccessYaml));
  REQUIRE(plane.Eventually([&] {
    return IsKnown(plane, "member1", user) &&
           plane.Exists("member1", kClusterRoleBinding, {"", "karmada-impersonator"}) &&
           plane.Exists("member2", kClusterRole, {"", "karmada-impersonator"});
  }));
  CHECK_FALSE(IsKnown(plane, "member2", user));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kCluster, "member1"),
                             "Normal SyncImpersonationConfigSucceed: Sync impersonation config "
                             "succeed.");
  }));

  // A process that was not there when access was given, or was taken away, does the same.
  plane.StopDaemon();
  plane.Patch("host", kClusterRole, {"", name},
              R"({"rules": [{"apiGroups": ["cluster.karmada.io"], "verbs": ["*"],
                             "resources": ["clusters/proxy"], "resourceNames": ["member2"]}]})");
  plane.StartDaemon();
  CHECK(plane.Eventually(
      [&] { return !IsKnown(plane, "member1", user) && IsKnown(plane, "member2", user); }));
  plane.Delete("host", kClusterRole, {"", name});
  plane.Delete("host", kClusterRoleBinding, {"", name});
  CHECK(plane.Eventually([&] { return !IsKnown(plane, "member2", user); }));
}

}  // namespace tests
