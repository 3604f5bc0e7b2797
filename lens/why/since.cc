// Each check has the time that says most: of a deletion, a condition, a Lease, the first event that
// reports it, or, for what has never gone on, of the creation. A time that nothing records is
// absl::InfinitePast(). No state.

#include "lens/why/since.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/work.h"

namespace lens::why {
namespace {

absl::Time TimeAt(const json::Value& text) {
  const auto time = kube::ParseTime(text.AsString());
  return time.ok() ? *time : absl::InfinitePast();
}

absl::Time DeletedAt(const kube::ObjectPtr& object) {
  return object == nullptr ? absl::InfinitePast() : TimeAt(object->metadata()["deletionTimestamp"]);
}

absl::Time CreatedAt(const kube::ObjectPtr& object) {
  return object == nullptr ? absl::InfinitePast() : TimeAt(object->metadata()["creationTimestamp"]);
}

// Returns when the condition became what it is.
absl::Time ChangedAt(const json::Value& conditions, absl::string_view type) {
  const json::Value* condition = kube::FindCondition(conditions, type);
  return condition == nullptr ? absl::InfinitePast() : TimeAt((*condition)["lastTransitionTime"]);
}

template <class Map>
kube::ObjectPtr Find(const Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

bool IsOneOf(const std::string& check, std::initializer_list<absl::string_view> checks) {
  return std::find(checks.begin(), checks.end(), check) != checks.end();
}

// Returns when the event that reports it was first recorded.
absl::Time ReportedAt(const Chain& chain, const kube::ObjectPtr& about,
                      std::initializer_list<absl::string_view> reasons) {
  if (about == nullptr) return absl::InfinitePast();
  const kube::ObjectPtr event = LastEvent(chain, *about, reasons);
  if (event == nullptr) return absl::InfinitePast();
  const absl::Time first = TimeAt(event->root()["firstTimestamp"]);
  return first == absl::InfinitePast() ? EventTime(*event) : first;
}

// Returns when the first of the template's Works was deleted.
absl::Time FirstDeletion(const Chain& chain) {
  absl::Time first = absl::InfinitePast();
  for (const auto& [cluster, work] : chain.works) {
    const absl::Time deleted = DeletedAt(work);
    if (first == absl::InfinitePast() || (deleted != absl::InfinitePast() && deleted < first)) {
      first = deleted;
    }
  }
  return first;
}

absl::Time LeaseEnded(const Chain& chain, const Finding& finding) {
  const kube::ObjectPtr lease = finding.waits_for == Program::kAgent
                                    ? Find(chain.agents, finding.cluster)
                                    : Find(chain.leases, NameOf(finding.waits_for));
  return lease == nullptr ? absl::InfinitePast() : TimeAt(lease->spec()["renewTime"]);
}

absl::Time SinceInCluster(const Chain& chain, const Finding& finding) {
  const kube::ObjectPtr cluster = Find(chain.clusters, finding.cluster);
  const kube::ObjectPtr work = Find(chain.works, finding.cluster);
  const std::string& check = finding.check;
  if (check == "cluster-not-ready" && cluster != nullptr) {
    return ChangedAt(api::ClusterView(*cluster).Conditions(), api::kClusterReady);
  }
  if (check == "cluster-leaves") return DeletedAt(cluster);
  if (check == "evicted" && chain.binding != nullptr) {
    for (const api::EvictionTask& task : api::BindingView(*chain.binding).EvictionTasks()) {
      if (task.from_cluster == finding.cluster) return TimeAt(task.json["creationTimestamp"]);
    }
  }
  if (work == nullptr) return absl::InfinitePast();
  if (check == "member-refuses") {
    return ChangedAt(api::WorkView(*work).Conditions(), api::kWorkApplied);
  }
  if (IsOneOf(check, {"work-deleting", "work-left-over"})) return DeletedAt(work);
  if (check == "not-applied") return CreatedAt(work);
  if (check == "member-failed") {
    return ChangedAt(StatusIn(chain, *work).status["conditions"], "Failed");
  }
  if (check == "status-not-interpreted") {
    return ReportedAt(chain, work,
                      {api::reason::kInterpretHealthFailed, api::reason::kReflectStatusFailed});
  }
  return absl::InfinitePast();
}

}  // namespace

absl::Time SinceWhen(const Chain& chain, const Finding& finding) {
  const std::string& check = finding.check;
  if (check == kProgramNotRunning) return LeaseEnded(chain, finding);
  if (check == "template-deleting" || check == "own-object-deleting")
    return DeletedAt(chain.object);
  if (check == "template-gone" && chain.binding == nullptr) return FirstDeletion(chain);
  if (check == "binding-deleting" || check == "template-gone") return DeletedAt(chain.binding);
  if (check == "scheduler-refuses" && chain.binding != nullptr) {
    return ChangedAt(api::BindingView(*chain.binding).Conditions(), api::kBindingScheduled);
  }
  // What has never gone on waits since it was made.
  const bool never_began = chain.binding == nullptr && finding.step <= Step::kBinding;
  if (never_began) return CreatedAt(chain.object);
  const bool never_scheduled =
      chain.binding != nullptr && api::BindingView(*chain.binding).LastScheduledTime().empty();
  if (check == "not-scheduled" && never_scheduled) return CreatedAt(chain.binding);
  if (check == "work-not-written" || check == "manifest-not-made") {
    return ReportedAt(chain, chain.binding, {api::reason::kSyncWorkFailed});
  }
  if (check == "policy-not-applied") {
    return ReportedAt(chain, chain.object, {api::reason::kApplyPolicyFailed});
  }
  return finding.cluster.empty() ? absl::InfinitePast() : SinceInCluster(chain, finding);
}

}  // namespace lens::why
