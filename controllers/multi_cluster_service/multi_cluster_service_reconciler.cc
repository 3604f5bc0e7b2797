// A pass over a MultiClusterService of type CrossCluster puts a finalizer on it, writes a Work with
// it for every provider cluster that takes part, deletes those of other clusters, claims the
// Service of the same name, writes the binding of that, and the condition. A step that fails does
// not keep the others from being made. The Works are never dispatched: they are how the collecting
// loop, here or in an agent, gets to know what to collect.
//
// A service that is being deleted, or is not CrossCluster any more, gives back what it has claimed:
// the binding first and then the Service, so that a failure half-way is still found by the Service;
// then the Works and what was collected for them are deleted, then the finalizer is removed. The
// binding itself stays, so that nothing is interrupted; the detector hands the Service to a policy
// again if one selects it. A service that is gone is cleaned up after likewise, once the server
// agrees that it is gone: its finalizer may have been removed by force, or nobody has looked after
// it.
//
// A pass is caused by the service, by its Service, by clusters that are added, are removed or
// change whether they take part, and by whatever bears the mark of the service and was changed by
// somebody else: its Works, its binding. These things are delivered at a start, too, and so lead to
// services that are gone. A pass that misses a Service is not repeated: its creation starts another
// one.

#include "controllers/multi_cluster_service/multi_cluster_service_reconciler.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_owner.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/multi_cluster_service.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "controllers/multi_cluster_service/condition_report.h"
#include "controllers/multi_cluster_service/service_binding.h"
#include "controllers/multi_cluster_service/unfit_clusters.h"
#include "kube/client/errors.h"
#include "works/related.h"

