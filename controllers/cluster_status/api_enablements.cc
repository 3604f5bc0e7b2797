#include "controllers/cluster_status/api_enablements.h"

#include <map>
#include <string>
#include <utility>

#include "kube/discovery/failed_groups.h"

namespace controllers {
namespace {

json::Value ApiEnablements(const kube::Discovery& discovery, const json::Value& before) {
  std::map<std::string, std::map<std::string, std::string>> groups;
  for (const kube::ApiResource& r : discovery.resources) {
    groups[r.resource.gvk.ApiVersion()][r.resource.plural] = r.resource.gvk.kind;
  }
  std::map<std::string, json::Value> items;
  for (const auto& [group_version, resources] : groups) {
    json::Value entries = json::Value::Array();
    for (const auto& [name, kind] : resources) {
      entries.Append(json::Value::Object({{"kind", kind}, {"name", name}}));
    }
    items[group_version] =
        json::Value::Object({{"groupVersion", group_version}, {"resources", std::move(entries)}});
  }
  for (const json::Value& item : before.items()) {
    const std::string group_version = item["groupVersion"].ToString();
    if (!kube::IsUnread(discovery.failed_groups, group_version)) continue;
    items.try_emplace(group_version, item);
  }
  json::Value list = json::Value::Array();
  for (auto& [group_version, item] : items) list.Append(std::move(item));
  return list;
}

}  // namespace

ApiEnablementsCache& ApiEnablementsCache::OfProcess() {
  static ApiEnablementsCache& cache = *new ApiEnablementsCache;
  return cache;
}

json::Value ApiEnablementsCache::Of(const std::shared_ptr<const kube::Discovery>& discovery,
                                    const json::Value& before) {
  // What such a list has depends on `before`, too.
  if (!discovery->failed_groups.empty()) return ApiEnablements(*discovery, before);
  absl::MutexLock lock(&mu_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.discovery.expired(); });
  for (const Entry& entry : entries_) {
    if (entry.discovery.lock() == discovery) return entry.list;
  }
  entries_.push_back({discovery, ApiEnablements(*discovery, before)});
  return entries_.back().list;
}

}  // namespace controllers
