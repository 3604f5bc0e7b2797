// A cluster is followed from the first Work that asks for slices of it, or carries one, to the
// last. A Work that carries a slice counts because the slice, or its export, may have gone while no
// controller manager ran: the lists show that, and the Work is removed. A pass looks for the first
// lists of the followed kinds until they are there, and then has the loop over slices look at
// everything once; what happens later is reported by events.
//
// Nothing is concluded from a kind that has not been listed, with one exception: exports that the
// member has said for some seconds that it does not serve, and of which its status.apiEnablements,
// read whole, says the same, are none. That holds as well for exports that were listed before: when
// the definition is deleted while the watch is cut off, nobody reports that its objects were
// deleted with it, and what the store shows is of the past. They count again once they can be
// listed, and then everything is looked at, as after the first list. A cluster that is not ready
// keeps what it has; it is looked at again when it is ready, when its kinds change, when it is
// connected again, and when a Work changes whether it is needed; one that is followed also each
// minute, since a Cluster that is deleted and created at once gets a new connection without a
// report of it.

#include "controllers/slice_collection/slice_watches.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/slice_collection/slice_demand.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

bool ListsNoSuchApi(const kube::Object& cluster, const kube::Gvk& gvk) {
  const api::ClusterView view(cluster);
  return kube::IsConditionTrue(view.Conditions(), api::kCompleteApiEnablements) &&
         !view.HasApi(gvk);
}

absl::Status Explained(const std::string& cluster, const SliceSources::Waiting& waiting) {
  const std::string what = waiting.resource.gvk.ToString();
  if (kube::IsNoSuchKind(waiting.error)) {
    return base::Annotate(waiting.error, "cluster ", cluster, " does not serve ", what,
                          ", so that EndpointSlices of its Services are not collected");
  }
  return base::Annotate(waiting.error, "listing ", what, " in cluster ", cluster);
}

}  // namespace

absl::StatusOr<kube::Action> SliceWatches::Reconcile(const kube::Request& request,
                                                     const base::StopToken&) {
  const std::string& name = request.cluster;
  const kube::ObjectPtr cluster = collection_.manager.cluster().Find(api::Clusters(), {"", name});
  const bool is_ours =
      cluster != nullptr && !cluster->IsDeleting() && collection_.served.Have(*cluster);
  if (!is_ours || !IsNeeded(name)) {
    // So that the loop over slices forgets it, too.
    if (sources_->Follows(name)) queue_.Add({.cluster = name, .reason = kAllSlices});
    sources_->Leave(name);
    Forget(name);
    return kube::Action::Done();
  }
  if (!api::ClusterView(*cluster).IsReady()) {
    AwaitNoExports(name, false);
    return kube::Action::Done();
  }
  RETURN_IF_ERROR(base::Annotate(sources_->Follow(name), "watching cluster ", name));
  const std::vector<SliceSources::Waiting> waiting = sources_->NotListed(name);
  if (waiting.empty()) ReportEnd(name);
  const kube::Action next = Await(*cluster, waiting);
  if (sources_->TakeNews(name)) queue_.Add({.cluster = name, .reason = kAllSlices});
  return next;
}

bool SliceWatches::IsNeeded(const std::string& cluster) {
  const std::string ns = api::ExecutionNamespace(cluster);
  const std::string index = DemandIndex(collection_.collector);
  kube::ClusterClient& client = collection_.manager.cluster();
  return client.CountByIndex(api::Works(), index, AsksIn(ns)) > 0 ||
         client.CountByIndex(api::Works(), index, CarriesIn(ns)) > 0;
}

kube::Action SliceWatches::Await(const kube::Object& cluster,
                                 const std::vector<SliceSources::Waiting>& waiting) {
  const std::string name(cluster.name());
  base::ErrorList errors;
  absl::Duration poll = kSlowPoll;
  bool has_no_exports = false;
  for (const SliceSources::Waiting& kind : waiting) {
    errors.Add(Explained(name, kind));
    const kube::Gvk& gvk = kind.resource.gvk;
    const bool is_unserved = kube::IsNoSuchKind(kind.error);
    // A kind that, by the cluster's status, has just been added is about to be listed.
    const bool is_expected = !is_unserved || api::ClusterView(cluster).HasApi(gvk);
    if (is_expected) poll = std::min(poll, kind.error.ok() ? kListPoll : kFailedListPoll);
    if (gvk == api::ServiceExports().gvk) {
      has_no_exports = is_unserved && ListsNoSuchApi(cluster, gvk);
    }
  }
  const absl::Duration wait = AwaitNoExports(name, has_no_exports);
  if (wait > absl::ZeroDuration()) poll = std::min(poll, wait);
  if (errors.empty()) return kube::Action::After(poll);
  const absl::Duration hold = ReportFailure(name, errors.Join());
  return kube::Action::After(hold > absl::ZeroDuration() ? std::min(hold, poll) : poll);
}

absl::Duration SliceWatches::AwaitNoExports(const std::string& cluster, bool is_unserved) {
  const base::SteadyTime now = collection_.manager.clock().SteadyNow();
  {
    absl::MutexLock lock(&mu_);
    if (!is_unserved) {
      unserved_since_.erase(cluster);
      return absl::ZeroDuration();
    }
    const base::SteadyTime since = unserved_since_.try_emplace(cluster, now).first->second;
    if (now < since + kBeforeNoExports) return since + kBeforeNoExports - now;
  }
  sources_->AssumeNoExports(cluster);
  return absl::ZeroDuration();
}

absl::Duration SliceWatches::ReportFailure(const std::string& cluster,
                                           const absl::Status& failure) {
  const base::SteadyTime now = collection_.manager.clock().SteadyNow();
  {
    absl::MutexLock lock(&mu_);
    Failure& known = failures_.try_emplace(cluster, Failure{now, ""}).first->second;
    const absl::Duration hold = known.since + kBeforeReport - now;
    if (hold > absl::ZeroDuration()) return hold;
    if (known.reported == failure.message()) return absl::ZeroDuration();
    known.reported = std::string(failure.message());
  }
  Record(cluster, failure);
  return absl::ZeroDuration();
}

void SliceWatches::ReportEnd(const std::string& cluster) {
  {
    absl::MutexLock lock(&mu_);
    if (failures_.erase(cluster) == 0) return;
  }
  Record(cluster, absl::OkStatus());
}

void SliceWatches::Forget(const std::string& cluster) {
  recorder_.ForgetCluster(cluster);
  absl::MutexLock lock(&mu_);
  failures_.erase(cluster);
  unserved_since_.erase(cluster);
}

void SliceWatches::Record(const std::string& cluster, const absl::Status& result) {
  kube::EventRecorder::Attempt attempt{
      .of = {.cluster = cluster},
      .success = {api::reason::kCollectEndpointSliceSucceed,
                  absl::StrCat("EndpointSlices of cluster ", cluster, " are collected again")},
      .failure = {kube::IsNoSuchKind(result) ? api::reason::kApiIncompatible
                                             : api::reason::kCollectEndpointSliceFailed,
                  ""}};
  for (const kube::ObjectPtr& work :
       collection_.manager.cluster().ByIndex(api::Works(), DemandIndex(collection_.collector),
                                             AsksIn(api::ExecutionNamespace(cluster)))) {
    AddAsking(*work, attempt.about);
  }
  recorder_.Outcome(attempt, result);
}

}  // namespace controllers
