// Flags become edits, and an edit is applied to a copy of a Cluster. Neither knows what follows
// from it: the loops and the scheduler do (dry_failover.h).

#include "lens/plan/fleet_edit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/toleration.h"
#include "base/spelling.h"
#include "base/status.h"
#include "kube/meta/quantity.h"

namespace lens::plan {
namespace {

constexpr char kTaintForm[] =
    "CLUSTER:KEY=VALUE:EFFECT, CLUSTER:KEY:EFFECT, or CLUSTER:KEY:EFFECT-";
constexpr char kLabelForm[] = "CLUSTER:KEY=VALUE or CLUSTER:KEY-";
constexpr char kCapacityForm[] = "CLUSTER:RESOURCE=QUANTITY,...";

// What Kubernetes calls by a name without a domain; with one it is somebody's own resource.
const std::vector<std::string>& KnownResources() {
  static const auto& known =
      *new std::vector<std::string>{"cpu", "memory", "pods", "ephemeral-storage", "storage"};
  return known;
}

absl::Status CheckResource(absl::string_view name) {
  const std::vector<std::string>& known = KnownResources();
  if (std::find(known.begin(), known.end(), name) != known.end()) return absl::OkStatus();
  if (absl::StrContains(name, '/') || absl::StartsWith(name, "hugepages-")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there is no resource ", name, base::DidYouMean(name, known),
                   " (one that is not of Kubernetes has a domain, such as example.com/gpu)"));
}

absl::Status NotOfForm(absl::string_view text, absl::string_view form) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" does not have the form ", form));
}

std::string TextOf(const api::Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value,
                      taint.effect.empty() ? "" : ":", taint.effect);
}

bool IsCordon(const api::Taint& taint) {
  return taint.key == api::kUnschedulableTaint && taint.effect == api::kNoSchedule;
}

FleetEdit TaintOf(absl::string_view cluster, absl::string_view key, absl::string_view effect) {
  FleetEdit edit{FleetEdit::Kind::kTaint, std::string(cluster)};
  edit.taint = {std::string(key), "", std::string(effect), ""};
  return edit;
}

std::string TaintText(const FleetEdit& edit) {
  if (IsCordon(edit.taint)) return edit.removes ? "is uncordoned" : "is cordoned";
  return absl::StrCat(edit.removes ? "loses" : "gets", " the taint ", TextOf(edit.taint));
}

// Splits "C:rest". Returns an edit with the cluster, and the rest.
absl::StatusOr<std::pair<FleetEdit, absl::string_view>> Split(absl::string_view text,
                                                              absl::string_view form) {
  const size_t colon = text.find(':');
  if (colon == 0 || colon == absl::string_view::npos || colon + 1 == text.size()) {
    return NotOfForm(text, form);
  }
  FleetEdit edit;
  edit.cluster = std::string(text.substr(0, colon));
  return std::pair(std::move(edit), text.substr(colon + 1));
}

void PutTaint(kube::Object& cluster, api::Taint taint, absl::Time now) {
  std::vector<api::Taint> taints = api::ClusterView(cluster).Taints();
  std::erase_if(taints, [&](const api::Taint& one) { return one.IsSame(taint); });
  taint.time_added = kube::FormatTime(now);
  taints.push_back(std::move(taint));
  api::SetTaints(cluster, taints);
}

void DropTaint(kube::Object& cluster, const api::Taint& taint) {
  std::vector<api::Taint> taints = api::ClusterView(cluster).Taints();
  std::erase_if(taints, [&](const api::Taint& one) {
    return one.key == taint.key && (taint.effect.empty() || one.effect == taint.effect);
  });
  api::SetTaints(cluster, taints);
}

void SetNotReady(kube::Object& cluster, absl::Time now) {
  const bool is_pull = api::ClusterView(cluster).IsPull();
  json::Value conditions = cluster.status()["conditions"];
  kube::SetCondition(
      conditions,
      {api::kClusterReady, is_pull ? "Unknown" : "False",
       is_pull ? "ClusterStatusUnknown" : "ClusterNotReachable", "cluster is not reachable"},
      now);
  cluster.Set({"status", "conditions"}, std::move(conditions));
}

}  // namespace

std::string FleetEdit::ToString() const {
  switch (kind) {
    case Kind::kWithout:
      return absl::StrCat(cluster, " leaves the fleet");
    case Kind::kLost:
      return absl::StrCat(cluster, " is lost");
    case Kind::kTaint:
      return absl::StrCat(cluster, " ", TaintText(*this));
    case Kind::kLabel:
      return removes ? absl::StrCat(cluster, " loses the label ", key)
                     : absl::StrCat(cluster, " gets the label ", key, "=", value);
    case Kind::kCapacity:
      return absl::StrCat(cluster, " has room for ",
                          absl::StrJoin(amounts, ", ", absl::PairFormatter(" ")), " in all");
    case Kind::kJoin:
      break;
  }
  return absl::StrCat(cluster, " joins the fleet");
}

FleetEdit Without(absl::string_view cluster) {
  return {FleetEdit::Kind::kWithout, std::string(cluster)};
}

