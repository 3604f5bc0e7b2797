// What brings a pass over a MultiClusterService; multi_cluster_service_reconciler.cc explains why.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/binding_resource.h"
#include "api/endpoint_slice.h"
#include "api/multi_cluster_service.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "controllers/context/seen_deletions.h"
#include "controllers/multi_cluster_service/condition_report.h"
#include "controllers/multi_cluster_service/multi_cluster_service_reconciler.h"
#include "controllers/multi_cluster_service/register.h"
#include "controllers/multi_cluster_service/service_binding.h"
#include "controllers/multi_cluster_service/service_edits.h"
#include "controllers/multi_cluster_service/unfit_clusters.h"
#include "kube/meta/specification.h"
#include "kube/runtime/controller.h"
#include "works/collected_slices.h"

namespace controllers {
namespace {

bool OtherIntent(const kube::Object& before, const kube::Object& after) {
  for (const char* field : {"annotations", "labels", "finalizers", "deletionTimestamp"}) {
    if (before.metadata()[field] != after.metadata()[field]) return true;
  }
  return before.spec() != after.spec();
}

// A Service concerns the loop if it has a MultiClusterService, or the claim of one that is gone.
kube::Enqueue ForServices(const Context& context, const std::shared_ptr<ServiceEdits>& edits) {
  kube::Enqueue enqueue{.when = {.update = kube::SpecificationChanged}};
  enqueue.map = [services = context.InformerOf(api::MultiClusterServices())](
                    const kube::Object& target) -> std::vector<kube::Request> {
    const kube::ObjectPtr service = services->store().Find(target.key());
    const bool has_one =
        service != nullptr && api::MultiClusterServiceView(*service).IsCrossCluster();
    if (!has_one && !api::IsClaimedService(target)) return {};
    return {{.key = target.key()}};
  };
  enqueue.map_update = [map = enqueue.map, edits](const kube::Object&, const kube::Object& after) {
    std::vector<kube::Request> requests = map(after);
    // Noted before the request is queued, so that the pass finds the edit that has brought it.
    if (!requests.empty()) edits->Add(after);
    return requests;
  };
  return enqueue;
}

std::vector<kube::Request> RequestForClaimOn(const kube::Object& binding) {
  const kube::ObjectKey service = api::ClaimingService(binding);
  if (!api::IsClaimedBinding(binding) || service.name.empty() || service.ns != binding.ns()) {
    return {};
  }
  return {{.key = service}};
}

// The end of a binding that is not claimed, such as one that a policy had, may be what the service
// has been waiting for.
kube::Enqueue ForEndedBindings(const Context& context) {
  kube::Enqueue enqueue{.when = {.add = kube::Never, .update = kube::NeverUpdate}};
  enqueue.map = [services = context.InformerOf(api::MultiClusterServices())](
                    const kube::Object& binding) -> std::vector<kube::Request> {
    const api::ObjectReference target = api::BindingView(binding).Resource();
    const bool has_one = api::MayStandForResource(binding) &&
                         target.kind == api::Services().gvk.kind &&
                         services->store().Find(target.key()) != nullptr;
    if (!has_one) return {};
    return {{.key = target.key()}};
  };
  return enqueue;
}

bool OtherContent(const kube::Object& before, const kube::Object& after) {
  return kube::GenerationChanged(before, after) || before.labels() != after.labels();
}

// What was collected concerns the loop only where nothing is to be collected any more.
kube::Enqueue ForWorks(const Context& context) {
  kube::Enqueue enqueue{.when = {.update = OtherContent}};
  enqueue.map = [services = context.InformerOf(api::MultiClusterServices())](
                    const kube::Object& work) -> std::vector<kube::Request> {
    const kube::ObjectKey key = api::MultiClusterServiceOf(work);
    if (key.name.empty()) return {};
    if (api::CarriesMultiClusterService(work)) return {{.key = key}};
    if (!api::IsCollectedSlice(work)) return {};
    const kube::ObjectPtr service = services->store().Find(key);
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work.ns());
    const bool is_wanted = service != nullptr && !service->IsDeleting() && cluster.ok() &&
                           Means(*service, api::ServiceRole::kProvider, *cluster);
    if (is_wanted) return {};
    return {{.key = key}};
  };
  return enqueue;
}

}  // namespace

std::vector<std::string> MultiClusterServiceIndexValues(const kube::Object& work) {
  const kube::ObjectKey service = api::MultiClusterServiceOf(work);
  if (service.name.empty() || !api::CarriesMultiClusterService(work)) return {};
  return {service.ToString()};
}

absl::Status RegisterMultiClusterService(const Context& context, int workers) {
  const auto itself = [](const kube::Object& service, std::vector<kube::Request>& out) {
    out.push_back({.key = service.key()});
  };
  const std::vector<api::ServiceRole> both = {api::ServiceRole::kProvider,
                                              api::ServiceRole::kConsumer};
  const auto edits = std::make_shared<ServiceEdits>();
  const auto determined = std::make_shared<DeterminedConditions>();
  const auto seen = std::make_shared<SeenDeletions>();
  kube::Controller& controller =
      context.NewController(api::kMultiClusterServiceController, workers)
          .Watches(api::MultiClusterServices(),
                   {.when = {.update = OtherIntent, .remove = kube::Never}})
          .Watches(api::MultiClusterServices(), OnDeletion(seen))
          .Watches(api::MultiClusterServices(), OnOtherCondition(determined, api::kServiceApplied))
          .Watches(api::Services(), ForServices(context, edits))
          .Watches(api::Clusters(), OnFitnessOfClusters(context, itself, both))
          .Watches(api::ResourceBindings(),
                   {.when = {.update = OwnedPartChanged}, .map = RequestForClaimOn})
          .Watches(api::ResourceBindings(), ForEndedBindings(context))
          .Watches(api::Works(), ForWorks(context))
          .Reads(api::Works(), kWorksByMultiClusterService, MultiClusterServiceIndexValues)
          .Reads(api::Works(), works::kWorksByCollectedService, works::CollectedServices)
          .Reads(api::Namespaces())
          .Build(
              std::make_unique<MultiClusterServiceReconciler>(MultiClusterServiceReconciler::Deps{
                  context.manager, context.rechecks, edits, determined, seen}));
  QueueUnfitReports(context, controller, api::ServiceRole::kProvider);
  OnNewExecutionNamespace(context, controller, itself, both);
  return absl::OkStatus();
}

}  // namespace controllers
