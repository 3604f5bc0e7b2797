#include "kube/runtime/internal/discovered_kinds.h"

#include <algorithm>
#include <utility>

#include "kube/discovery/failed_groups.h"

namespace kube::internal {

void DiscoveredKinds::Note(const Discovery& discovery) {
  Store(discovery);
  Show(discovery.failed_groups);
  NoteUnread(discovery.failed_groups);
}

const Resource* DiscoveredKinds::Find(const Gvk& gvk) const {
  const auto found = served_.find(gvk);
  return found == served_.end() || !found->second.preferred ? nullptr : &found->second.resource;
}

const Resource* DiscoveredKinds::FindServed(const Gvk& gvk) const {
  const auto found = served_.find(gvk);
  return found == served_.end() ? nullptr : &found->second.resource;
}

void DiscoveredKinds::Store(const Discovery& discovery) {
  std::map<Gvk, Served> found;
  for (const ApiResource& r : discovery.resources) {
    if (!r.HasVerbs({"delete", "list", "watch"})) continue;
    // When one version has two resources of a kind, discovery prefers the first one.
    const auto [known, first] = found.try_emplace(r.resource.gvk, Served{r.resource, r.preferred});
    if (!first && r.preferred) known->second = {r.resource, true};
  }
  for (const auto& [gvk, served] : served_) {
    // The kind may still be served.
    if (IsUnread(discovery.failed_groups, gvk.ApiVersion())) found.try_emplace(gvk, served);
  }
  served_ = std::move(found);
}

void DiscoveredKinds::Show(const std::vector<std::string>& failed_groups) {
  ServedKinds now{.failed_groups = failed_groups};
  for (const auto& [gvk, served] : served_) {
    if (!served.preferred) continue;
    now.kinds.insert(gvk);
    if (!never_read_.has_value() || shown_.at_start.contains(gvk) ||
        IsUnread(*never_read_, gvk.ApiVersion())) {
      now.at_start.insert(gvk);
    }
  }
  shown_ = std::move(now);
}

void DiscoveredKinds::NoteUnread(const std::vector<std::string>& failed_groups) {
  if (!never_read_.has_value()) {
    never_read_ = failed_groups;
    return;
  }
  std::vector<std::string> still;
  for (const std::string& group : failed_groups) {
    if (IsUnread(*never_read_, group)) still.push_back(group);
  }
  // A root that could not be read stands for all groups below it.
  for (const std::string& group : *never_read_) {
    const bool listed = std::find(still.begin(), still.end(), group) != still.end();
    if (!listed && IsUnread(failed_groups, group)) still.push_back(group);
  }
  never_read_ = std::move(still);
}

}  // namespace kube::internal
