// One collector is two loops. The loop over slices comes first, since everything else puts into its
// queue: its requests name a slice, a Service, or a whole cluster. The loop over clusters, with one
// worker, follows and leaves the informers of members (SliceSources) and feeds the first. A Work
// therefore is watched three times: as what carries or asks for slices, as a demand that ends
// (which is noted in SeenDeletions, because only an end that was seen counts), and as a reason to
// follow its cluster. Handlers in members are removed before the queue that they use is destroyed.

#include "controllers/slice_collection/register.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/cluster.h"
#include "api/endpoint_slice.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/context/execution_namespace.h"
#include "controllers/context/seen_deletions.h"
#include "controllers/slice_collection/lasting_failures.h"
#include "controllers/slice_collection/slice_demand.h"
#include "controllers/slice_collection/slice_reconciler.h"
#include "controllers/slice_collection/slice_sources.h"
#include "controllers/slice_collection/slice_watches.h"
#include "kube/runtime/controller.h"
#include "works/collected_slices.h"
#include "works/related.h"

namespace controllers {
namespace {

using api::SliceCollector;

// A Work of a collected slice brings the slice, a Work that asks for slices its Service. The end of
// a Work that only the other collector had may be what this one waits for, and so may be any change
// of a Work that has the place of a slice, whatever it carries.
kube::MapFn SlicesOfWork(SliceCollector collector,
                         const std::shared_ptr<LastingFailures>& failures) {
  return [collector, failures](const kube::Object& work) {
    std::vector<kube::Request> requests;
    if (auto waiting = failures->WaitingFor(work.key())) requests.push_back(*std::move(waiting));
    const std::string cluster = api::ClusterOfExecutionNamespace(work.ns()).value_or("");
    if (cluster.empty()) return requests;
    const kube::ObjectKey service = DemandedService(work, collector);
    if (!service.name.empty() && collector == SliceCollector::kMultiClusterService) {
      requests.push_back({.key = service, .cluster = cluster, .reason = kSlicesOfService});
    }
    if (api::IsCollectedSlice(work)) {
      requests.push_back({.key = api::SliceOf(work), .cluster = cluster, .reason = kOneSlice});
    }
    return requests;
  };
}

// Notes that a Work asks for the slices of a MultiClusterService no more, and brings these.
kube::Enqueue OnEndOfDemand(const std::shared_ptr<SeenDeletions>& seen) {
  kube::Enqueue enqueue{.when = {.add = kube::Never, .update = kube::NeverUpdate}};
  enqueue.map = [seen](const kube::Object& work) -> std::vector<kube::Request> {
    kube::Object last = work;
    // A Work that is being deleted asks for nothing any more; here it counts what it asked for
    // before.
    last.Erase({"metadata", "deletionTimestamp"});
    const std::string cluster = api::ClusterOfExecutionNamespace(work.ns()).value_or("");
    const kube::ObjectKey service = DemandedService(last, SliceCollector::kMultiClusterService);
    if (cluster.empty() || service.name.empty()) return {};
    seen->Note(DemandOf(work.ns(), service));
    return {{.key = service, .cluster = cluster, .reason = kSlicesOfService}};
  };
  return enqueue;
}

kube::MapFn ClusterOfWork() {
  return [](const kube::Object& work) {
    std::vector<kube::Request> requests;
    std::string cluster = api::ClusterOfExecutionNamespace(work.ns()).value_or("");
    if (!cluster.empty()) requests.push_back({.key = {}, .cluster = std::move(cluster)});
    return requests;
  };
}

std::vector<kube::Request> RequestForCluster(const kube::Object& cluster) {
  return {{.key = {}, .cluster = std::string(cluster.name())}};
}

auto MayBeOtherwise(const ServedClusters& served) {
  return [served](const kube::Object& before, const kube::Object& after) {
    return works::BecameReady(before, after) || works::ServesOtherKinds(before, after) ||
           before.IsDeleting() != after.IsDeleting() || served.Have(before) != served.Have(after);
  };
}

struct QueueOfSlices {
  const char* name;
  int workers;
};

struct Slices {
  std::shared_ptr<SliceSources> sources;
  kube::WorkQueue& queue;
};

Slices BuildBySlice(const Context& context, const SliceCollection& collection,
                    const QueueOfSlices& of) {
  const SliceCollector collector = collection.collector;
  auto failures = std::make_shared<LastingFailures>(context.manager.clock());
  const kube::MapFn slices_of = SlicesOfWork(collector, failures);
  const auto matters = [slices_of](const kube::Object& work) { return !slices_of(work).empty(); };
  auto sources = std::make_shared<SliceSources>(context.inventory, collector);
  const auto seen = std::make_shared<SeenDeletions>();
  auto reconciler = std::make_unique<SliceReconciler>(collection, sources, failures, seen);
  SliceReconciler& by_slice = *reconciler;
  kube::Controller& controller =
      context.NewController(of.name, of.workers)
          .Watches(api::Works(),
                   {.when = {.add = matters, .update = kube::ContentChanged}, .map = slices_of})
          .Watches(api::Works(), OnEndOfDemand(seen))
          .Reads(api::Works(), DemandIndex(collector), DemandIndexValues(collector))
          .Reads(api::Works(), works::kWorksByCollectedService, works::CollectedServices)
          .Reads(api::Clusters())
          .Reads(api::Namespaces())
          .Build(std::move(reconciler));
  kube::WorkQueue& queue = controller.queue();
  by_slice.Attach(queue);
  sources->Attach(queue);
  // The handlers in members end before the queue does.
  controller.Keep(std::shared_ptr<void>(nullptr, [sources](void*) { sources->LeaveAll(); }));
  OnExecutionNamespace(context, controller, [&queue](const std::string& cluster) {
    queue.Add({.key = {}, .cluster = cluster, .reason = kAllSlices});
  });
  return {sources, queue};
}

void BuildByCluster(const Context& context, const SliceCollection& collection,
                    const Slices& slices) {
  const SliceCollector collector = collection.collector;
  const auto matters = [collector](const kube::Object& work) {
    return !DemandedService(work, collector).name.empty() || api::IsCollectedBy(work, collector);
  };
  kube::ControllerBuilder by_cluster = context.NewController(collection.source, 1);
  kube::Controller& clusters =
      ReadsCredentials(by_cluster)
          .Watches(
              api::Works(),
              {.when = {.add = matters,
                        .update =
                            [collector](const kube::Object& before, const kube::Object& after) {
                              return ChangesDemand(collector, before, after);
                            },
                        .remove = matters},
               .map = ClusterOfWork()})
          .Watches(api::Clusters(), {.when = {.update = MayBeOtherwise(collection.served)},
                                     .map = RequestForCluster})
          .Reads(api::Works(), DemandIndex(collector), DemandIndexValues(collector))
          .Build(std::make_unique<SliceWatches>(collection, slices.sources, slices.queue));
  clusters.Keep(std::make_shared<kube::ClusterSet::Subscription>(
      context.members.OnReconnected([&queue = clusters.queue()](const std::string& cluster) {
        queue.Add({.key = {}, .cluster = cluster});
      })));
}

}  // namespace

absl::Status RegisterServiceExport(const Context& context, int workers) {
  const SliceCollection collection{context.manager, SliceCollector::kServiceExport,
                                   api::kServiceExportController, context.served};
  context.inventory.Reads(api::ServiceExports(),
                          {"metadata.creationTimestamp", "metadata.deletionTimestamp"});
  BuildByCluster(context, collection,
                 BuildBySlice(context, collection, {api::kServiceExportQueue, workers}));
  return absl::OkStatus();
}

absl::Status RegisterEndpointSliceCollect(const Context& context, int workers) {
  const SliceCollection collection{context.manager, SliceCollector::kMultiClusterService,
                                   api::kEndpointSliceCollectController, context.served};
  BuildByCluster(context, collection,
                 BuildBySlice(context, collection, {api::kEndpointSliceCollectQueue, workers}));
  return absl::OkStatus();
}

}  // namespace controllers