namespace controllers {
namespace {

using api::MultiClusterServiceView;
using api::ServiceRole;

constexpr api::SliceCollector kCollector = api::SliceCollector::kMultiClusterService;

constexpr ConditionTexts kTexts = {
    .type = api::kServiceApplied,
    .success_reason = api::reason::kServiceAppliedSucceed,
    .failure_reason = api::reason::kServiceAppliedFailed,
    .success_event = api::reason::kSyncServiceSucceed,
    .failure_event = api::reason::kSyncServiceFailed,
    .success_message = api::message::kServicePropagated,
};

// That of the dispatching loop, which looks at services only because of their slices.
constexpr char const* kOtherCondition = api::kEndpointSliceDispatched;

// Returns whether the object is claimed in the name of the service.
template <class IsClaimed>
bool IsClaimedBy(const kube::ObjectPtr& object, const kube::ObjectKey& service,
                 const IsClaimed& is_claimed) {
  return object != nullptr && is_claimed(*object) && api::ClaimingService(*object) == service;
}

// Upstream's words.
absl::Status NoService(const kube::ObjectKey& key) {
  return base::Terminal(
      absl::NotFoundError(absl::StrCat(api::Services().gvk.kind, " \"", key.name, "\" not found")));
}

const kube::UpdateOptions kIfUnchanged = {.precondition =
                                              kube::UpdateOptions::Precondition::kAlways};

}  // namespace

void MultiClusterServiceReconciler::Pass::Add(const absl::StatusOr<bool>& step) {
  errors.Add(step.status());
  changed = changed || (step.ok() && *step);
}

MultiClusterServiceReconciler::MultiClusterServiceReconciler(Deps deps)
    : deps_(std::move(deps)),
      writer_(deps_.manager.cluster()),
      collected_(deps_.manager.cluster()),
      recorder_(deps_.manager.events(), api::kMultiClusterServiceController, outcomes()) {}

absl::StatusOr<kube::Action> MultiClusterServiceReconciler::Reconcile(const kube::Request& request,
                                                                      const base::StopToken& stop) {
  kube::ClusterClient& client = deps_.manager.cluster();
  if (request.reason == kReportUnfit) {
    ReportUnfitClusters(client, recorder_, ServiceRole::kProvider, request);
    return kube::Action::Done();
  }
  const kube::ObjectPtr service = client.Find(api::MultiClusterServices(), request.key);
  if (service == nullptr) return CleanUpAfter(request.key, stop);
  deps_.seen->Forget(request.key);
  if (service->IsDeleting() || !MultiClusterServiceView(*service).IsCrossCluster()) {
    RETURN_IF_ERROR(Withdraw(service, stop));
  } else {
    RETURN_IF_ERROR(Propagate(service, stop));
  }
  return kube::Action::Done();
}

absl::Status MultiClusterServiceReconciler::Propagate(const kube::ObjectPtr& found,
                                                      const base::StopToken& stop) {
  kube::ClusterClient& client = deps_.manager.cluster();
  kube::Object marked = *found;
  marked.AddFinalizer(api::kMultiClusterServiceFinalizer);
  ASSIGN_OR_RETURN(const kube::ObjectPtr service,
                   client.Update(api::MultiClusterServices(), found, marked, {}, stop));
  Pass pass;
  pass.changed = service != found;
  const auto provides = [&](const std::string& cluster) {
    return Means(*service, ServiceRole::kProvider, cluster) &&
           client.Find(api::Clusters(), {"", cluster}) != nullptr;
  };
  for (const kube::ObjectPtr& cluster : client.List(api::Clusters())) {
    const std::string name(cluster->name());
    if (!provides(name) || !TakesPart(client, *cluster)) continue;
    pass.Add(WriteWorkFor(*service, name, stop));
  }
  pass.Add(DeleteWorks(service->key(), provides, stop));
  pass.Add(PropagateService(*service, stop));
  const absl::Status result = recorder_.Judge({service->key()}, "", pass.errors.Join());
  const absl::Status reported = ReportCondition({deps_.manager, recorder_, *deps_.determined},
                                                service, kTexts, result, pass.changed, stop);
  RETURN_IF_ERROR(result);
  return reported;
}

absl::StatusOr<bool> MultiClusterServiceReconciler::WriteWorkFor(const kube::Object& service,
                                                                 const std::string& cluster,
                                                                 const base::StopToken& stop) {
  works::WantedWork wanted;
  wanted.key = {api::ExecutionNamespace(cluster),
                api::WorkName(service.kind(), service.name(), service.ns())};
  wanted.manifest = service;
  wanted.labels = api::MultiClusterServiceLabels(service.key());
  wanted.labels.Set(api::kMultiClusterServiceIdLabel,
                    MultiClusterServiceView(service).PermanentId());
  wanted.finalizers = {};
  // The execution loop must not apply it: members have no such kind.
  wanted.suspend_dispatching = true;
  const absl::StatusOr<works::WorkWriter::Result> result = writer_.CreateOrUpdate(wanted, stop);
  if (result.ok()) return result->written;
  return base::Annotate(
      works::ExplainedByCluster(deps_.manager.cluster(), cluster, result.status()), "cluster ",
      cluster);
}

absl::StatusOr<bool> MultiClusterServiceReconciler::DeleteWorks(
    const kube::ObjectKey& key, const std::function<bool(const std::string& cluster)>& stays,
    const base::StopToken& stop) {
  kube::ClusterClient& client = deps_.manager.cluster();
  Pass pass;
  const auto goes = [&](const kube::Object& work) {
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work.ns());
    return cluster.ok() && !work.IsDeleting() && !stays(*cluster);
  };
  // Without this Work nothing is collected in the cluster any more.
  for (const kube::ObjectPtr& work :
       client.ByIndex(api::Works(), kWorksByMultiClusterService, key.ToString())) {
    if (!goes(*work)) continue;
    pass.changed = true;
    pass.errors.Add(base::Annotate(
        client.Delete(api::Works(), work->key(), {.uid = std::string(work->uid())}, stop),
        "deleting Work ", work->key().ToString()));
  }
  for (const kube::ObjectPtr& work : client.ByIndex(api::Works(), works::kWorksByCollectedService,
                                                    works::CollectedFor(kCollector, key))) {
    if (goes(*work)) pass.Add(collected_.TakeOff(work, kCollector, stop));
  }
  RETURN_IF_ERROR(pass.errors.Join());
  return pass.changed;
}

