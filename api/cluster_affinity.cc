// Parses an affinity once, so that it can be matched with many clusters. The label selector, and
// the field expressions on provider and region, become selectors of Kubernetes: expressions are
// written in the text form of selectors and parsed again, as upstream does, so that both accept the
// same ones. Expressions on zone are kept apart, because a cluster has several zones.
//
// A malformed part does not fail the parsing: it becomes a selector that matches nothing, and
// error() says why.

#include "api/cluster_affinity.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace api {

namespace {

std::vector<std::string> StringsOf(const json::Value& list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const json::Value& item : list.items()) out.push_back(item.ToString());
  return out;
}

bool Contains(const std::vector<std::string>& list, absl::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Notes in `error` what is wrong with a malformed selector.
kube::LabelSelector OrNothing(absl::StatusOr<kube::LabelSelector> selector, const char* which,
                              absl::Status& error) {
  if (selector.ok()) return *std::move(selector);
  error = absl::InvalidArgumentError(
      absl::StrCat("invalid ", which, ": ", selector.status().message()));
  return kube::LabelSelector::Nothing();
}

// Returns the text form of one field expression; nullopt when it is not a valid requirement.
std::optional<std::string> RequirementText(const json::Value& expression) {
  const absl::string_view key = expression["key"].AsString();
  const absl::string_view op = expression["operator"].AsString();
  const std::vector<std::string> values = StringsOf(expression["values"]);
  const bool valid = kube::ValidateQualifiedName(key).ok() &&
                     std::all_of(values.begin(), values.end(), [](const std::string& value) {
                       return kube::ValidateLabelValue(value).ok();
                     });
  if (!valid) return std::nullopt;
  // The operators that take no values are the only ones that may have none.
  if (values.empty()) {
    if (op == "Exists") return std::string(key);
    if (op == "DoesNotExist") return absl::StrCat("!", key);
    return std::nullopt;
  }
  if (op == "In") return absl::StrCat(key, " in (", absl::StrJoin(values, ","), ")");
  if (op == "NotIn") return absl::StrCat(key, " notin (", absl::StrJoin(values, ","), ")");
  if (op == "Gt" && values.size() == 1) return absl::StrCat(key, ">", values[0]);
  if (op == "Lt" && values.size() == 1) return absl::StrCat(key, "<", values[0]);
  return std::nullopt;
}

// Returns the fields that expressions (other than on zone) match: only those that are set.
json::Value FieldsOf(const ClusterView& cluster) {
  json::Value fields = json::Value::Object();
  if (!cluster.Provider().empty()) fields.Set("provider", cluster.Provider());
  if (!cluster.Region().empty()) fields.Set("region", cluster.Region());
  return fields;
}

}  // namespace

ClusterAffinity ClusterAffinity::FromJson(const json::Value& affinity) {
  ClusterAffinity out;
  out.names_ = StringsOf(affinity["clusterNames"]);
  out.excluded_ = StringsOf(affinity["exclude"]);
  if (const json::Value& selector = affinity["labelSelector"]; !selector.is_null()) {
    out.labels_ = OrNothing(kube::LabelSelector::FromJson(selector), "labelSelector", out.error_);
  }
  out.AddFieldRules(affinity.Get({"fieldSelector", "matchExpressions"}));
  return out;
}

void ClusterAffinity::AddFieldRules(const json::Value& expressions) {
  std::vector<std::string> requirements;
  for (const json::Value& expression : expressions.items()) {
    if (expression["key"].AsString() == "zone") {
      zones_.push_back({expression["operator"].ToString(), StringsOf(expression["values"])});
      continue;
    }
    std::optional<std::string> text = RequirementText(expression);
    if (!text.has_value()) {
      // One malformed expression makes the whole affinity match nothing: to leave it out would
      // choose more clusters than the user meant.
      fields_ = kube::LabelSelector::Nothing();
      error_ = absl::InvalidArgumentError(
          absl::StrCat("invalid fieldSelector: ", json::Write(expression)));
      return;
    }
    requirements.push_back(*std::move(text));
  }
  fields_ = OrNothing(kube::LabelSelector::Parse(absl::StrJoin(requirements, ",")), "fieldSelector",
                      error_);
}

bool ClusterAffinity::ZoneRule::Matches(const std::vector<std::string>& zones) const {
  const bool overlaps = std::any_of(zones.begin(), zones.end(),
                                    [&](const std::string& z) { return Contains(values, z); });
  if (op == "In") return overlaps;
  // NotIn holds for a cluster without zones, as a label selector's notin does for objects without
  // the label.
  if (op == "NotIn") return !overlaps;
  if (op == "Exists") return !zones.empty();
  if (op == "DoesNotExist") return zones.empty();
  return false;
}

bool ClusterAffinity::Matches(const ClusterView& cluster) const {
  if (Contains(excluded_, cluster.name())) return false;
  if (!names_.empty() && !Contains(names_, cluster.name())) return false;
  if (!labels_.MatchesEverything() && !labels_.Matches(cluster.object().labels())) return false;
  if (!fields_.MatchesEverything() && !fields_.Matches(FieldsOf(cluster))) return false;
  // The zones come last, because listing them allocates; most affinities have no rule about them.
  if (zones_.empty()) return true;
  const std::vector<std::string> zones = cluster.Zones();
  return std::all_of(zones_.begin(), zones_.end(),
                     [&](const ZoneRule& rule) { return rule.Matches(zones); });
}

std::vector<ClusterAffinity> AffinitiesOf(const json::Value& placement) {
  std::vector<ClusterAffinity> affinities;
  for (const json::Value& term : placement["clusterAffinities"].items()) {
    affinities.push_back(ClusterAffinity::FromJson(term));
    for (const json::Value& overflow : term["overflowAffinities"].items()) {
      affinities.push_back(ClusterAffinity::FromJson(overflow));
    }
  }
  if (affinities.empty()) {
    affinities.push_back(ClusterAffinity::FromJson(placement["clusterAffinity"]));
  }
  return affinities;
}

}  // namespace api
