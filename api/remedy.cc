#include "api/remedy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace api {
namespace {

constexpr char kEqual[] = "Equal";
constexpr char kNotEqual[] = "NotEqual";

bool Holds(const json::Value& match, const json::Value& conditions) {
  const json::Value* condition = kube::FindCondition(conditions, match["conditionType"].AsString());
  if (match.is_null() || condition == nullptr) return false;
  const bool equal = (*condition)["status"].AsString() == match["conditionStatus"].AsString();
  const absl::string_view op = match["operator"].AsString();
  return (op == kEqual && equal) || (op == kNotEqual && !equal);
}

}  // namespace

bool RemedyView::Concerns(absl::string_view cluster) const {
  const json::Value& affinity = object_.spec()["clusterAffinity"];
  if (affinity.is_null()) return true;
  const auto names = affinity["clusterNames"].items();
  return std::any_of(names.begin(), names.end(),
                     [&](const json::Value& name) { return name.AsString() == cluster; });
}

bool RemedyView::Matches(const ClusterView& cluster) const {
  const json::Value& matches = object_.spec()["decisionMatches"];
  if (matches.is_null()) return true;
  const auto items = matches.items();
  return std::any_of(items.begin(), items.end(), [&](const json::Value& item) {
    return Holds(item["clusterConditionMatch"], cluster.Conditions());
  });
}

std::vector<std::string> RemedyView::Actions() const {
  std::vector<std::string> actions;
  for (const json::Value& action : object_.spec()["actions"].items()) {
    actions.push_back(action.ToString());
  }
  return actions;
}

std::vector<std::string> RemedyView::AbsentClusters(
    const std::function<bool(absl::string_view)>& exists) const {
  std::vector<std::string> absent;
  std::set<std::string> seen;
  for (const json::Value& item : object_.spec()["clusterAffinity"]["clusterNames"].items()) {
    const std::string cluster = item.ToString();
    if (exists(cluster) || !seen.insert(cluster).second) continue;
    absent.push_back(absl::StrCat("there is no cluster ", cluster,
                                  ", which spec.clusterAffinity.clusterNames names"));
  }
  return absent;
}

void SetRemedyActions(kube::Object& cluster, const std::set<std::string>& actions) {
  if (actions.empty()) {
    cluster.Erase({"status", "remedyActions"});
    return;
  }
  json::Value list = json::Value::Array();
  for (const std::string& action : actions) list.Append(action);
  cluster.Set({"status", "remedyActions"}, std::move(list));
}

}  // namespace api
