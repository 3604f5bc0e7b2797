// A pass is about one slice of a member. The slice is wanted when it is there, Karmada has not made
// it itself, and its Service is exported: by a ServiceExport in the member, or by the Work of a
// MultiClusterService for the cluster. Then its Work is created or made equal to it; otherwise the
// collector's claim is taken off the Work. While the Work of a MultiClusterService is missing whose
// deletion was not seen, and which a restored backup may bring yet, everything stays. A Work that
// is equal is not sent, so that a restart writes nothing. Passes about a Service, or about a whole
// cluster, only queue slices.
//
// While the member's kinds have not been listed, a slice that is missing means nothing, and the
// pass ends: everything is looked at after the lists (slice_watches.cc). While objects are left out
// of the lists for lack of memory, no claim is taken off. A change within a second
// after the collector's last write waits for the rest of that second; the pass then writes what the
// slice is by that time. A Work that is being deleted, and one that somebody changes or deletes by
// hand, bring the slice back by their own events; for the end of another one of the same name the
// pass is repeated. A failure that repeating cannot end (a Work
// that is too large, a name that is taken) is an event on the Work that asks for the slice and on
// its template. The same try is repeated minutes later, and one with another version of the slice,
// or another Work in its place, at once; what is not wanted any more is taken off at once, too.

#include "controllers/slice_collection/slice_reconciler.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/slice_collection/slice_demand.h"
#include "kube/client/errors.h"
#include "works/related.h"
#include "works/stored_size.h"

