// Composes discovery documents from the list of served resources, for each request: nothing is kept
// , so a document always has what the list has. Group and version order is that of the list; the
// first version of a group is the preferred one. The aggregated form has an ETag, a hash of its
// body, so clients that poll get a 304 as long as nothing has changed.

#include "kube/server/discovery.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"

namespace kube::server {
namespace {

// A group with its versions; both are kept in the order in which they were added.
struct Group {
  std::string name;
  std::vector<std::string> versions;
};

std::vector<Group> GroupsOf(const ServedResources& served) {
  std::vector<Group> groups;
  for (const ServedResource& info : served) {
    const kube::Gvk& gvk = info.resource.gvk;
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

json::Value Addresses(absl::string_view server) {
  return json::Value::Array(
      {json::Value::Object({{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server}})});
}

json::Value GroupEntry(const Group& group) {
  json::Value versions = json::Value::Array();
  for (const std::string& version : group.versions) {
    versions.Append(json::Value::Object(
        {{"groupVersion", absl::StrCat(group.name, "/", version)}, {"version", version}}));
  }
  // The first version that is served is the preferred one. It is copied, because `versions` is
  // moved.
  const json::Value preferred = versions.At(0);
  return json::Value::Object(
      {{"name", group.name}, {"versions", std::move(versions)}, {"preferredVersion", preferred}});
}

// An entry of an APIResourceList.
json::Value LegacyEntry(const ServedResource& info) {
  json::Value entry = json::Value::Object({{"name", info.resource.plural},
                                           {"singularName", info.singular},
                                           {"namespaced", info.resource.namespaced},
                                           {"kind", info.resource.gvk.kind},
                                           {"verbs", json::Value::Strings(info.verbs)}});
  if (!info.short_names.empty()) entry.Set("shortNames", json::Value::Strings(info.short_names));
  if (!info.categories.empty()) entry.Set("categories", json::Value::Strings(info.categories));
  if (!info.storage_version_hash.empty()) {
    entry.Set("storageVersionHash", info.storage_version_hash);
  }
  return entry;
}

json::Value LegacySubresource(const ServedResource& info, const Subresource& sub) {
  json::Value entry =
      json::Value::Object({{"name", absl::StrCat(info.resource.plural, "/", sub.name)},
                           {"singularName", ""},
                           {"namespaced", info.resource.namespaced},
                           {"kind", sub.kind.kind},
                           {"verbs", json::Value::Strings(sub.verbs)}});
  // Scale, for example, is of the group autoscaling.
  if (sub.kind.ApiVersion() != info.resource.gvk.ApiVersion()) {
    entry.Set("group", sub.kind.group);
    entry.Set("version", sub.kind.version);
  }
  return entry;
}

json::Value KindJson(const kube::Gvk& gvk) {
  return json::Value::Object({{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}});
}

// An entry of the aggregated form, with its subresources inside.
json::Value AggregatedEntry(const ServedResource& info) {
  json::Value entry =
      json::Value::Object({{"resource", info.resource.plural},
                           {"responseKind", KindJson(info.resource.gvk)},
                           {"scope", info.resource.namespaced ? "Namespaced" : "Cluster"},
                           {"singularResource", info.singular},
                           {"verbs", json::Value::Strings(info.verbs)}});
  if (!info.short_names.empty()) entry.Set("shortNames", json::Value::Strings(info.short_names));
  if (!info.categories.empty()) entry.Set("categories", json::Value::Strings(info.categories));
  json::Value subresources = json::Value::Array();
  for (const Subresource& sub : info.subresources) {
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
  for (const ServedResource& info : served) {
    const kube::Gvk& gvk = info.resource.gvk;
    if (gvk.group == group && gvk.version == version) resources.Append(AggregatedEntry(info));
  }
  return json::Value::Object(
      {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
}

}  // namespace

std::string EtagOf(absl::string_view document) {
  uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a with 64 bits.
  for (const char c : document) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  }
  return absl::StrCat("\"", absl::Hex(hash, absl::kZeroPad16), "\"");
}

void AddEtag(const base::HttpRequest& request, base::HttpResponse& answer) {
  const std::string etag = EtagOf(answer.body);
  answer.headers.emplace_back("Etag", etag);
  // The client has this document: only its hash is sent.
  if (request.Header("if-none-match") != etag) return;
  answer.code = 304;
  answer.content_type.clear();
  answer.body.clear();
}

json::Value ApiVersionsDocument(absl::string_view server_address) {
  return json::Value::Object({{"kind", "APIVersions"},
                              {"versions", json::Value::Array({"v1"})},
                              {"serverAddressByClientCIDRs", Addresses(server_address)}});
}

json::Value GroupListDocument(const ServedResources& served, absl::string_view server_address) {
  json::Value groups = json::Value::Array();
  for (const Group& group : GroupsOf(served)) {
    if (group.name.empty()) continue;
    json::Value entry = GroupEntry(group);
    entry.Set("serverAddressByClientCIDRs", Addresses(server_address));
    groups.Append(std::move(entry));
  }
  return json::Value::Object(
      {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

json::Value GroupDocument(const ServedResources& served, absl::string_view group) {
  for (const Group& g : GroupsOf(served)) {
    if (g.name != group || group.empty()) continue;
    json::Value document = GroupEntry(g);
    document.Set("kind", "APIGroup");
    document.Set("apiVersion", "v1");
    return document;
  }
  return nullptr;
}

json::Value ResourceListDocument(const ServedResources& served, absl::string_view group,
                                 absl::string_view version) {
  json::Value resources = json::Value::Array();
  for (const ServedResource& info : served) {
    const kube::Gvk& gvk = info.resource.gvk;
    if (gvk.group != group || gvk.version != version) continue;
    resources.Append(LegacyEntry(info));
    for (const Subresource& sub : info.subresources) {
      resources.Append(LegacySubresource(info, sub));
    }
  }
  if (resources.empty()) return nullptr;
  return json::Value::Object(
      {{"kind", "APIResourceList"},
       {"apiVersion", "v1"},
       {"groupVersion", kube::Gvr{std::string(group), std::string(version), ""}.ApiVersion()},
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

namespace {

// ServeHTTPWithETag.
base::HttpResponse AggregatedAnswer(const base::HttpRequest& request, const ServedResources& served,
                                    bool core, const AnswerForm& form) {
  base::HttpResponse answer = AnswerOf(200, AggregatedDocument(served, core, form.version), form);
  AddEtag(request, answer);
  answer.headers.emplace_back("Vary", "Accept");
  answer.headers.emplace_back("Cache-Control", "public");
  return answer;
}

bool ServesCore(const ServedResources& served) {
  return std::any_of(served.begin(), served.end(),
                     [](const ServedResource& info) { return info.resource.gvk.group.empty(); });
}

// Answers /api and /apis.
base::HttpResponse RootAnswer(const base::HttpRequest& request, const ServedResources& served,
                              bool core) {
  const auto form = Negotiate(request, Offer::kDiscovery);
  if (!form.ok()) return ErrorAnswer(form.status());
  if (form->kind == AnswerForm::Kind::kDiscovery) {
    return AggregatedAnswer(request, served, core, *form);
  }
  const absl::string_view host = request.Header("host");
  return AnswerOf(200, core ? ApiVersionsDocument(host) : GroupListDocument(served, host), *form);
}

// Answers with one of the documents of a group.
std::optional<base::HttpResponse> DocumentAnswer(const base::HttpRequest& request,
                                                 const json::Value& document) {
  if (document.is_null()) return std::nullopt;
  const auto form = Negotiate(request);
  if (!form.ok()) return ErrorAnswer(form.status());
  AnswerForm plain = *form;
  // These documents have one form; a client that asks for another one by preference still gets
  // them.
  plain.kind = AnswerForm::Kind::kPlain;
  return AnswerOf(200, document, plain);
}

}  // namespace

std::optional<base::HttpResponse> DiscoveryAnswer(const base::HttpRequest& request,
                                                  const ServedResources& served) {
  const std::vector<std::string> parts = absl::StrSplit(request.path, '/', absl::SkipEmpty());
  if (parts.empty() || (parts[0] != "api" && parts[0] != "apis")) return std::nullopt;
  const bool core = parts[0] == "api";
  // An aggregated server has no core group; then /api does not exist.
  if (core && !ServesCore(served)) return std::nullopt;
  if (parts.size() == 1) return RootAnswer(request, served, core);
  if (core && parts.size() == 2) {
    return DocumentAnswer(request, ResourceListDocument(served, "", parts[1]));
  }
  if (!core && parts.size() == 2) return DocumentAnswer(request, GroupDocument(served, parts[1]));
  if (!core && parts.size() == 3) {
    return DocumentAnswer(request, ResourceListDocument(served, parts[1], parts[2]));
  }
  return std::nullopt;
}

}  // namespace kube::server
