#include "api/rbac.h"

#include <algorithm>

#include "api/resources.h"
#include "base/json.h"

namespace api {
namespace {

constexpr char kSearchGroup[] = "search.karmada.io";
constexpr char kAny[] = "*";

bool Names(const json::Value& list, absl::string_view wanted) {
  const auto items = list.items();
  return std::any_of(items.begin(), items.end(), [&](const json::Value& item) {
    return item.AsString() == kAny || item.AsString() == wanted;
  });
}

bool Covers(const json::Value& rule, absl::string_view group, absl::string_view resource) {
  return Names(rule["apiGroups"], group) && Names(rule["resources"], resource);
}

}  // namespace

NamedClusters ClusterRoleView::ProxiedClusters() const {
  NamedClusters clusters;
  for (const json::Value& rule : object_.Get({"rules"}).items()) {
    if (Covers(rule, kSearchGroup, "proxying/proxy")) return {.all = true, .names = {}};
    if (!Covers(rule, Clusters().gvk.group, "clusters/proxy")) continue;
    if (rule["resourceNames"].empty()) return {.all = true, .names = {}};
    for (const json::Value& name : rule["resourceNames"].items()) {
      clusters.names.insert(name.ToString());
    }
  }
  return clusters;
}

absl::string_view ClusterRoleBindingView::ClusterRole() const {
  const json::Value& role = object_.Get({"roleRef"});
  return role["kind"].AsString() == ClusterRoles().gvk.kind ? role["name"].AsString() : "";
}

std::vector<Subject> ClusterRoleBindingView::Subjects() const {
  std::vector<Subject> subjects;
  for (const json::Value& subject : object_.Get({"subjects"}).items()) {
    subjects.push_back({subject["kind"].ToString(), subject["name"].ToString()});
  }
  return subjects;
}

}  // namespace api