namespace controllers {
namespace {

// When it is looked again whether a Work that has the name of a slice's has ended.
constexpr absl::Duration kUntilItEnds = absl::Seconds(5);
// When it is looked again whether a slice is gone, or is only left out of the cache.
constexpr absl::Duration kUntilThereIsRoom = absl::Minutes(1);

// Returns whether the same write of the same slice fails again.
bool IsLasting(const kube::Object& slice, const absl::Status& failure) {
  return base::IsTerminal(failure) || kube::IsInvalid(failure) ||
         absl::IsResourceExhausted(failure) || works::SuspiciousSize(slice, failure).has_value();
}

// The request whose outcomes are those of reviewing a Service, or without one a whole member. It
// has a kind, as no request for a slice has.
kube::Request ReviewOf(const std::string& cluster, const kube::ObjectKey& service) {
  return {.key = service, .gvk = api::Services().gvk, .cluster = cluster};
}

}  // namespace

absl::StatusOr<kube::Action> SliceReconciler::Reconcile(const kube::Request& request,
                                                        const base::StopToken& stop) {
  const kube::ObjectPtr cluster =
      collection_.manager.cluster().Find(api::Clusters(), {"", request.cluster});
  // The Works of a cluster that is removed are deleted with its execution namespace.
  if (cluster == nullptr || cluster->IsDeleting() || !collection_.served.Have(*cluster)) {
    Forget(request.cluster);
    return kube::Action::Done();
  }
  if (request.reason == kOneSlice) return ReconcileSlice(request, *cluster, stop);
  const std::optional<SliceSources::Listed> listed = sources_->ListedIn(request.cluster);
  if (!listed.has_value()) {
    ForgetReviews(request.cluster);
    // Not listed yet, or not followed any more; in the first case the end of the list queues all.
    if (!sources_->Follows(request.cluster)) Forget(request.cluster);
    return kube::Action::Done();
  }
  if (request.reason == kSlicesOfService) {
    QueueService(request.cluster, request.key, *listed);
    return ReviewService(request.cluster, request.key, *listed);
  }
  QueueAll(request.cluster, *listed);
  return ReviewMember(request.cluster, *listed);
}

void SliceReconciler::QueueSlice(const std::string& cluster, const kube::ObjectKey& slice) {
  queue_->Add({.key = slice, .cluster = cluster, .reason = kOneSlice});
}

void SliceReconciler::QueueService(const std::string& cluster, const kube::ObjectKey& service,
                                   const SliceSources::Listed& listed) {
  for (const kube::ObjectPtr& slice : listed.SlicesOf(service)) {
    if (IsWithinLimits(cluster, *slice, listed)) QueueSlice(cluster, slice->key());
  }
  const std::string ns = api::ExecutionNamespace(cluster);
  for (const kube::ObjectPtr& work :
       collection_.manager.cluster().ByIndex(api::Works(), works::kWorksByCollectedService,
                                             works::CollectedFor(collection_.collector, service))) {
    // Also slices that are there no longer, or that the limits leave out now: their Works have to
    // go.
    if (work->ns() == ns) QueueSlice(cluster, api::SliceOf(*work));
  }
}

void SliceReconciler::QueueAll(const std::string& cluster, const SliceSources::Listed& listed) {
  kube::ClusterClient& client = collection_.manager.cluster();
  const std::string ns = api::ExecutionNamespace(cluster);
  const std::string index = DemandIndex(collection_.collector);
  for (const kube::ObjectPtr& work : client.ByIndex(api::Works(), index, CarriesIn(ns))) {
    QueueSlice(cluster, api::SliceOf(*work));
  }
  if (collection_.collector == api::SliceCollector::kMultiClusterService) {
    for (const kube::ObjectPtr& work : client.ByIndex(api::Works(), index, AsksIn(ns))) {
      QueueService(cluster, DemandedService(*work, collection_.collector), listed);
    }
  } else if (listed.exports != nullptr) {
    for (const kube::ObjectPtr& exported : listed.exports->store().List()) {
      QueueService(cluster, exported->key(), listed);
    }
  }
}

bool SliceReconciler::IsAskedFor(const std::string& cluster, const kube::ObjectKey& service,
                                 const SliceSources::Listed& listed) {
  if (service.name.empty()) return false;
  if (collection_.collector == api::SliceCollector::kServiceExport) {
    return listed.exports != nullptr && listed.exports->store().Find(service) != nullptr;
  }
  const std::string ns = api::ExecutionNamespace(cluster);
  const bool asked =
      collection_.manager.cluster().CountByIndex(api::Works(), DemandIndex(collection_.collector),
                                                 AsksFor(ns, service)) > 0;
  if (asked) seen_->Forget(DemandOf(ns, service));
  return asked;
}

bool SliceReconciler::IsWanted(const std::string& cluster, const kube::Object* slice,
                               const SliceSources::Listed& listed) {
  if (slice == nullptr || api::EndpointSliceView(*slice).IsManagedByKarmada()) return false;
  return IsAskedFor(cluster, api::EndpointSliceView(*slice).Service(), listed);
}

bool SliceReconciler::AwaitsDemand(const kube::Object& work, const kube::Object* slice,
                                   const SliceSources::Listed& listed) {
  if (collection_.collector != api::SliceCollector::kMultiClusterService) return false;
  const kube::ObjectKey service = api::CollectedServiceOf(work, collection_.collector);
  if (slice == nullptr || api::EndpointSliceView(*slice).Service() != service) return false;
  const std::string cluster = api::ClusterOfExecutionNamespace(work.ns()).value_or("");
  return !IsAskedFor(cluster, service, listed) && !seen_->Has(DemandOf(work.ns(), service));
}

bool SliceReconciler::IsCollected(const std::string& cluster, const kube::Object* slice,
                                  const SliceSources::Listed& listed) {
  return IsWanted(cluster, slice, listed) && IsWithinLimits(cluster, *slice, listed);
}

bool SliceReconciler::IsWithinLimits(const std::string& cluster, const kube::Object& slice,
                                     const SliceSources::Listed& listed) {
  using Choice = SliceLimits::Choice;
  const kube::ObjectKey service = api::EndpointSliceView(slice).Service();
  const Choice of_member = limits_.ChooseService(cluster, service, listed);
  if (of_member != Choice::kOfAll) QueueReview(cluster, {});
  if (of_member == Choice::kNot) return false;
  const Choice of_service = limits_.ChooseSlice(cluster, slice, listed);
  // This slice may have grown, so that another one is too much now.
  if (of_service != Choice::kOfAll) QueueReview(cluster, service);
  return of_service != Choice::kNot;
}

absl::StatusOr<kube::Action> SliceReconciler::ReconcileSlice(const kube::Request& request,
                                                             const kube::Object& cluster,
                                                             const base::StopToken& stop) {
  const std::optional<SliceSources::Listed> listed = sources_->ListedIn(request.cluster);
  if (!listed.has_value()) return kube::Action::Done();
  kube::ClusterClient& client = collection_.manager.cluster();
  const kube::ObjectKey work_key = works::WorkOfSlice(request.cluster, request.key);
  const kube::ObjectPtr work = client.Find(api::Works(), work_key);
  // The end of a Work that was collected brings the slice back; that of another one of its name,
  // such as a slice that was dispatched here, is nobody's event.
  if (work != nullptr && work->IsDeleting()) {
    return api::IsCollectedSlice(*work) ? kube::Action::Done() : kube::Action::After(kUntilItEnds);
  }
  const bool leaves_out = listed->LeavesOut();
  const kube::ObjectPtr slice = listed->slices->store().Find(request.key);
  const bool wanted = IsCollected(request.cluster, slice.get(), *listed);
  const bool has_work = work != nullptr && api::IsCollectedBy(*work, collection_.collector) &&
                        api::SliceOf(*work) == request.key;
  if (!wanted) failures_->Forget(work_key);
  if (!wanted && !has_work) return kube::Action::Gone();
  // The execution namespace of a cluster that has just joined is made a moment later.
  if (wanted && !works::TakesWorks(client, cluster)) return kube::Action::Done();
  const absl::Duration pause = pace_.PauseFor(work_key);
  if (pause > absl::ZeroDuration()) return kube::Action::After(pause);
  // The slice, or the export of its Service, may be there without room for it here.
  if (!wanted && leaves_out) return kube::Action::After(kUntilThereIsRoom);
  if (!wanted && AwaitsDemand(*work, slice.get(), *listed)) return kube::Action::Done();
  if (!wanted) {
    return Finish(request, nullptr, works_.TakeOff(work, collection_.collector, stop));
  }
  const LastingFailures::State state = {*slice, work.get()};
  const absl::Duration rest = failures_->PauseFor(work_key, state);
  if (rest > absl::ZeroDuration()) return kube::Action::After(rest);
  return Finish(request, &state,
                works_.Report(request.cluster, *slice, collection_.collector, stop));
}

absl::StatusOr<kube::Action> SliceReconciler::Finish(const kube::Request& request,
                                                     const LastingFailures::State* tried,
                                                     const absl::StatusOr<bool>& written) {
  const absl::Status result = recorder_.Judge(request, "", written.status());
  const kube::ObjectKey work = works::WorkOfSlice(request.cluster, request.key);
  if (written.ok() && *written) pace_.Written(work, kBetweenSliceWrites);
  if (tried != nullptr) Report(request, tried->slice, result);
  if (result.ok()) {
    failures_->Forget(work);
    return kube::Action::Done();
  }
  if (tried == nullptr || !IsLasting(tried->slice, result)) return result;
  base::LogWarning("an EndpointSlice could not be collected",
                   {{"cluster", request.cluster},
                    {"slice", request.key.ToString()},
                    {"error", result},
                    {"again after", absl::FormatDuration(kAfterLastingFailure)}});
  pace_.Written(work, kBetweenSliceWrites);  // A slice may change many times a second.
  failures_->Note(work, request, *tried, kAfterLastingFailure);
  // The Work may have changed before anybody could know that this waits for it.
  const kube::ObjectPtr now = collection_.manager.cluster().Find(api::Works(), work);
  const bool is_same =
      LastingFailures::State{tried->slice, now.get()}.Versions() == tried->Versions();
  return kube::Action::After(is_same ? kAfterLastingFailure : kBetweenSliceWrites);
}

void SliceReconciler::Report(const kube::Request& request, const kube::Object& slice,
                             const absl::Status& result) {
  const std::string what = absl::StrCat("Collect EndpointSlice(", request.key.ToString(),
                                        ") of cluster(", request.cluster, ")");
  kube::EventRecorder::Attempt attempt{
      .of = request,
      .success = {api::reason::kCollectEndpointSliceSucceed, absl::StrCat(what, " succeed.")},
      .failure = {api::reason::kCollectEndpointSliceFailed,
                  absl::StrCat(what, " failed: ", result.message())}};
  attempt.about = Concerned(request.cluster, api::EndpointSliceView(slice).Service());
  recorder_.Outcome(attempt, result);
}

std::vector<kube::InvolvedObject> SliceReconciler::Concerned(const std::string& cluster,
                                                             const kube::ObjectKey& service) {
  kube::ClusterClient& client = collection_.manager.cluster();
  std::vector<kube::InvolvedObject> about;
  for (const kube::ObjectPtr& work :
       client.ByIndex(api::Works(), DemandIndex(collection_.collector),
                      AsksFor(api::ExecutionNamespace(cluster), service))) {
    AddAsking(*work, about);
  }
  const kube::ObjectPtr whole = client.Find(api::Clusters(), {"", cluster});
  if (about.empty() && whole != nullptr) about.push_back(kube::InvolvedObject::Of(*whole));
  return about;
}

kube::Action SliceReconciler::ReviewService(const std::string& cluster,
                                            const kube::ObjectKey& service,
                                            const SliceSources::Listed& listed) {
  // A Service that has just been exported may be one too many for the member.
  if (!SliceLimits::OfMember(cluster, listed).ok()) QueueReview(cluster, {});
  if (IsAskedFor(cluster, service, listed)) {
    return Review(cluster, service, SliceLimits::OfService(cluster, service, listed));
  }
  recorder_.Forget(ReviewOf(cluster, service));
  absl::MutexLock lock(&mu_);
  excessive_.erase({cluster, service});
  return kube::Action::Done();
}

kube::Action SliceReconciler::ReviewMember(const std::string& cluster,
                                           const SliceSources::Listed& listed) {
  return Review(cluster, {}, SliceLimits::OfMember(cluster, listed));
}

kube::Action SliceReconciler::Review(const std::string& cluster, const kube::ObjectKey& service,
                                     const absl::Status& within) {
  bool is_news;
  {
    absl::MutexLock lock(&mu_);
    const std::pair subject{cluster, service};
    is_news = within.ok() ? excessive_.erase(subject) > 0 : excessive_.insert(subject).second;
  }
  if (is_news) {
    const std::string whose =
        service.name.empty() ? "its Services" : absl::StrCat("Service ", service.ToString());
    recorder_.Outcome({.of = ReviewOf(cluster, service),
                       .about = Concerned(cluster, service),
                       .success = {api::reason::kCollectEndpointSliceSucceed,
                                   absl::StrCat("all EndpointSlices of ", whose, " in cluster ",
                                                cluster, " are collected again")},
                       .failure = {api::reason::kCollectEndpointSliceFailed, ""}},
                      within);
  }
  return within.ok() ? kube::Action::Done() : kube::Action::After(kBetweenReviews);
}

void SliceReconciler::QueueReview(const std::string& cluster, const kube::ObjectKey& service) {
  {
    absl::MutexLock lock(&mu_);
    // It is reviewed again and again anyway, until it is within the limits.
    if (excessive_.contains({cluster, service})) return;
  }
  const kube::Reason reason = service.name.empty() ? kAllSlices : kSlicesOfService;
  queue_->AddAfter({.key = service, .cluster = cluster, .reason = reason},
                   SliceLimits::kChoiceLasts);
}

void SliceReconciler::Forget(const std::string& cluster) {
  recorder_.ForgetCluster(cluster);
  failures_->ForgetIn(api::ExecutionNamespace(cluster));
  ForgetReviews(cluster);
}

void SliceReconciler::ForgetReviews(const std::string& cluster) {
  absl::MutexLock lock(&mu_);
  std::erase_if(excessive_, [&](const auto& subject) { return subject.first == cluster; });
}

}  // namespace controllers
