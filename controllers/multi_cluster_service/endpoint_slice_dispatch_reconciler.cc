// A pass is about one collected Work. If that is wanted by a MultiClusterService, the pass deletes
// what was dispatched from it to clusters that do not consume the service, and writes a Work with
// the slice for each consumer that takes part; a consumer that does not take part keeps what it
// has. If the Work is being deleted, or was seen to be deleted, or its service does not want it,
// everything that was dispatched from it is deleted, and then its finalizer is removed. While the
// Work or the service is merely not there, a restored backup may bring it yet, and everything
// stays.
//
// Slices change as often as pods are added and removed. After a pass that has written, the next one
// for the same slice waits for a second, or longer if there are many consumers, and then sends the
// last state: so a consumer gets at most one write of a slice in a second, and the last change is
// never lost. What was dispatched from a slice that has gone is deleted at once.
//
// Whose endpoints reach whom is decided by the service alone. A collected Work may have been
// written by the agent of a pull cluster, so its word is not taken: the cluster has to be a
// provider of the service, and the slice has to be of the service's namespace. Of the slice itself
// only what it says about endpoints goes on (dispatched_slices.h). Works and slices that are there
// in the consumer under the same names, of another provider or of anybody else, stay; then the
// condition says so, and the slice is tried again a minute later, since the end of the other one
// brings no pass.
//
// A pass is caused by the collected Work, by what was dispatched from it, by the service and by
// clusters that are added, are removed or change whether they take part. All of them are found by
// indexes. A cluster that changes brings a pass over all consumers of each slice: with 100
// consumers that takes 1 ms if nothing is to be written (2 ms with 1,000 endpoints), of which 0.1
// ms are the 100 manifests, so that nobody keeps a list of what to leave out.

#include "controllers/multi_cluster_service/endpoint_slice_dispatch_reconciler.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/multi_cluster_service.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/multi_cluster_service/condition_report.h"
#include "controllers/multi_cluster_service/dispatched_slices.h"
#include "controllers/multi_cluster_service/register.h"
#include "controllers/multi_cluster_service/unfit_clusters.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"
#include "works/collected_slices.h"
#include "works/related.h"