absl::StatusOr<bool> MultiClusterServiceReconciler::PropagateService(const kube::Object& service,
                                                                     const base::StopToken& stop) {
  kube::ClusterClient& client = deps_.manager.cluster();
  const kube::ObjectPtr found = client.Find(api::Services(), service.key());
  if (found == nullptr) return NoService(service.key());
  kube::Object claimed = *found;
  api::ClaimService(service, claimed);
  const absl::StatusOr<kube::ObjectPtr> target =
      client.Update(api::Services(), found, claimed, kIfUnchanged, stop);
  if (kube::IsGone(target.status())) return NoService(service.key());
  if (!target.ok()) return base::Annotate(target.status(), "claiming ", found->Describe());
  ASSIGN_OR_RETURN(const bool written, WriteBinding(service, **target, stop));
  return written || *target != found;
}

absl::StatusOr<bool> MultiClusterServiceReconciler::WriteBinding(const kube::Object& service,
                                                                 const kube::Object& target,
                                                                 const base::StopToken& stop) {
  kube::ClusterClient& client = deps_.manager.cluster();
  std::set<std::string> clusters;
  for (const ServiceRole role : {ServiceRole::kProvider, ServiceRole::kConsumer}) {
    clusters.merge(ClustersOf(client, service, role));
  }
  const api::BindingAddress at = api::BindingOf(target.kind(), target.key());
  const kube::ObjectPtr existing = client.Find(at.resource, at.key);
  const kube::Object wanted = ServiceBinding({service, target, clusters}, existing.get());
  if (existing == nullptr) {
    RETURN_IF_ERROR(client.Create(at.resource, wanted, stop).status());
    return true;
  }
  const kube::OwnerRef owner{.api_version = std::string(target.api_version()),
                             .kind = std::string(target.kind()),
                             .name = std::string(target.name()),
                             .uid = std::string(target.uid())};
  RETURN_IF_ERROR(api::CheckBindingOwner(*existing, owner));
  if (existing->IsDeleting()) {  // Its end brings the next pass.
    return base::Terminal(absl::FailedPreconditionError(
        absl::StrCat(existing->Describe(), " is being deleted; it is made again when it is gone")));
  }
  const std::string recorded = api::BindingView(*existing).Resource().resource_version;
  // The Service has a new version without an edit of its specification (its status was written):
  // the binding's loop is asked to look, and the binding stays as it is.
  if (recorded != target.resource_version() && DifferOnlyInServiceVersion(wanted, *existing) &&
      !deps_.edits->HasSince(target.key(), recorded)) {
    deps_.rechecks.Publish(*existing);
    return false;
  }
  const absl::StatusOr<kube::ObjectPtr> written =
      client.Update(at.resource, existing, wanted, {}, stop);
  if (!written.ok()) return base::Annotate(written.status(), "updating ", existing->Describe());
  return *written != existing;
}

absl::StatusOr<bool> MultiClusterServiceReconciler::Release(const kube::ObjectKey& key,
                                                            const base::StopToken& stop) {
  kube::ClusterClient& client = deps_.manager.cluster();
  bool changed = false;
  // Both are written with the version that was read: a policy may be claiming them at this moment.
  const auto release = [&](const kube::Resource& resource, const kube::ObjectPtr& object,
                           void (*take_off)(kube::Object&)) -> absl::Status {
    kube::Object after = *object;
    take_off(after);
    changed = true;
    const absl::Status written =
        client.Update(resource, object, after, kIfUnchanged, stop).status();
    return base::Annotate(kube::IgnoreGone(written), "releasing ", object->Describe());
  };
  const api::BindingAddress at = api::BindingOf(api::Services().gvk.kind, key);
  const kube::ObjectPtr binding = client.Find(at.resource, at.key);
  if (IsClaimedBy(binding, key, api::IsClaimedBinding)) {
    RETURN_IF_ERROR(release(at.resource, binding, api::ReleaseBinding));
  }
  const kube::ObjectPtr target = client.Find(api::Services(), key);
  if (IsClaimedBy(target, key, api::IsClaimedService)) {
    RETURN_IF_ERROR(release(api::Services(), target, api::ReleaseService));
  }
  return changed;
}

