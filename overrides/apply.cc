// For one object and cluster: of the ClusterOverridePolicies, select those that select the object,
// in order, with their rules for the cluster; check that all these rules can be recorded; apply
// them one after the other to one draft. Then the same with the OverridePolicies of the namespace,
// which see the result of the first group. The first failure ends it, and the result says which
// rule failed; nothing of a failed application is used. No state: the draft, with its budgets,
// belongs to the call.

#include "overrides/apply.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/annotation_limit.h"
#include "overrides/internal/applied_record.h"
#include "overrides/internal/draft.h"
#include "overrides/internal/overriders.h"

namespace overrides {
namespace {

std::vector<AppliedRule> SelectedRules(const std::vector<PolicyPtr>& policies,
                                       const kube::Object& object,
                                       const api::ClusterView& cluster) {
  std::vector<std::pair<api::SelectorMatch, PolicyPtr>> selected;
  for (const PolicyPtr& policy : policies) {
    const api::SelectorMatch rank = policy->Rank(object);
    if (rank != api::SelectorMatch::kNone) selected.emplace_back(rank, policy);
  }
  std::sort(selected.begin(), selected.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->name() < b.second->name();
  });
  std::vector<AppliedRule> rules;
  for (const auto& [rank, policy] : selected) {
    for (const Rule& rule : policy->rules()) {
      if (rule.AppliesTo(cluster)) rules.push_back({policy, &rule});
    }
  }
  return rules;
}

std::string Shown(const json::Value& value) {
  return value.is_null() ? "nothing" : json::Write(value);
}

// Rights in members are those of one account, which may do more than the author of a policy. So a
// policy must not turn an object that its author may write into another one, such as a ConfigMap
// into a ClusterRoleBinding. The version of the group may change: it is the same object.
absl::Status CheckSameObject(const json::Value& before, const json::Value& after) {
  const kube::Object old(before), now(after);
  const auto changed = [](absl::string_view field, const json::Value& from, const json::Value& to) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is changed from ", Shown(from), " to ", Shown(to),
                     ": group, kind, namespace and name of a template must stay"));
  };
  if (now.gvk().version.empty() || now.gvk().group != old.gvk().group) {
    return changed("apiVersion", before["apiVersion"], after["apiVersion"]);
  }
  if (after["kind"] != before["kind"]) return changed("kind", before["kind"], after["kind"]);
  for (const absl::string_view field : {"namespace", "name"}) {
    const json::Value& from = before["metadata"][field];
    const json::Value& to = after["metadata"][field];
    if (from != to) return changed(absl::StrCat("metadata.", field), from, to);
  }
  return absl::OkStatus();
}

absl::Status ApplyRule(const Rule& rule, const json::Value& object, Draft& draft) {
  RETURN_IF_ERROR(ApplyOverriders(rule.overriders, rule.field, draft));
  return base::Annotate(CheckSameObject(object, draft.root), rule.field);
}

// Applies policies to one object for one cluster.
class Applier {
 public:
  Applier(const kube::Object& object, Application& result)
      : object_(object), result_(result), draft_{object.root()} {}

  // Applies the rules in their order. Returns false after an error, which is in the result.
  bool ApplyRules(const std::vector<AppliedRule>& rules) {
    for (const AppliedRule& applied : rules) {
      if (!Check(applied, TakeRoom(applied))) return false;
    }
    for (const AppliedRule& applied : rules) {
      if (!Check(applied, ApplyRule(*applied.rule, object_.root(), draft_))) return false;
    }
    result_.object = kube::Object(draft_.root);
    return true;
  }

 private:
  // The Work of an object that is overridden records by what, so what cannot be recorded could only
  // be carried out in vain. This also bounds what there is to be done: policies of a namespace may
  // have hundreds of megabytes of overriders.
  absl::Status TakeRoom(const AppliedRule& applied) {
    const size_t bytes = RecordedBytes(applied);
    if (bytes <= room_) {
      room_ -= bytes;
      return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(absl::StrCat(
        applied.rule->field, ": the overriders for one object and cluster are recorded in ",
        "annotations of its Work, which take ", kube::kMaxAnnotationBytes,
        " bytes together; with this rule they would be longer"));
  }

  bool Check(const AppliedRule& applied, const absl::Status& status) {
    if (status.ok()) return true;
    result_.status = absl::IsResourceExhausted(status) ? base::Terminal(status) : status;
    result_.failed = applied.policy;
    return false;
  }

  const kube::Object& object_;
  Application& result_;
  Draft draft_;
  size_t room_ = kube::kMaxAnnotationBytes;
};

}  // namespace

Application Apply(const Policies& policies, const kube::Object& object,
                  const api::ClusterView& cluster) {
  Application result;
  Applier applier(object, result);
  result.of_cluster_policies = SelectedRules(policies.cluster_wide, object, cluster);
  if (!applier.ApplyRules(result.of_cluster_policies)) return result;
  result.of_policies = SelectedRules(policies.of_namespace, result.object, cluster);
  applier.ApplyRules(result.of_policies);
  return result;
}

}  // namespace overrides
