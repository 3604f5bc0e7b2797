#include "controllers/work_status/lost_status.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "api/names.h"
#include "api/work.h"

namespace controllers {

bool LostStatus(const kube::Object& before, const kube::Object& after) {
  const json::Value& had = before.status()["manifestStatuses"];
  const json::Value& has = after.status()["manifestStatuses"];
  if (has.size() < had.size()) return true;
  if (has == had) return false;
  // One write may withdraw one item and add another.
  const auto ordinal = [](const json::Value& item) {
    return item.Get({"identifier", "ordinal"}).AsInt();
  };
  return std::any_of(had.items().begin(), had.items().end(), [&](const json::Value& item) {
    return std::none_of(has.items().begin(), has.items().end(),
                        [&](const json::Value& other) { return ordinal(other) == ordinal(item); });
  });
}

std::vector<kube::Request> ObjectsThatLostStatus(const kube::Object&, const kube::Object& after) {
  const std::string cluster = api::ClusterOfExecutionNamespace(after.ns()).value_or("");
  if (cluster.empty()) return {};
  const api::WorkView work(after);
  const std::vector<api::ManifestStatus> known = work.ManifestStatuses();
  std::vector<kube::Request> requests;
  int64_t ordinal = 0;
  for (const json::Value& raw : work.Manifests()) {
    const bool has_status = std::any_of(known.begin(), known.end(), [&](const auto& status) {
      return status.identifier.ordinal == ordinal;
    });
    ++ordinal;
    const kube::Object manifest(raw);
    if (has_status || manifest.name().empty()) continue;
    requests.push_back({.key = manifest.key(), .gvk = manifest.gvk(), .cluster = cluster});
  }
  return requests;
}

}  // namespace controllers