namespace controllers {
namespace {

using api::ServiceRole;

constexpr api::SliceCollector kCollector = api::SliceCollector::kMultiClusterService;

constexpr ConditionTexts kTexts = {
    .type = api::kEndpointSliceDispatched,
    .success_reason = api::reason::kEndpointSliceDispatchedSucceed,
    .failure_reason = api::reason::kEndpointSliceDispatchedFailed,
    .success_event = api::reason::kDispatchEndpointSliceSucceed,
    .failure_event = api::reason::kDispatchEndpointSliceFailed,
    .success_message = api::message::kEndpointSlicesDispatched,
};

// Returns the MultiClusterService that wants the Work's slice; without a name when none does.
kube::ObjectKey WantedBy(const kube::ObjectPtr& source) {
  if (source == nullptr || source->IsDeleting()) return {};
  if (!api::IsCollectedBy(*source, kCollector)) return {};
  return api::CollectedServiceOf(*source, kCollector);
}

absl::Duration PauseAfter(int consumers) {
  return std::clamp(consumers * kPausePerConsumer, kDispatchPause, kLongestDispatchPause);
}

bool IsInForce(const kube::Object& service) {
  return !service.IsDeleting() && api::MultiClusterServiceView(service).IsCrossCluster();
}

bool IsOlder(const kube::Object& a, const kube::Object& b) {
  const auto age = [](const kube::Object& work) {
    return std::make_pair(work.metadata()["creationTimestamp"].ToString(), work.key());
  };
  return age(a) < age(b);
}

absl::Status CheckNamespace(const kube::Object& source, const kube::Object& service) {
  const kube::ObjectKey slice = api::SliceOf(source);
  if (slice.ns == service.ns()) return absl::OkStatus();
  return base::Terminal(absl::InvalidArgumentError(
      absl::StrCat("Work ", source.key().ToString(), " carries EndpointSlice ", slice.ToString(),
                   ", which is not of the namespace of Service ", service.key().ToString(),
                   " that its labels name; it is not dispatched")));
}

bool HasFailed(const kube::Object& service) {
  const json::Value* condition = kube::FindCondition(service.status()["conditions"], kTexts.type);
  return condition != nullptr && (*condition)["status"].AsString() == "False";
}

}  // namespace

std::vector<std::string> DispatchIndexValues(const kube::Object& service) {
  if (!HasFailed(service)) return {};
  return {kFailed};
}

EndpointSliceDispatchReconciler::EndpointSliceDispatchReconciler(
    kube::Manager& manager, std::shared_ptr<DeterminedConditions> determined,
    std::shared_ptr<SeenDeletions> seen)
    : manager_(manager),
      seen_(std::move(seen)),
      determined_(std::move(determined)),
      writer_(manager.cluster()),
      pace_(manager.clock()),
      recorder_(manager.events(), api::kEndpointSliceDispatchController, outcomes()) {}

absl::StatusOr<kube::Action> EndpointSliceDispatchReconciler::Reconcile(
    const kube::Request& request, const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  if (request.reason == kReportUnfit) {
    ReportUnfitClusters(client, recorder_, ServiceRole::kConsumer, request);
    return kube::Action::Done();
  }
  const absl::StatusOr<std::string> provider = api::ClusterOfExecutionNamespace(request.key.ns);
  if (!provider.ok()) return kube::Action::Done();  // It was not collected.
  const kube::ObjectPtr source = client.Find(api::Works(), request.key);
  const kube::ObjectKey wanted_by = WantedBy(source);
  const kube::ObjectPtr service = client.Find(api::MultiClusterServices(), wanted_by);
  if (source == nullptr) return CleanUpAfter(request.key, stop);
  seen_->Forget(request.key);
  const bool is_dispatched = service != nullptr && IsInForce(*service) &&
                             Means(*service, ServiceRole::kProvider, *provider);
  if (is_dispatched) return Dispatch(source, *provider, service, stop);
  if (service == nullptr && !wanted_by.name.empty()) {
    // If it was deleted, its loop takes it off the Work.
    determined_->Forget(wanted_by);
    return kube::Action::Done();
  }
  // The finalizer of a Work that is still claimed stays: the collector would put it on again.
  const bool is_claimed = !wanted_by.name.empty();
  RETURN_IF_ERROR(CleanUp(request.key, is_claimed ? nullptr : source, stop));
  return kube::Action::Gone();
}

absl::StatusOr<kube::Action> EndpointSliceDispatchReconciler::CleanUpAfter(
    const kube::ObjectKey& key, const base::StopToken& stop) {
  const std::vector<kube::ObjectPtr> kept =
      manager_.cluster().ByIndex(api::Works(), kWorksBySlice, key.ToString());
  if (!kept.empty()) {
    ASSIGN_OR_RETURN(const auto absence, seen_->Judge(manager_.cluster(), api::Works(), key, stop));
    if (absence == SeenDeletions::Absence::kOfCache) return kube::Action::Done();
    if (absence == SeenDeletions::Absence::kUnseen) {
      RETURN_IF_ERROR(ReportOnFailed(results_.Forget(key), stop));
      return kube::Action::Gone(ReportKept(recorder_, manager_.clock().Now(), kept,
                                           absl::StrCat("Work ", key.ToString())));
    }
  }
  RETURN_IF_ERROR(CleanUp(key, nullptr, stop));
  return kube::Action::Gone();
}

absl::StatusOr<kube::Action> EndpointSliceDispatchReconciler::Dispatch(
    const kube::ObjectPtr& source, const std::string& provider, const kube::ObjectPtr& service,
    const base::StopToken& stop) {
  const absl::Duration pause = pace_.PauseFor(source->key());
  // Only the writes of a slice are spaced; the end of one is not kept waiting (CleanUp).
  if (pause > absl::ZeroDuration()) return kube::Action::After(pause);
  const absl::StatusOr<bool> deleted = DeleteElsewhere(*source, *service, stop);
  const absl::StatusOr<bool> written = WriteAll(*source, provider, *service, stop);
  base::ErrorList errors;
  errors.Add(deleted.status());
  errors.Add(written.status());
  const absl::Status result = recorder_.Judge({source->key()}, "", errors.Join());
  if (kube::IsNoOutcome(result)) return result;
  const bool changed = (deleted.ok() && *deleted) || (written.ok() && *written);
  // The condition of the service is about all of its slices, of which this pass knows one.
  results_.Note(service->key(), source->key(), result);
  RETURN_IF_ERROR(ReportOn(service, changed, stop));
  if (result.ok()) return kube::Action::Done();
  if (!base::IsTerminal(result)) return result;
  base::LogWarning("an EndpointSlice could not be dispatched",
                   {{"work", source->key().ToString()},
                    {"error", result},
                    {"again after", absl::FormatDuration(kAfterLastingFailure)}});
  return kube::Action::After(kAfterLastingFailure);
}

bool EndpointSliceDispatchReconciler::Consumes(const kube::Object& service,
                                               const std::string& cluster) const {
  return Means(service, ServiceRole::kConsumer, cluster) &&
         manager_.cluster().Find(api::Clusters(), {"", cluster}) != nullptr;
}

absl::StatusOr<bool> EndpointSliceDispatchReconciler::DeleteElsewhere(const kube::Object& source,
                                                                      const kube::Object& service,
                                                                      const base::StopToken& stop) {
  base::ErrorList errors;
  bool changed = false;
  const bool may_stay = CheckNamespace(source, service).ok();
  for (const kube::ObjectPtr& work :
       manager_.cluster().ByIndex(api::Works(), kWorksBySlice, source.key().ToString())) {
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work->ns());
    const bool stays = may_stay && cluster.ok() && Consumes(service, *cluster);
    if (work->IsDeleting() || stays) continue;
    errors.Add(DeleteWork(*work, stop));
    changed = true;
  }
  RETURN_IF_ERROR(errors.Join());
  return changed;
}

