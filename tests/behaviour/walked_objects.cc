#include "tests/behaviour/walked_objects.h"

#include <set>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "kube/meta/patch.h"

namespace tests {
namespace {

bool Agree(const kube::Object& wish, const kube::Object& there) {
  return wish.Get({"data"}) == there.Get({"data"}) && wish.Get({"rules"}) == there.Get({"rules"}) &&
         wish.Get({"spec", "replicas"}) == there.Get({"spec", "replicas"}) &&
         wish.Get({"spec", "template", "spec", "containers"}).At(0)["image"] ==
             there.Get({"spec", "template", "spec", "containers"}).At(0)["image"];
}

std::string Requirement(const kube::ObjectKey& attached, const kube::ObjectKey& referrer,
                        const std::vector<api::TargetCluster>& clusters) {
  std::string text = absl::StrCat(attached.ToString(), " for ", referrer.ToString(), ":");
  for (const api::TargetCluster& cluster : clusters) {
    absl::StrAppend(&text, " ", cluster.name, "=", cluster.replicas);
  }
  return text;
}

}  // namespace

const kube::Resource& KindNamed(const std::string& kind) {
  for (const kube::Resource* r : {&kConfigMaps, &kDeployments}) {
    if (r->gvk.kind == kind) return *r;
  }
  return kClusterRoles;
}

std::string Difference(const Snapshot& before, const Snapshot& after) {
  std::string text;
  for (const auto& [name, object] : before) {
    const auto now = after.find(name);
    if (now == after.end()) {
      absl::StrAppend(&text, "\ngone: ", name, "\n  ", json::Write(object.root()));
    } else if (now->second.resource_version() != object.resource_version()) {
      const json::Value &old = object.root(), &fresh = now->second.root();
      absl::StrAppend(&text, "\nwritten: ", name, "\n  ",
                      json::Write(kube::DiffMergePatch(fresh, old)), "\n  ",
                      json::Write(kube::DiffMergePatch(old, fresh)));
    }
  }
  for (const auto& [name, object] : after) {
    if (before.count(name) == 0) {
      absl::StrAppend(&text, "\nnew: ", name, "\n  ", json::Write(object.root()));
    }
  }
  return text;
}

std::string Versions(const Snapshot& snapshot) {
  std::string text;
  for (const auto& [name, object] : snapshot) {
    absl::StrAppend(&text, name, " ", object.resource_version(), "\n");
  }
  return text;
}

std::vector<kube::Object> WalkedObjects::List(const std::string& cluster,
                                              const kube::Resource& resource,
                                              const std::string& ns) const {
  const auto page = plane_.client(cluster).ListAll(resource, ns, {}, {});
  INFO(cluster << ": " << page.status().ToString());
  REQUIRE(page.ok());
  return page->items;
}

void WalkedObjects::Add(Snapshot& snapshot, const std::string& cluster,
                        const kube::Resource& resource, const std::string& ns) const {
  for (kube::Object& object : List(cluster, resource, ns)) {
    if (resource.gvk == kClusterRole && !absl::StartsWith(object.name(), kRolePrefix)) continue;
    const std::string name =
        absl::StrCat(cluster, " ", resource.gvk.kind, " ", object.key().ToString());
    snapshot[name] = std::move(object);
  }
}

Snapshot WalkedObjects::TemplatesIn(const std::string& cluster) const {
  Snapshot snapshot;
  for (const std::string& ns : namespaces_) {
    Add(snapshot, cluster, kConfigMaps, ns);
    Add(snapshot, cluster, kDeployments, ns);
  }
  Add(snapshot, cluster, kClusterRoles, "");
  return snapshot;
}

Snapshot WalkedObjects::Take() const {
  Snapshot snapshot = TemplatesIn("host");
  for (const std::string& ns : namespaces_) Add(snapshot, "host", api::ResourceBindings(), ns);
  Add(snapshot, "host", api::ClusterResourceBindings(), "");
  for (const std::string& member : kMembers) {
    snapshot.merge(TemplatesIn(member));
    Add(snapshot, "host", api::Works(), api::ExecutionNamespace(member));
  }
  return snapshot;
}

std::vector<std::string> WalkedObjects::Unclaimed() const {
  std::vector<std::string> names;
  for (const auto& [name, object] : TemplatesIn("host")) {
    const bool is_template = object.kind() != "ConfigMap" || object.labels().Has("app");
    if (is_template && object.Label(api::kPropagationPolicyIdLabel).empty() &&
        object.Label(api::kClusterPropagationPolicyIdLabel).empty()) {
      names.push_back(name);
    }
  }
  return names;
}

std::vector<kube::Object> WalkedObjects::Bindings() const {
  std::vector<kube::Object> bindings = List("host", api::ClusterResourceBindings(), "");
  for (const std::string& ns : namespaces_) {
    for (kube::Object& binding : List("host", api::ResourceBindings(), ns)) {
      bindings.push_back(std::move(binding));
    }
  }
  return bindings;
}

std::set<std::string> WalkedObjects::NeededBindings() const {
  std::set<std::string> needed;
  for (const kube::Object& binding : Bindings()) {
    const api::BindingView view(binding);
    if (!view.PropagateDeps() || view.Resource().kind != "Deployment") continue;
    const auto deployment = plane_.Get("host", kDeployment, view.Resource().key());
    if (!deployment) continue;
    for (const json::Value& volume :
         deployment->Get({"spec", "template", "spec", "volumes"}).items()) {
      const std::string name = volume["configMap"]["name"].ToString();
      if (!plane_.Exists("host", kConfigMap, {std::string(binding.ns()), name})) continue;
      needed.insert(Requirement({std::string(binding.ns()), api::BindingName("ConfigMap", name)},
                                binding.key(), view.Clusters()));
    }
  }
  return needed;
}

std::set<std::string> WalkedObjects::RequiredBindings() const {
  std::set<std::string> required;
  for (const kube::Object& binding : Bindings()) {
    for (const api::BindingSnapshot& referrer : api::BindingView(binding).RequiredBy()) {
      required.insert(Requirement(binding.key(), {referrer.ns, referrer.name}, referrer.clusters));
    }
  }
  return required;
}

std::string WalkedObjects::Wrong() const {
  std::vector<std::string> wrong;
  const std::set<std::string> needed = NeededBindings(), required = RequiredBindings();
  for (const std::string& requirement : needed) {
    if (required.count(requirement) == 0) wrong.push_back("missing: " + requirement);
  }
  for (const std::string& requirement : required) {
    if (needed.count(requirement) == 0) wrong.push_back("not needed: " + requirement);
  }
  std::set<std::string> wanted;
  for (const kube::Object& binding : Bindings()) {
    const std::string kind = binding.Get({"spec", "resource", "kind"}).ToString();
    const kube::Gvk gvk = KindNamed(kind).gvk;
    const kube::ObjectKey key{std::string(binding.ns()),
                              binding.Get({"spec", "resource", "name"}).ToString()};
    const auto wish = plane_.Get("host", gvk, key);
    for (const api::TargetCluster& cluster : api::BindingView(binding).DispatchTargets()) {
      const std::string& member = cluster.name;
      wanted.insert(absl::StrCat(member, " ", kind, " ", key.ToString()));
      const auto there = plane_.Get(member, gvk, key);
      if (!wish || !there || !Agree(*wish, *there)) {
        wrong.push_back(absl::StrCat(member, " does not have ", kind, " ", key.ToString(), " ",
                                     there ? json::Write(there->root()) : ""));
      }
    }
  }
  for (const auto& [name, object] : Take()) {
    if (absl::StartsWith(name, "host ") || wanted.count(name) > 0) continue;
    if (object.Label(api::kManagedLabel) == api::kManagedValue) {
      wrong.push_back(absl::StrCat(name, " should not be there: ", json::Write(object.root())));
    }
  }
  return absl::StrJoin(wrong, "\n");
}

}  // namespace tests
