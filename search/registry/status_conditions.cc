// The conditions are computed in each pass and compared with what is stored; only a difference is
// written, and the write is guarded by the resourceVersion that was read. A registry that somebody
// else changes in the same moment is written in a later pass. How many objects there are and how
// old they may be changes all the time, so small changes of these do not count.

#include "search/registry/status_conditions.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/resource_registry.h"
#include "base/cut_text.h"
#include "base/log.h"
#include "base/status.h"
#include "search/registry/managed_fields.h"

namespace search {
namespace {

constexpr char kClusterSuffix[] = "/Synced";
constexpr char kManager[] = "karmada-search";
constexpr size_t kMaxClusters = 50;
constexpr size_t kMaxNamed = 5;  // In one list of a message.
constexpr size_t kMaxErrorBytes = 300;
constexpr char kObjects[] = " objects";

// What the caches hold of one cluster for one registry.
struct ClusterState {
  std::string name;
  bool ready = false;
  int resources = 0, synced = 0;
  int64_t objects = 0;
  absl::Duration lag;
  std::string error;  // Of the first resource that has one.
  std::set<kube::Gvk> unserved;

  bool IsSynced() const { return ready && synced == resources; }
};

std::string Count(int64_t n, absl::string_view one, absl::string_view many) {
  return absl::StrCat(n, " ", n == 1 ? one : many);
}

// Returns "a, b, c" with the number of those for which there is no space.
std::string Listed(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMaxNamed);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string text = base::CutText(absl::StrJoin(names.begin(), end, ", "), kMaxErrorBytes);
  if (names.size() > shown) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

std::string Listed(const std::set<kube::Gvk>& kinds) {
  std::vector<std::string> names;
  for (const kube::Gvk& kind : kinds) names.push_back(kind.ToString());
  return Listed(names);
}

// In classes, so that the text does not change with every second.
std::string LagText(absl::Duration lag) {
  if (lag < absl::Minutes(1)) return "less than a minute behind";
  if (lag < absl::Minutes(10)) return "less than ten minutes behind";
  if (lag < absl::Hours(1)) return "less than an hour behind";
  return "more than an hour behind";
}

ClusterState StateOf(const std::string& registry, const std::string& cluster,
                     const ClusterScope& scope, const CacheStates& states) {
  ClusterState out;
  out.name = cluster;
  out.ready = scope.ready;
  if (const auto found = scope.unserved.find(registry); found != scope.unserved.end()) {
    out.unserved = found->second;
  }
  for (const auto& [gvr, wanted] : scope.resources) {
    if (!wanted.registries.contains(registry)) continue;
    ++out.resources;
    const std::optional<CachedSlice> slice = states.StateOf(cluster, gvr);
    if (!slice.has_value()) continue;
    // What cannot be followed is not what the member has.
    if (slice->synced && slice->last_error.empty()) ++out.synced;
    out.objects += slice->objects;
    out.lag = std::max(out.lag, slice->lag);
    if (out.error.empty() && !slice->last_error.empty()) {
      out.error =
          absl::StrCat(gvr.resource, ": ", base::CutText(slice->last_error, kMaxErrorBytes));
    }
  }
  return out;
}

kube::Condition ConditionOf(const ClusterState& state) {
  kube::Condition condition;
  condition.type = absl::StrCat(state.name, kClusterSuffix);
  condition.status = state.IsSynced() ? "True" : "False";
  condition.reason = state.IsSynced()      ? "Synced"
                     : !state.ready        ? "ClusterNotReady"
                     : state.error.empty() ? "Syncing"
                                           : "SyncFailed";
  condition.message = absl::StrCat(state.ready ? "" : "the Cluster is not Ready; ", state.synced,
                                   " of ", Count(state.resources, "resource is", "resources are"),
                                   " synced, ", state.objects, kObjects, ", ", LagText(state.lag));
  if (!state.error.empty()) absl::StrAppend(&condition.message, "; last error: ", state.error);
  if (!state.unserved.empty()) {
    absl::StrAppend(&condition.message, "; does not serve ", Listed(state.unserved));
  }
  return condition;
}

// What a registry names, and is not there, and what in it can select nothing.
struct NotThere {
  std::vector<std::string> clusters;
  std::map<kube::Gvk, std::string> kinds;  // With the reason.
  std::string malformed;                   // What is wrong with targetCluster; "": nothing.
  bool selects_no_resource = false;
};

// Returns the kinds that none of the clusters serves.
std::set<kube::Gvk> ServedByNone(const std::vector<ClusterState>& clusters) {
  if (clusters.empty()) return {};
  std::set<kube::Gvk> kinds = clusters.front().unserved;
  for (const ClusterState& state : clusters) {
    std::erase_if(kinds, [&](const kube::Gvk& kind) { return !state.unserved.contains(kind); });
  }
  return kinds;
}

NotThere NotThereOf(const std::string& registry, const Scope& scope,
                    const std::vector<ClusterState>& clusters) {
  NotThere out;
  if (const auto found = scope.absent.find(registry); found != scope.absent.end()) {
    out.clusters.assign(found->second.begin(), found->second.end());
  }
  if (const auto found = scope.unresolved.find(registry); found != scope.unresolved.end()) {
    out.kinds = found->second;
  }
  if (const auto found = scope.malformed.find(registry); found != scope.malformed.end()) {
    out.malformed = found->second;
  }
  out.selects_no_resource = scope.without_selectors.contains(registry);
  for (const kube::Gvk& kind : ServedByNone(clusters)) {
    out.kinds.emplace(kind, "none of the clusters serves it");
  }
  return out;
}

std::string SummaryReason(const std::vector<ClusterState>& clusters, bool all_synced,
                          const NotThere& not_there) {
  if (!not_there.malformed.empty()) return "InvalidTargetCluster";
  if (not_there.selects_no_resource) return "NoResourceSelected";
  if (!not_there.clusters.empty()) return "ClustersNotFound";
  if (!not_there.kinds.empty()) return "KindsNotFound";
  if (clusters.empty()) return "NoClusterMatches";
  return all_synced ? "AllSynced" : "ClustersNotSynced";
}

kube::Condition SummaryOf(const std::vector<ClusterState>& clusters, const NotThere& not_there) {
  int64_t objects = 0;
  std::vector<std::string> missing;
  for (const ClusterState& state : clusters) {
    objects += state.objects;
    if (state.IsSynced()) continue;
    missing.push_back(absl::StrCat(state.name, state.ready ? "" : " (not Ready)"));
  }
  kube::Condition summary;
  summary.type = api::kRegistrySynced;
  summary.reason = SummaryReason(clusters, missing.empty(), not_there);
  summary.status = summary.reason == "AllSynced" ? "True" : "False";
  const size_t all = clusters.size();
  summary.message = absl::StrCat(all - missing.size(), " of ",
                                 Count(static_cast<int64_t>(all), "cluster is", "clusters are"),
                                 " synced, ", objects, kObjects);
  if (!missing.empty()) absl::StrAppend(&summary.message, "; not synced: ", Listed(missing));
  if (!not_there.malformed.empty()) {
    absl::StrAppend(&summary.message,
                    "; targetCluster: ", base::CutText(not_there.malformed, kMaxErrorBytes));
  }
  if (not_there.selects_no_resource) {
    absl::StrAppend(&summary.message, "; resourceSelectors is empty, so nothing is cached");
  }
  if (!not_there.clusters.empty()) {
    absl::StrAppend(&summary.message, "; no such cluster: ", Listed(not_there.clusters));
  }
  std::set<kube::Gvk> kinds;
  for (const auto& [kind, why] : not_there.kinds) kinds.insert(kind);
  if (!kinds.empty()) absl::StrAppend(&summary.message, "; kinds not found: ", Listed(kinds));
  return summary;
}

kube::Condition ClustersOf(const std::vector<std::string>& absent) {
  kube::Condition condition;
  condition.type = api::kRegistryClustersResolved;
  condition.status = absent.empty() ? "True" : "False";
  condition.reason = absent.empty() ? "AllResolved" : "UnknownClusters";
  condition.message = absent.empty() ? "all clusters that the registry names exist"
                                     : absl::StrCat("there is no Cluster ", Listed(absent));
  return condition;
}

kube::Condition KindsOf(const std::map<kube::Gvk, std::string>& missing) {
  kube::Condition condition;
  condition.type = api::kRegistryKindsResolved;
  if (missing.empty()) {
    condition.status = "True";
    condition.reason = "AllResolved";
    condition.message = "the control plane serves all kinds";
    return condition;
  }
  std::vector<std::string> texts;
  for (const auto& [gvk, why] : missing) {
    if (texts.size() == kMaxNamed) {
      texts.push_back(absl::StrCat("and ", missing.size() - kMaxNamed, " more"));
      break;
    }
    texts.push_back(absl::StrCat(gvk.ToString(), ": ", base::CutText(why, kMaxErrorBytes)));
  }
  condition.status = "False";
  condition.reason = "UnknownKinds";
  condition.message = absl::StrJoin(texts, "; ");
  return condition;
}

kube::Condition MirrorCondition(const api::OpenSearchTarget& target, const CacheStates& states) {
  const MirrorState state =
      states.MirrorOf(target).value_or(MirrorState{false, "NotStarted", "nothing is mirrored yet"});
  kube::Condition condition;
  condition.type = api::kRegistryMirrored;
  condition.status = state.complete ? "True" : "False";
  condition.reason = state.reason;
  condition.message = base::CutText(state.message, kMaxErrorBytes);
  return condition;
}

bool IsOurs(absl::string_view type) {
  return type == api::kRegistrySynced || type == api::kRegistryKindsResolved ||
         type == api::kRegistryClustersResolved || type == api::kRegistryMirrored ||
         absl::EndsWith(type, kClusterSuffix);
}

// The text of a message before and after the number of objects, and that number.
struct ObjectsText {
  std::string rest;
  int64_t objects = -1;
};

ObjectsText SplitObjects(const std::string& message) {
  const size_t end = message.find(kObjects);
  if (end == std::string::npos) return {message, -1};
  size_t begin = end;
  while (begin > 0 && absl::ascii_isdigit(static_cast<unsigned char>(message[begin - 1]))) --begin;
  ObjectsText out{absl::StrCat(message.substr(0, begin), message.substr(end)), -1};
  if (!absl::SimpleAtoi(message.substr(begin, end - begin), &out.objects)) out.objects = -1;
  return out;
}

bool AboutTheSame(const std::string& before, const std::string& after) {
  const ObjectsText a = SplitObjects(before), b = SplitObjects(after);
  if (a.rest != b.rest) return false;
  const int64_t difference = a.objects < b.objects ? b.objects - a.objects : a.objects - b.objects;
  // A tenth, but every change of a few objects.
  return difference <= std::max(a.objects, b.objects) / 10;
}

void Append(kube::Condition condition, const json::Value& present, absl::Time now,
            json::Value& out) {
  json::Value one = json::Value::Array();
  if (const json::Value* known = kube::FindCondition(present, condition.type)) {
    one.Append(*known);
    const std::string before = (*known)["message"].ToString();
    const bool same = (*known)["status"].AsString() == condition.status &&
                      (*known)["reason"].AsString() == condition.reason;
    if (same && AboutTheSame(before, condition.message)) condition.message = before;
  }
  kube::SetCondition(one, condition, now);
  out.Append(one.At(0));
}

}  // namespace

json::Value RegistryConditions(const std::string& registry, const Scope& scope,
                               const CacheStates& states, const json::Value& present,
                               absl::Time now) {
  std::vector<ClusterState> clusters;
  if (const auto matches = scope.matches.find(registry); matches != scope.matches.end()) {
    for (const std::string& cluster : matches->second) {
      const auto part = scope.clusters.find(cluster);
      if (part != scope.clusters.end()) {
        clusters.push_back(StateOf(registry, cluster, *part->second, states));
      }
    }
  }
  // They are sorted by name already.
  // Those that are not synced first: only so many have a condition, and these are looked for.
  std::stable_partition(clusters.begin(), clusters.end(),
                        [](const ClusterState& state) { return !state.IsSynced(); });
  const NotThere not_there = NotThereOf(registry, scope, clusters);
  json::Value out = json::Value::Array();
  for (const json::Value& condition : present.items()) {
    if (!IsOurs(condition["type"].AsString())) out.Append(condition);
  }
  Append(SummaryOf(clusters, not_there), present, now, out);
  Append(KindsOf(not_there.kinds), present, now, out);
  Append(ClustersOf(not_there.clusters), present, now, out);
  if (const auto target = scope.open_search.find(registry); target != scope.open_search.end()) {
    Append(MirrorCondition(target->second, states), present, now, out);
  }
  for (size_t i = 0; i < std::min(clusters.size(), kMaxClusters); ++i) {
    Append(ConditionOf(clusters[i]), present, now, out);
  }
  return out;
}

void MarkConditionsOutdated(kube::Object& registry, absl::Time now) {
  json::Value conditions = registry.status()["conditions"];
  for (const char* type : {api::kRegistrySynced, api::kRegistryKindsResolved,
                           api::kRegistryClustersResolved, api::kRegistryMirrored}) {
    if (kube::FindCondition(conditions, type) == nullptr) continue;
    kube::SetCondition(
        conditions,
        {type, "Unknown", "SpecChanged", "the spec has changed, the condition will follow"}, now);
  }
  if (!conditions.empty()) registry.Set({"status", "conditions"}, std::move(conditions));
}

absl::StatusOr<bool> StatusWriter::Write(const kube::ObjectPtr& registry,
                                         const base::StopToken& stop) {
  const json::Value& present = registry->status()["conditions"];
  const ScopePtr scope = parts_.scope.Current();
  const std::string name(registry->name());
  // A registry, or an edit of one, that the scope does not have yet is looked at when it does.
  const auto spec = scope->specs.find(name);
  if (spec == scope->specs.end() || spec->second != registry->spec()) return false;
  json::Value wanted = RegistryConditions(name, *scope, parts_.states, present, parts_.clock.Now());
  // Nothing is written when nothing has changed, so that a quiet registry costs etcd nothing.
  if (wanted == present) return false;
  kube::Object changed = *registry;
  changed.Set({"status", "conditions"}, std::move(wanted));
  RecordUpdate(*registry, {kManager, "status", parts_.clock.Now()}, changed);
  RETURN_IF_ERROR(parts_.store.Update(changed, stop).status());
  return true;
}

int StatusWriter::Pass(const base::StopToken& stop) {
  if (!parts_.scope.HasSynced()) return 0;
  const auto listing = parts_.store.List({}, stop);
  if (!listing.ok()) {
    base::LogWarning("conditions of ResourceRegistries cannot be written",
                     {{"error", listing.status()}});
    return 0;
  }
  int written = 0;
  for (const kube::ObjectPtr& registry : listing->objects) {
    if (stop.stop_requested()) break;
    if (registry->IsDeleting()) continue;
    const auto done = Write(registry, stop);
    if (done.ok()) {
      written += *done ? 1 : 0;
    } else if (!absl::IsAborted(done.status()) && !absl::IsNotFound(done.status())) {
      base::LogWarning("the conditions of a ResourceRegistry cannot be written",
                       {{"registry", registry->name()}, {"error", done.status()}});
    }
  }
  return written;
}

void StatusWriter::Run(const base::StopToken& stop) {
  while (parts_.clock.SleepFor(options_.period, stop)) Pass(stop);
}

}  // namespace search
