#include "api/rbac.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace {

kube::Object Parse(const std::string& text) {
  auto value = json::Parse(text);
  INFO(text);
  REQUIRE(value.ok());
  return kube::Object(*std::move(value));
}

// Returns the clusters of a role with these rules: "all", or names with commas.
std::string Proxied(const std::string& rules) {
  const kube::Object role = Parse(absl::StrCat(R"({"kind": "ClusterRole", "rules": )", rules, "}"));
  const api::NamedClusters clusters = api::ClusterRoleView(role).ProxiedClusters();
  return clusters.all ? "all" : absl::StrJoin(clusters.names, ",");
}

}  // namespace

TEST_CASE("a ClusterRole gives access to the clusters that its rules for clusters/proxy name") {
  CHECK(Proxied("null").empty());
  CHECK(Proxied("[]").empty());
  CHECK(Proxied(R"([{"apiGroups": ["cluster.karmada.io"], "resources": ["clusters/proxy"],
                     "resourceNames": ["m2", "m1"], "verbs": ["get"]},
                    {"apiGroups": ["cluster.karmada.io"], "resources": ["clusters/proxy"],
                     "resourceNames": ["m3"], "verbs": ["*"]}])") == "m1,m2,m3");
  CHECK(Proxied(R"([{"apiGroups": ["cluster.karmada.io"], "resources": ["clusters"],
                     "resourceNames": ["m1"], "verbs": ["*"]},
                    {"apiGroups": ["policy.karmada.io"], "resources": ["clusters/proxy"],
                     "verbs": ["*"]}])")
            .empty());
}

TEST_CASE("a ClusterRole whose rule names no cluster gives access to all") {
  CHECK(Proxied(R"([{"apiGroups": ["cluster.karmada.io"], "resources": ["clusters/proxy"],
                     "verbs": ["*"]}])") == "all");
  CHECK(Proxied(R"([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])") == "all");
  CHECK(Proxied(R"([{"apiGroups": ["search.karmada.io"], "resources": ["proxying/proxy"],
                     "resourceNames": ["m1"], "verbs": ["get"]}])") == "all");
  CHECK(Proxied(R"([{"apiGroups": ["*"], "resources": ["clusters/proxy"],
                     "resourceNames": ["m1"], "verbs": ["*"]}])") == "m1");
}

TEST_CASE("a ClusterRoleBinding names its ClusterRole and its subjects") {
  const kube::Object binding = Parse(R"({"kind": "ClusterRoleBinding",
      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
      "subjects": [{"kind": "User", "name": "alice"},
                   {"kind": "ServiceAccount", "namespace": "ci", "name": "bot"}]})");
  const api::ClusterRoleBindingView view(binding);
  CHECK(view.ClusterRole() == "r");
  REQUIRE(view.Subjects().size() == 2);
  CHECK(view.Subjects()[1].kind == api::kServiceAccountSubject);
  CHECK(view.Subjects()[1].name == "bot");
  const kube::Object other = Parse(R"({"roleRef": {"kind": "Role", "name": "r"}})");
  CHECK(api::ClusterRoleBindingView(other).ClusterRole().empty());
  CHECK(api::ClusterRoleBindingView(other).Subjects().empty());
}