// The name of the Work follows from the slice alone, so another provider's slice, the consumer's
// own or one that is propagated there may have it already; and the name of the slice follows from
// that of the provider and of its slice, which two providers can choose so that they meet ("a-b"
// and "c", "a" and "b-c"). Whoever has a name keeps it: two that write one object would undo each
// other, and one provider could take the place of another.
absl::Status EndpointSliceDispatchReconciler::CheckPlace(const works::WantedWork& wanted,
                                                         const kube::Object* existing,
                                                         const kube::ObjectKey& source) const {
  const bool is_other =
      existing != nullptr && !existing->IsDeleting() && SourceOf(*existing) != source;
  if (is_other) {
    return base::Terminal(absl::AlreadyExistsError(
        absl::StrCat("Work ", wanted.key.ToString(), " carries something else: ",
                     "an EndpointSlice of this name comes from another cluster, or is the "
                     "cluster's own")));
  }
  for (const kube::ObjectPtr& other : manager_.cluster().ByIndex(
           api::Works(), kWorksByPlace, PlaceOf(wanted.key.ns, wanted.manifest.key()))) {
    if (other->key() == wanted.key) continue;
    if (existing != nullptr && !existing->IsDeleting() && IsOlder(*existing, *other)) continue;
    return base::Terminal(absl::AlreadyExistsError(
        absl::StrCat("Work ", other->key().ToString(), " puts ", wanted.manifest.Describe(),
                     " there already; rename one of the slices or clusters that it is made of")));
  }
  return absl::OkStatus();
}

