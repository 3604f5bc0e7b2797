#include "controllers/binding_status/aggregation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/condition.h"
#include "api/keys.h"
#include "api/known_fields.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/work.h"
#include "base/status.h"

namespace controllers {
namespace {

absl::StatusOr<api::AggregatedStatusItem> ItemOf(const api::ObjectReference& resource,
                                                 const kube::Object& work) {
  api::AggregatedStatusItem item;
  ASSIGN_OR_RETURN(item.cluster_name, api::ClusterOfExecutionNamespace(work.ns()));
  item.health = api::kHealthUnknown;
  const api::WorkView view(work);
  const kube::Object wanted = kube::Object::Make(resource.gvk(), resource.key());
  const std::optional<int64_t> index = view.IndexOf(wanted);
  if (!index.has_value()) {
    return absl::NotFoundError(absl::StrCat("no such manifest exist: work ", work.key().ToString(),
                                            " does not carry ", resource.Describe()));
  }
  const json::Value* applied = kube::FindCondition(view.Conditions(), api::kWorkApplied);
  item.applied = view.IsApplied();
  if (!item.applied && applied != nullptr) {
    item.applied_message = (*applied)["message"].ToString();
  }
  // A change that cannot be applied leaves the object as it was, and its status is as good as
  // before; the Work has no status of an object that is not there.
  const api::ManifestIdentifier identifier = api::ManifestIdentifier::Of(wanted, *index);
  for (api::ManifestStatus& status : view.ManifestStatuses()) {
    if (status.identifier != identifier) continue;
    item.status = std::move(status.status);
    item.health = std::move(status.health);
    break;
  }
  return item;
}

}  // namespace

absl::StatusOr<std::vector<api::AggregatedStatusItem>> AggregateWorks(
    const api::ObjectReference& resource, absl::Span<const kube::ObjectPtr> works) {
  std::vector<api::AggregatedStatusItem> items;
  for (const kube::ObjectPtr& work : works) {
    if (work->IsDeleting()) continue;
    ASSIGN_OR_RETURN(api::AggregatedStatusItem item, ItemOf(resource, *work));
    items.push_back(std::move(item));
  }
  std::sort(items.begin(), items.end(),
            [](const auto& a, const auto& b) { return a.cluster_name < b.cluster_name; });
  return items;
}

kube::Condition FullyApplied(const std::set<std::string>& expected,
                             absl::Span<const api::AggregatedStatusItem> items) {
  const bool all = !expected.empty() && expected.size() == items.size() &&
                   std::all_of(items.begin(), items.end(), [&](const auto& item) {
                     return item.applied && expected.count(item.cluster_name) > 0;
                   });
  return all ? api::ConditionOf(api::kBindingFullyApplied, true, api::reason::kFullyAppliedSuccess,
                                api::message::kFullyAppliedSuccess)
             : api::ConditionOf(api::kBindingFullyApplied, false, api::reason::kFullyAppliedFailed,
                                api::message::kFullyAppliedFailed);
}

bool IsSettled(absl::Span<const api::TargetCluster> targets,
               absl::Span<const api::AggregatedStatusItem> items) {
  std::map<absl::string_view, const api::AggregatedStatusItem*> by_cluster;
  for (const api::AggregatedStatusItem& item : items) by_cluster[item.cluster_name] = &item;
  return std::all_of(targets.begin(), targets.end(), [&](const api::TargetCluster& target) {
    const auto found = by_cluster.find(target.name);
    if (found == by_cluster.end()) return false;
    const api::AggregatedStatusItem& item = *found->second;
    // A change that was not applied has failed only when there is a message; without one it is
    // tried for the first time.
    return item.applied ? item.health == api::kHealthy : !item.applied_message.empty();
  });
}

json::Value ItemsToJson(absl::Span<const api::AggregatedStatusItem> items,
                        const json::Value& held) {
  static const auto& field = *new api::KnownField{
      "aggregatedStatus",
      {{"clusterName"}, {"status"}, {"applied"}, {"appliedMessage"}, {"health"}},
      {"clusterName"}};
  json::Value list = json::Value::Array();
  for (const api::AggregatedStatusItem& item : items) list.Append(item.ToJson());
  return api::WithUnknown(std::move(list), held, field);
}

}  // namespace controllers