FleetEdit Lost(absl::string_view cluster) { return {FleetEdit::Kind::kLost, std::string(cluster)}; }

FleetEdit Drained(absl::string_view cluster) {
  return TaintOf(cluster, kDrainTaint, api::kNoExecute);
}

FleetEdit Cordoned(absl::string_view cluster) {
  return TaintOf(cluster, api::kUnschedulableTaint, api::kNoSchedule);
}

FleetEdit Uncordoned(absl::string_view cluster) {
  FleetEdit edit = Cordoned(cluster);
  edit.removes = true;
  return edit;
}

absl::StatusOr<FleetEdit> Joining(const kube::Object& cluster) {
  if (cluster.gvk() != api::Clusters().gvk) {
    return absl::InvalidArgumentError(
        absl::StrCat(cluster.Describe(), " is not a Cluster, and only Clusters can join"));
  }
  FleetEdit edit{FleetEdit::Kind::kJoin, std::string(cluster.name())};
  edit.joining = cluster;
  return edit;
}

absl::StatusOr<FleetEdit> ParseTaint(absl::string_view text) {
  ASSIGN_OR_RETURN(auto parts, Split(text, kTaintForm));
  auto& [edit, rest] = parts;
  edit.kind = FleetEdit::Kind::kTaint;
  edit.removes = absl::ConsumeSuffix(&rest, "-");
  const size_t colon = rest.rfind(':');
  if (colon != absl::string_view::npos) {
    edit.taint.effect = std::string(rest.substr(colon + 1));
    rest = rest.substr(0, colon);
  } else if (!edit.removes) {
    return NotOfForm(text, kTaintForm);
  }
  const std::pair<absl::string_view, absl::string_view> pair =
      absl::StrSplit(rest, absl::MaxSplits('=', 1));
  edit.taint.key = std::string(pair.first);
  edit.taint.value = std::string(pair.second);
  if (edit.taint.key.empty()) return NotOfForm(text, kTaintForm);
  for (const char* effect : {api::kNoSchedule, api::kNoExecute, "PreferNoSchedule", ""}) {
    if (edit.taint.effect == effect) return std::move(edit);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", edit.taint.effect,
                   "\" is not the effect of a taint: it is NoSchedule, PreferNoSchedule or "
                   "NoExecute"));
}

absl::StatusOr<FleetEdit> ParseLabel(absl::string_view text) {
  ASSIGN_OR_RETURN(auto parts, Split(text, kLabelForm));
  auto& [edit, rest] = parts;
  edit.kind = FleetEdit::Kind::kLabel;
  const size_t equals = rest.find('=');
  edit.key = std::string(rest.substr(0, equals));
  if (equals == absl::string_view::npos) {
    edit.removes = absl::EndsWith(rest, "-");
    if (!edit.removes || rest.size() == 1) return NotOfForm(text, kLabelForm);
    edit.key.pop_back();
    return std::move(edit);
  }
  edit.value = std::string(rest.substr(equals + 1));
  if (edit.key.empty()) return NotOfForm(text, kLabelForm);
  return std::move(edit);
}

absl::StatusOr<FleetEdit> ParseCapacity(absl::string_view text) {
  ASSIGN_OR_RETURN(auto parts, Split(text, kCapacityForm));
  auto& [edit, rest] = parts;
  edit.kind = FleetEdit::Kind::kCapacity;
  for (const absl::string_view item : absl::StrSplit(rest, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(item, absl::MaxSplits('=', 1));
    if (pair.first.empty() || pair.second.empty()) return NotOfForm(text, kCapacityForm);
    RETURN_IF_ERROR(CheckResource(pair.first));
    const absl::StatusOr<kube::Quantity> amount = kube::Quantity::Parse(pair.second);
    if (!amount.ok()) return base::Annotate(amount.status(), "the amount of ", pair.first);
    if (amount->Sign() < 0) {
      return absl::InvalidArgumentError(absl::StrCat("the amount of ", pair.first, " is negative"));
    }
    edit.amounts[std::string(pair.first)] = std::string(pair.second);
  }
  return std::move(edit);
}

kube::Object Edited(const kube::Object& cluster, const FleetEdit& edit, absl::Time now) {
  kube::Object after = cluster;
  switch (edit.kind) {
    case FleetEdit::Kind::kLost:
      SetNotReady(after, now);
      break;
    case FleetEdit::Kind::kTaint:
      if (edit.removes) {
        DropTaint(after, edit.taint);
      } else {
        PutTaint(after, edit.taint, now);
      }
      break;
    case FleetEdit::Kind::kLabel:
      if (edit.removes) {
        after.EraseLabel(edit.key);
      } else {
        after.SetLabel(edit.key, edit.value);
      }
      break;
    case FleetEdit::Kind::kCapacity:
      for (const auto& [resource, amount] : edit.amounts) {
        after.Set({"status", "resourceSummary", "allocatable", resource}, amount);
      }
      // How other room would be spread over nodes is not known.
      after.Erase({"status", "resourceSummary", "allocatableModelings"});
      break;
    case FleetEdit::Kind::kWithout:
    case FleetEdit::Kind::kJoin:
      break;
  }
  return after;
}

}  // namespace lens::plan
