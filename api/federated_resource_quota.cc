#include "api/federated_resource_quota.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/known_fields.h"

namespace api {
namespace {

constexpr char kClusterName[] = "clusterName";

const json::Value& ItemFor(const json::Value& items, absl::string_view cluster) {
  const auto all = items.items();
  const auto found = std::find_if(all.begin(), all.end(), [&](const json::Value& item) {
    return item[kClusterName].AsString() == cluster;
  });
  static const auto& none = *new json::Value();
  return found == all.end() ? none : *found;
}

void SetOrErase(json::Value& object, absl::string_view name, json::Value value) {
  if (value.is_null()) {
    object.Erase(name);
  } else {
    object.Set(name, std::move(value));
  }
}

}  // namespace

bool FederatedResourceQuotaView::IsAssigned(absl::string_view cluster) const {
  return !ItemFor(Assignments(), cluster).is_null();
}

const json::Value& FederatedResourceQuotaView::HardFor(absl::string_view cluster) const {
  return ItemFor(Assignments(), cluster)["hard"];
}

std::vector<std::string> FederatedResourceQuotaView::AbsentClusters(
    const std::function<bool(absl::string_view)>& exists) const {
  std::vector<std::string> absent;
  std::set<std::string> seen;
  for (size_t i = 0; i < Assignments().size(); ++i) {
    const std::string cluster = Assignments().At(i)[kClusterName].ToString();
    if (exists(cluster) || !seen.insert(cluster).second) continue;
    absent.push_back(absl::StrCat("there is no cluster ", cluster,
                                  ", which spec.staticAssignments[", i, "].clusterName names"));
  }
  return absent;
}

void SetAggregatedStatus(kube::Object& quota, absl::Span<const ClusterQuotaStatus> clusters) {
  static const auto& field =
      *new KnownField{"aggregatedStatus", {{kClusterName}, {"hard"}, {"used"}}, {kClusterName}};
  const json::Value held = quota.status()["aggregatedStatus"];
  json::Value list = json::Value::Array();
  for (const ClusterQuotaStatus& status : clusters) {
    const json::Value& old = ItemFor(held, status.cluster);
    json::Value item = json::Value::Object({{kClusterName, status.cluster}});
    SetOrErase(item, "hard", status.hard.ToJson(old["hard"]));
    SetOrErase(item, "used", status.used.ToJson(old["used"]));
    list.Append(std::move(item));
  }
  if (clusters.empty()) {
    quota.Erase({"status", "aggregatedStatus"});
  } else {
    quota.Set({"status", "aggregatedStatus"}, WithUnknown(std::move(list), held, field));
  }
}

void SetOverall(kube::Object& quota, const ResourceList& overall, const ResourceList& used) {
  json::Value status = quota.status();
  SetOrErase(status, "overall", overall.ToJson(status["overall"]));
  SetOrErase(status, "overallUsed", used.ToJson(status["overallUsed"]));
  if (!status.empty()) quota.Set({"status"}, std::move(status));
}

kube::ObjectKey QuotaOf(const kube::Object& object) {
  const absl::string_view ns = object.Label(kQuotaNamespaceLabel);
  const absl::string_view name = object.Label(kQuotaNameLabel);
  if (ns.empty() || name.empty()) return {};
  return {std::string(ns), std::string(name)};
}

json::Value QuotaLabels(const kube::ObjectKey& quota) {
  return json::Value::Object({{kQuotaNamespaceLabel, quota.ns}, {kQuotaNameLabel, quota.name}});
}

}  // namespace api
