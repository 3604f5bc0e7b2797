#include "api/blocked_deletion.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"
#include "api/policy_claim.h"

namespace api {

std::optional<BlockedDeletion> BlockedDeletionOf(const kube::Object& object, absl::Time now) {
  if (!object.IsDeleting()) return std::nullopt;
  std::vector<absl::string_view> finalizers;
  for (const json::Value& finalizer : object.metadata()["finalizers"].items()) {
    finalizers.push_back(finalizer.AsString());
  }
  if (finalizers.empty()) return std::nullopt;
  const std::string since = object.metadata()["deletionTimestamp"].ToString();
  const absl::Time began = kube::ParseTime(since).value_or(now);
  return BlockedDeletion{began + kDeletionPatience - now, now - began, since,
                         absl::StrJoin(finalizers, ", ")};
}

namespace message {
namespace {

constexpr char kWhatToDo[] =
    "The controllers that have set these finalizers have to remove them; if they do not exist any "
    "more, remove the finalizers by hand.";

std::string WhatKeeps(const BlockedDeletion& blocked) {
  return absl::StrCat(" is being deleted since ", blocked.since,
                      ", and metadata.finalizers keeps it: ", blocked.finalizers, ". ");
}

// Returns "3 Works: ns/a, ns/b, ns/c"; of many the first ones.
std::string Listed(absl::string_view what, absl::Span<const kube::ObjectPtr> objects) {
  constexpr size_t kNamed = 5;
  std::vector<std::string> names;
  for (const kube::ObjectPtr& object : objects.first(std::min(objects.size(), kNamed))) {
    names.push_back(object->key().ToString());
  }
  return absl::StrCat(objects.size(), " ", what, objects.size() == 1 ? "" : "s", ": ",
                      absl::StrJoin(names, ", "), objects.size() > kNamed ? ", ..." : "");
}

// Returns what to do about bindings whose policies were deleted. A scheduler that did not run when
// the removal began does not look at them of itself.
std::string ReleasedAmong(absl::Span<const kube::ObjectPtr> bindings) {
  std::vector<kube::ObjectPtr> released(bindings.begin(), bindings.end());
  std::erase_if(released, [](const kube::ObjectPtr& binding) {
    return HasPolicyId(*binding) || !binding->Label(kBindingManagedByLabel).empty();
  });
  if (released.empty()) return "";
  return absl::StrCat(" No policy selects ", Listed("binding", released),
                      ". The scheduler hears of such bindings only when a cluster changes, so one "
                      "that did not run when the removal began needs a change of a label of this "
                      "Cluster. A template that is not needed any more can be deleted as well.");
}

std::string WaitsFor(const kube::Object& cluster, const BlockedDeletion& blocked) {
  return absl::StrCat(cluster.Describe(), " is being removed since ", blocked.since,
                      ", and waits for ");
}

}  // namespace

std::string TemplateStays(const kube::Object& object, const BlockedDeletion& blocked,
                          size_t clusters) {
  return absl::StrCat(object.Describe(), WhatKeeps(blocked), "As long as it is there, it stays in ",
                      clusters, clusters == 1 ? " cluster. " : " clusters. ", kWhatToDo);
}

std::string MemberObjectStays(const kube::Object& object, const BlockedDeletion& blocked,
                              absl::string_view cluster) {
  return absl::StrCat(object.Describe(), " in cluster ", cluster, WhatKeeps(blocked),
                      "Once it is gone, it is created again. ", kWhatToDo);
}

std::string ClusterWaitsForWorks(const kube::Object& cluster, const BlockedDeletion& blocked,
                                 absl::Span<const kube::ObjectPtr> works) {
  const std::string start =
      absl::StrCat(WaitsFor(cluster, blocked), "the end of its execution namespace. ");
  if (works.empty()) {
    return absl::StrCat(start,
                        "It has no Works; status.conditions of the namespace say what is left.");
  }
  return absl::StrCat(start, "That still has ", Listed("Work", works),
                      ". A Work is removed when its objects have been deleted in the cluster: its "
                      "condition Applied and its events say what is in the way.");
}

std::string ClusterWaitsForBindings(const kube::Object& cluster, const BlockedDeletion& blocked,
                                    absl::Span<const kube::ObjectPtr> bindings) {
  return absl::StrCat(
      WaitsFor(cluster, blocked), Listed("binding", bindings),
      ". The scheduler takes a cluster that is being removed out of spec.clusters: "
      "see whether it runs, whether spec.schedulerName of the binding names it, and "
      "whether spec.suspension.scheduling keeps it from doing so.",
      ReleasedAmong(bindings), " What still names it ", absl::ToInt64Minutes(kSchedulerPatience),
      " minutes after the removal began loses it then.");
}

std::string ClusterTakenOut(const kube::Object& cluster,
                            absl::Span<const kube::ObjectPtr> bindings) {
  return absl::StrCat(cluster.Describe(), " was taken out of spec.clusters of ",
                      Listed("binding", bindings), ". The scheduler has not done so within ",
                      absl::ToInt64Minutes(kSchedulerPatience),
                      " minutes, and the removal does not wait for it any longer.");
}

}  // namespace message
}  // namespace api
