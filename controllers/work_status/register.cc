#include "controllers/work_status/register.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "controllers/work_status/lost_status.h"
#include "controllers/work_status/member_watches.h"
#include "controllers/work_status/work_of_object.h"
#include "controllers/work_status/work_status_reconciler.h"
#include "kube/runtime/controller.h"
#include "works/related.h"
#include "works/rule_requeue.h"

namespace controllers {
absl::Status RegisterWorkStatus(const Context& context, const WorkStatusWorkers& workers) {
  const std::shared_ptr<kube::Informer> works = context.InformerOf(api::Works());
  const auto cluster_itself = [](const kube::Object& cluster) {
    return std::vector<kube::Request>{
        {.key = {}, .cluster = std::string(cluster.name()), .reason = kClusterLeft}};
  };
  auto reconciler = std::make_unique<WorkStatusReconciler>(
      WorkStatusDeps{context.manager, context.objects, context.status, context.rechecks,
                     context.interpreter, context.served});
  WorkStatusReconciler& status_loop = *reconciler;
  kube::ControllerBuilder by_object =
      context.NewController(api::kWorkStatusOfObjects, workers.by_object);
  kube::Controller& by_object_loop =
      ReadsCredentials(by_object)
          .Reads(api::Works(), kWorksByObject, ObjectIndexValues)
          .Reads(api::ResourceBindings())
          .Reads(api::ClusterResourceBindings())
          // While a cluster was not ready, this loop may have given up its objects. Missing objects
          // are created by the execution loop, whose Works are queued at the same moment.
          .Watches(
              api::Clusters(),
              {.when = {.add = kube::Never, .update = works::BecameReady, .remove = kube::Never},
               .map = works::ObjectsOf(works)})
          .Watches(api::Clusters(), {.when = {.add = kube::Never, .update = kube::NeverUpdate},
                                     .map = cluster_itself})
          .Watches(api::Works(),
                   {.when = {.add = kube::Never, .update = LostStatus, .remove = kube::Never},
                    .map_update = ObjectsThatLostStatus})
          .WithLanes([](const kube::Request& request) { return request.cluster; })
          .Build(std::move(reconciler));
  status_loop.Attach(by_object_loop.queue());
  works::RequeueWorks(
      context.interpreter,
      {by_object_loop.queue(),
       works,
       {interpreter::Operation::kInterpretStatus, interpreter::Operation::kInterpretHealth},
       [](const kube::Object& work) { return !works::HasNoObjects(work); }},
      [](const kube::Object& work, const kube::Object& manifest) {
        return kube::Request{.key = manifest.key(),
                             .gvk = manifest.gvk(),
                             .cluster = api::ClusterOfExecutionNamespace(work.ns()).value_or("")};
      });

  kube::ControllerBuilder by_work =
      context.NewController(api::kWorkStatusController, workers.by_work);
  kube::Controller& controller =
      ReadsCredentials(by_work)
          .Watches(api::Works(),
                   {.when = {.update = kube::GenerationChanged, .remove = kube::Never}})
          // A cluster that returns may be ready from the start, with its Works still there.
          .Watches(api::Clusters(), {.when = {.update = works::BecameReady, .remove = kube::Never},
                                     .map = works::WorksOf(works)})
          // A kind that the cluster begins to serve is watched there.
          .Watches(api::Clusters(), {.when = {.add = kube::Never,
                                              .update = works::ServesOtherKinds,
                                              .remove = kube::Never},
                                     .map_update = works::WorksOfNewKinds(works)})
          .WithLanes([](const kube::Request& request) { return request.key.ns; })
          .Build(std::make_unique<MemberWatches>(
              MemberWatchesDeps{context.manager, context.objects, context.rechecks, context.served},
              by_object_loop.queue()));
  controller.Keep(std::make_shared<kube::ClusterSet::Subscription>(
      works::QueueWhenReconnected(context.members, works, controller.queue())));
  return absl::OkStatus();
}

}  // namespace controllers