absl::StatusOr<works::WorkWriter::Result> EndpointSliceDispatchReconciler::WriteFor(
    const struct Dispatch& dispatch, const std::string& consumer, const base::StopToken& stop) {
  const works::WantedWork wanted = WorkForConsumer(dispatch, consumer);
  const kube::ObjectPtr existing = manager_.cluster().Find(api::Works(), wanted.key);
  const absl::Status free = CheckPlace(wanted, existing.get(), dispatch.source.key());
  // Two workers may have found the place empty at the same moment.
  const bool has_lost_it = !free.ok() && existing != nullptr && !existing->IsDeleting() &&
                           SourceOf(*existing) == dispatch.source.key();
  if (has_lost_it) RETURN_IF_ERROR(DeleteWork(*existing, stop));
  RETURN_IF_ERROR(free);
  return writer_.CreateOrUpdate(wanted, existing, stop);
}

absl::StatusOr<bool> EndpointSliceDispatchReconciler::WriteAll(const kube::Object& source,
                                                               const std::string& provider,
                                                               const kube::Object& service,
                                                               const base::StopToken& stop) {
  RETURN_IF_ERROR(CheckNamespace(source, service));
  const struct Dispatch dispatch = {source, provider, service.key()};
  base::ErrorList errors;
  bool changed = false;
  int consumers = 0;
  for (const std::string& consumer :
       ClustersOf(manager_.cluster(), service, ServiceRole::kConsumer)) {
    const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), {"", consumer});
    if (consumer == provider || cluster == nullptr) continue;
    if (!Means(service, ServiceRole::kConsumer, consumer)) continue;
    if (!TakesPart(manager_.cluster(), *cluster)) continue;  // It brings the next pass.
    ++consumers;
    const absl::StatusOr<works::WorkWriter::Result> written = WriteFor(dispatch, consumer, stop);
    if (written.ok()) {
      changed = changed || written->written;
    } else {
      errors.Add(
          base::Annotate(works::ExplainedByCluster(manager_.cluster(), consumer, written.status()),
                         "cluster ", consumer));
    }
  }
  // In proportion to the consumers, so that a slice which changes all the time takes a bounded
  // share of the writes.
  if (changed) pace_.Written(source.key(), PauseAfter(consumers));
  RETURN_IF_ERROR(errors.Join());
  return changed;
}

absl::Status EndpointSliceDispatchReconciler::CleanUp(const kube::ObjectKey& key,
                                                      const kube::ObjectPtr& source,
                                                      const base::StopToken& stop) {
  base::ErrorList errors;
  for (const kube::ObjectPtr& work :
       manager_.cluster().ByIndex(api::Works(), kWorksBySlice, key.ToString())) {
    if (!work->IsDeleting()) errors.Add(DeleteWork(*work, stop));
  }
  RETURN_IF_ERROR(errors.Join());
  if (source != nullptr) {
    RETURN_IF_ERROR(manager_.cluster().RemoveFinalizer(api::Works(), source,
                                                       api::kEndpointSliceDispatchFinalizer, stop));
  }
  return ReportOnFailed(results_.Forget(key), stop);
}

// The slice that has left may have been the one that failed. Its Work, which names the service, may
// be gone or may belong to another one by now, and after a start nobody remembers: then it may be
// any service that says so.
absl::Status EndpointSliceDispatchReconciler::ReportOnFailed(
    const std::vector<kube::ObjectKey>& left, const base::StopToken& stop) {
  base::ErrorList errors;
  for (const kube::ObjectPtr& service :
       manager_.cluster().ByIndex(api::MultiClusterServices(), kServicesByDispatch, kFailed)) {
    const bool concerned = left.empty() || absl::c_linear_search(left, service->key());
    if (concerned && IsInForce(*service)) errors.Add(ReportOn(service, false, stop));
  }
  return errors.Join();
}

