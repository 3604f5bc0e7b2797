#include "controllers/unified_auth/impersonation.h"

#include <set>
#include <string>
#include <utility>

#include "api/keys.h"
#include "api/resources.h"

namespace controllers {
namespace {

json::Value RuleFor(const char* resource, const std::set<std::string>& names) {
  json::Value listed = json::Value::Array();
  for (const std::string& name : names) listed.Append(name);
  return json::Value::Object({{"verbs", json::Value::Array({"impersonate"})},
                              {"apiGroups", json::Value::Array({""})},
                              {"resources", json::Value::Array({resource})},
                              {"resourceNames", std::move(listed)}});
}

kube::Object Impersonator(const kube::Resource& resource) {
  kube::Object object = kube::Object::Make(resource.gvk, {"", api::kImpersonator});
  object.SetLabel(api::kSystemLabel, api::kSystemValue);
  return object;
}

}  // namespace

json::Value ImpersonationRules(absl::Span<const api::Subject> subjects) {
  struct Kind {
    const char* subject;
    const char* resource;
  };
  constexpr Kind kKinds[] = {{api::kUserSubject, "users"},
                             {api::kServiceAccountSubject, "serviceaccounts"},
                             {api::kGroupSubject, "groups"}};
  json::Value rules = json::Value::Array();
  for (const Kind& kind : kKinds) {
    std::set<std::string> names;
    for (const api::Subject& subject : subjects) {
      if (subject.kind == kind.subject) names.insert(subject.name);
    }
    if (!names.empty()) rules.Append(RuleFor(kind.resource, names));
  }
  // A list without items is null in what upstream writes, and an API server reads it back as null.
  return rules.empty() ? json::Value() : rules;
}

ClusterAccess::ClusterAccess(const Objects& roles, const Objects& bindings) {
  absl::flat_hash_map<std::string, api::NamedClusters> proxied;
  for (const kube::ObjectPtr& role : roles) {
    api::NamedClusters clusters = api::ClusterRoleView(*role).ProxiedClusters();
    if (clusters.all || !clusters.names.empty()) proxied[role->name()] = std::move(clusters);
  }
  const auto give = [](const std::vector<api::Subject>& subjects, std::vector<api::Subject>& to) {
    to.insert(to.end(), subjects.begin(), subjects.end());
  };
  for (const kube::ObjectPtr& binding : bindings) {
    const api::ClusterRoleBindingView view(*binding);
    const auto role = proxied.find(view.ClusterRole());
    if (role == proxied.end()) continue;
    const std::vector<api::Subject> subjects = view.Subjects();
    if (role->second.all) give(subjects, of_all_);
    for (const std::string& cluster : role->second.names) give(subjects, of_[cluster]);
  }
}

std::vector<api::Subject> ClusterAccess::SubjectsFor(absl::string_view cluster) const {
  std::vector<api::Subject> subjects = of_all_;
  const auto own = of_.find(cluster);
  if (own != of_.end()) subjects.insert(subjects.end(), own->second.begin(), own->second.end());
  return subjects;
}

kube::Object ImpersonatorRole(json::Value rules) {
  kube::Object role = Impersonator(api::ClusterRoles());
  role.Set({"rules"}, std::move(rules));
  return role;
}

kube::Object ImpersonatorRoleBinding(absl::string_view ns) {
  kube::Object binding = Impersonator(api::ClusterRoleBindings());
  const kube::Gvk& role = api::ClusterRoles().gvk;
  binding.Set({"roleRef"},
              json::Value::Object(
                  {{"apiGroup", role.group}, {"kind", role.kind}, {"name", api::kImpersonator}}));
  binding.Set({"subjects"},
              json::Value::Array({json::Value::Object({{"kind", api::kServiceAccountSubject},
                                                       {"name", api::kImpersonator},
                                                       {"namespace", ns}})}));
  return binding;
}

}  // namespace controllers
