#include "sandbox/http/discovery.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/kinds/namespace_rules.h"
#include "sandbox/kinds/scale.h"

namespace sandbox {
namespace {

// A group with its versions; both are kept in the order in which they were added.
struct Group {
  std::string name;
  std::vector<std::string> versions;
};

std::vector<Group> GroupsOf(const ServedResources& served) {
  std::vector<Group> groups;
  for (const ResourceInfoPtr& info : served) {
    const kube::Gvk& gvk = info->resource.gvk;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.name == gvk.group; });
    if (group == groups.end()) group = groups.insert(groups.end(), {gvk.group, {}});
    auto& versions = group->versions;
    if (std::find(versions.begin(), versions.end(), gvk.version) == versions.end()) {
      versions.push_back(gvk.version);
    }
  }
  return groups;
}

json::Value GroupEntry(const Group& group) {
  json::Value versions = json::Value::Array();
  for (const std::string& version : group.versions) {
    versions.Append(json::Value::Object(
        {{"groupVersion", absl::StrCat(group.name, "/", version)}, {"version", version}}));
  }
  const json::Value preferred = versions.At(0);
  return json::Value::Object(
      {{"name", group.name}, {"versions", std::move(versions)}, {"preferredVersion", preferred}});
}

json::Value LegacyEntry(const ResourceInfo& info) {
  json::Value entry = json::Value::Object({{"name", info.resource.plural},
                                           {"singularName", info.singular},
                                           {"namespaced", info.resource.namespaced},
                                           {"kind", info.resource.gvk.kind},
                                           {"verbs", json::Value::Strings(info.Verbs())}});
  if (!info.short_names.empty()) entry.Set("shortNames", json::Value::Strings(info.short_names));
  if (!info.categories.empty()) entry.Set("categories", json::Value::Strings(info.categories));
  return entry;
}

json::Value LegacySubresource(const ResourceInfo& info, const Subresource& sub) {
  json::Value entry =
      json::Value::Object({{"name", absl::StrCat(info.resource.plural, "/", sub.name)},
                           {"singularName", ""},
                           {"namespaced", info.resource.namespaced},
                           {"kind", sub.kind.kind},
                           {"verbs", json::Value::Strings(sub.verbs)}});
  if (sub.kind.ApiVersion() != info.resource.gvk.ApiVersion()) {
    entry.Set("group", sub.kind.group);
    entry.Set("version", sub.kind.version);
  }
  return entry;
}

json::Value KindJson(const kube::Gvk& gvk) {
  return json::Value::Object({{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}});
}

json::Value AggregatedEntry(const ResourceInfo& info) {
  json::Value entry =
      json::Value::Object({{"resource", info.resource.plural},
                           {"responseKind", KindJson(info.resource.gvk)},
                           {"scope", info.resource.namespaced ? "Namespaced" : "Cluster"},
                           {"singularResource", info.singular},
                           {"verbs", json::Value::Strings(info.Verbs())}});
  if (!info.short_names.empty()) entry.Set("shortNames", json::Value::Strings(info.short_names));
  if (!info.categories.empty()) entry.Set("categories", json::Value::Strings(info.categories));
  json::Value subresources = json::Value::Array();
  for (const Subresource& sub : SubresourcesOf(info)) {
    subresources.Append(json::Value::Object({{"subresource", sub.name},
                                             {"responseKind", KindJson(sub.kind)},
                                             {"verbs", json::Value::Strings(sub.verbs)}}));
  }
  if (!subresources.empty()) entry.Set("subresources", std::move(subresources));
  return entry;
}

json::Value AggregatedVersion(const ServedResources& served, const std::string& group,
                              const std::string& version) {
  json::Value resources = json::Value::Array();
  for (const ResourceInfoPtr& info : served) {
    const kube::Gvk& gvk = info->resource.gvk;
    if (gvk.group == group && gvk.version == version) resources.Append(AggregatedEntry(*info));
  }
  return json::Value::Object(
      {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
}

}  // namespace

std::vector<Subresource> SubresourcesOf(const ResourceInfo& info) {
  const std::vector<std::string> verbs = {"get", "patch", "update"};
  std::vector<Subresource> out;
  if (IsNamespaceKind(info)) out.push_back({"finalize", info.resource.gvk, {"update"}});
  if (info.scale.has_value()) out.push_back({"scale", ScaleKind(), verbs});
  if (info.status_subresource) out.push_back({"status", info.resource.gvk, verbs});
  return out;
}

json::Value ApiVersionsDocument(absl::string_view server_address) {
  return json::Value::Object(
      {{"kind", "APIVersions"},
       {"versions", json::Value::Array({"v1"})},
       {"serverAddressByClientCIDRs",
        json::Value::Array({json::Value::Object(
            {{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}})})}});
}

json::Value GroupListDocument(const ServedResources& served) {
  json::Value groups = json::Value::Array();
  for (const Group& group : GroupsOf(served)) {
    if (!group.name.empty()) groups.Append(GroupEntry(group));
  }
  return json::Value::Object(
      {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

json::Value GroupDocument(const ServedResources& served, const std::string& group) {
  for (const Group& g : GroupsOf(served)) {
    if (g.name != group || group.empty()) continue;
    json::Value document = GroupEntry(g);
    document.Set("kind", "APIGroup");
    document.Set("apiVersion", "v1");
    return document;
  }
  return nullptr;
}

json::Value ResourceListDocument(const ServedResources& served, const std::string& group,
                                 const std::string& version) {
  json::Value resources = json::Value::Array();
  for (const ResourceInfoPtr& info : served) {
    const kube::Gvk& gvk = info->resource.gvk;
    if (gvk.group != group || gvk.version != version) continue;
    resources.Append(LegacyEntry(*info));
    for (const Subresource& sub : SubresourcesOf(*info)) {
      resources.Append(LegacySubresource(*info, sub));
    }
  }
  if (resources.empty()) return nullptr;
  return json::Value::Object({{"kind", "APIResourceList"},
                              {"apiVersion", "v1"},
                              {"groupVersion", kube::Gvr{group, version, ""}.ApiVersion()},
                              {"resources", std::move(resources)}});
}

json::Value AggregatedDocument(const ServedResources& served, bool core,
                               absl::string_view version) {
  json::Value items = json::Value::Array();
  for (const Group& group : GroupsOf(served)) {
    if (group.name.empty() != core) continue;
    json::Value versions = json::Value::Array();
    for (const std::string& v : group.versions) {
      versions.Append(AggregatedVersion(served, group.name, v));
    }
    json::Value metadata = json::Value::Object();
    if (!core) metadata.Set("name", group.name);
    items.Append(json::Value::Object(
        {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}}));
  }
  return json::Value::Object({{"kind", "APIGroupDiscoveryList"},
                              {"apiVersion", absl::StrCat("apidiscovery.k8s.io/", version)},
                              {"metadata", json::Value::Object()},
                              {"items", std::move(items)}});
}

}  // namespace sandbox