absl::Status EndpointSliceDispatchReconciler::ReportOn(const kube::ObjectPtr& service, bool changed,
                                                       const base::StopToken& stop) {
  std::vector<kube::ObjectKey> slices;
  for (const kube::ObjectPtr& work :
       manager_.cluster().ByIndex(api::Works(), works::kWorksByCollectedService,
                                  works::CollectedFor(kCollector, service->key()))) {
    // What a cluster that is not a provider has collected is not dispatched, and has no result.
    const absl::StatusOr<std::string> provider = api::ClusterOfExecutionNamespace(work->ns());
    const bool counts =
        !work->IsDeleting() && provider.ok() && Means(*service, ServiceRole::kProvider, *provider);
    if (counts) slices.push_back(work->key());
  }
  const std::optional<absl::Status> of_all = results_.OfAll(service->key(), slices);
  if (!of_all.has_value()) return absl::OkStatus();
  return ReportCondition({manager_, recorder_, *determined_}, service, kTexts, *of_all, changed,
                         stop);
}

absl::Status EndpointSliceDispatchReconciler::DeleteWork(const kube::Object& work,
                                                         const base::StopToken& stop) {
  return base::Annotate(
      manager_.cluster().Delete(api::Works(), work.key(), {.uid = std::string(work.uid())}, stop),
      "deleting Work ", work.key().ToString());
}

namespace {

bool OtherIntent(const kube::Object& before, const kube::Object& after) {
  return before.spec() != after.spec() || before.IsDeleting() != after.IsDeleting();
}

// Maps Works that carry a slice to the collected Work that they are, or come from.
std::vector<kube::Request> RequestForSource(const kube::Object& work) {
  const kube::ObjectKey source = SourceOf(work);
  if (!source.name.empty()) return {{.key = source}};
  const bool is_ours = api::IsCollectedBy(work, kCollector) ||
                       work.HasFinalizer(api::kEndpointSliceDispatchFinalizer);
  if (!is_ours) return {};
  return {{.key = work.key()}};
}

}  // namespace

absl::Status RegisterEndpointSliceDispatch(const Context& context, int workers) {
  const RequestsFor slices = [works = context.InformerOf(api::Works())](
                                 const kube::Object& service, std::vector<kube::Request>& out) {
    for (const kube::ObjectPtr& work : works->store().ByIndex(
             works::kWorksByCollectedService, works::CollectedFor(kCollector, service.key()))) {
      out.push_back({.key = work->key()});
    }
  };
  const kube::MapFn slices_of = [slices](const kube::Object& service) {
    std::vector<kube::Request> out;
    slices(service, out);
    return out;
  };
  const auto seen = std::make_shared<SeenDeletions>();
  kube::Enqueue deleted = OnDeletion(seen, RequestForSource);
  deleted.when.remove = [](const kube::Object& work) {
    return SourceOf(work).name.empty() && !RequestForSource(work).empty();
  };
  const std::vector<ServiceRole> consumers = {ServiceRole::kConsumer};
  const auto determined = std::make_shared<DeterminedConditions>();
  kube::Controller& controller =
      context.NewController(api::kEndpointSliceDispatchController, workers)
          .Reads(api::Works(), works::kWorksByCollectedService, works::CollectedServices)
          .Reads(api::Works(), kWorksBySlice, SliceIndexValues)
          .Reads(api::Works(), kWorksByPlace, PlaceIndexValues)
          .Watches(api::Works(),
                   {.when = {.update = kube::ContentChanged}, .map = RequestForSource})
          .Watches(api::Works(), std::move(deleted))
          .Watches(api::MultiClusterServices(), {.when = {.update = OtherIntent}, .map = slices_of})
          .Watches(api::MultiClusterServices(),
                   OnOtherCondition(determined, kTexts.type, slices_of))
          .Reads(api::MultiClusterServices(), kServicesByDispatch, DispatchIndexValues)
          .Watches(api::Clusters(), OnFitnessOfClusters(context, slices, consumers))
          .Reads(api::Namespaces())
          .Build(
              std::make_unique<EndpointSliceDispatchReconciler>(context.manager, determined, seen));
  QueueUnfitReports(context, controller, ServiceRole::kConsumer);
  OnNewExecutionNamespace(context, controller, slices, consumers);
  return absl::OkStatus();
}

}  // namespace controllers