absl::Status MultiClusterServiceReconciler::Withdraw(const kube::ObjectPtr& service,
                                                     const base::StopToken& stop) {
  const auto nowhere = [](const std::string&) { return false; };
  const kube::Request request = {service->key()};
  const absl::Status released = Release(service->key(), stop).status();
  const absl::Status deleted = DeleteWorks(service->key(), nowhere, stop).status();
  base::ErrorList errors;
  errors.Add(released);
  errors.Add(deleted);
  const absl::Status result = recorder_.Judge(request, "", errors.Join());
  recorder_.Outcome({.of = request,
                     .about = {kube::InvolvedObject::Of(*service)},
                     .success = {api::reason::kSyncServiceSucceed, "It has been withdrawn."},
                     .failure = {api::reason::kSyncServiceFailed,
                                 released.ok() ? api::message::ServiceWorksNotDeleted(deleted)
                                               : api::message::ServiceNotReleased(released)}},
                    result);
  RETURN_IF_ERROR(result);
  kube::ObjectPtr now = service;
  if (!service->IsDeleting()) {
    ASSIGN_OR_RETURN(
        now, WithdrawConditions(deps_.manager, service, {kTexts.type, kOtherCondition}, stop));
  }
  return deps_.manager.cluster().RemoveFinalizer(api::MultiClusterServices(), now,
                                                 api::kMultiClusterServiceFinalizer, stop);
}

bool MultiClusterServiceReconciler::HasTraces(const kube::ObjectKey& key) const {
  kube::ClusterClient& client = deps_.manager.cluster();
  const api::BindingAddress at = api::BindingOf(api::Services().gvk.kind, key);
  return IsClaimedBy(client.Find(at.resource, at.key), key, api::IsClaimedBinding) ||
         IsClaimedBy(client.Find(api::Services(), key), key, api::IsClaimedService) ||
         client.CountByIndex(api::Works(), kWorksByMultiClusterService, key.ToString()) > 0 ||
         client.CountByIndex(api::Works(), works::kWorksByCollectedService,
                             works::CollectedFor(kCollector, key)) > 0;
}

kube::Action MultiClusterServiceReconciler::ReportKept(const kube::ObjectKey& key) {
  kube::ClusterClient& client = deps_.manager.cluster();
  std::vector<kube::ObjectPtr> kept =
      client.ByIndex(api::Works(), kWorksByMultiClusterService, key.ToString());
  for (kube::ObjectPtr& work : client.ByIndex(api::Works(), works::kWorksByCollectedService,
                                              works::CollectedFor(kCollector, key))) {
    kept.push_back(std::move(work));
  }
  return controllers::ReportKept(recorder_, deps_.manager.clock().Now(), kept,
                                 absl::StrCat("MultiClusterService ", key.ToString()));
}

absl::StatusOr<kube::Action> MultiClusterServiceReconciler::CleanUpAfter(
    const kube::ObjectKey& key, const base::StopToken& stop) {
  deps_.edits->Forget(key);
  deps_.determined->Forget(key);
  if (HasTraces(key)) {
    ASSIGN_OR_RETURN(const auto absence, deps_.seen->Judge(deps_.manager.cluster(),
                                                           api::MultiClusterServices(), key, stop));
    if (absence == SeenDeletions::Absence::kOfCache) return kube::Action::Done();
    if (absence == SeenDeletions::Absence::kUnseen) return kube::Action::Gone(ReportKept(key));
    base::ErrorList errors;
    errors.Add(Release(key, stop).status());
    errors.Add(DeleteWorks(
                   key, [](const std::string&) { return false; }, stop)
                   .status());
    RETURN_IF_ERROR(base::Annotate(errors.Join(), "cleaning up after ", "MultiClusterService ",
                                   key.ToString()));
  }
  return kube::Action::Gone();
}

}  // namespace controllers
