#include "controllers/workstatus/member_watches.h"

#include <vector>

#include "api/cluster.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "controllers/workstatus/work_status_reconciler.h"
#include "kube/runtime/controller.h"
#include "works/related.h"
#include "works/rule_requeue.h"

namespace controllers {

MemberWatches::MemberWatches(kube::Manager& manager, works::MemberObjects& objects,
                             kube::WorkQueue& queue)
    : manager_(manager), objects_(objects), queue_(queue) {}

absl::StatusOr<kube::Action> MemberWatches::Reconcile(const kube::Request& request,
                                                      const base::StopToken& stop) {
  const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(request.key.ns);
  if (!cluster.ok()) return kube::Action::Done();
  const kube::ObjectPtr work = manager_.cluster().Find(api::Works(), request.key);
  if (work == nullptr || work->IsDeleting()) return kube::Action::Done();
  const kube::ObjectPtr object = manager_.cluster().Find(api::Clusters(), {"", *cluster});
  if (object == nullptr) return kube::Action::Done();
  const api::ClusterView view(*object);
  // The Ready condition of the cluster queues its Works again.
  if (!view.IsPush() || !view.IsReady()) return kube::Action::Done();
  for (const json::Value& manifest : api::WorkView(*work).Manifests()) {
    ASSIGN_OR_RETURN(const std::shared_ptr<kube::Informer> informer,
                     objects_.InformerFor(*cluster, kube::Object(manifest).gvk(), stop));
    Attach(*cluster, informer);
  }
  return kube::Action::Done();
}

void MemberWatches::Attach(const std::string& cluster,
                           const std::shared_ptr<kube::Informer>& informer) {
  {
    absl::MutexLock lock(&mu_);
    std::weak_ptr<kube::Informer>& known = attached_[{cluster, informer->resource().gvr()}];
    if (known.lock() == informer) return;
    known = informer;
  }
  const kube::Gvk gvk = informer->resource().gvk;
  kube::Predicates all;
  all.update = kube::ResourceVersionChanged;
  informer->AddHandler(
      kube::EnqueueHandler(queue_, all, [cluster, gvk](const kube::Object& object) {
        kube::Request request;
        request.cluster = cluster;
        request.gvk = gvk;
        request.key = object.key();
        return std::vector<kube::Request>{request};
      }));
}

void RegisterWorkStatus(const WorkStatusDeps& deps, const WorkStatusOptions& options) {
  kube::Controller& objects = kube::ControllerBuilder(deps.manager)
                                  .Named("work-status")
                                  .WithWorkers(options.workers)
                                  .WithLimiter(options.limiter)
                                  .Build(std::make_unique<WorkStatusReconciler>(deps));
  kube::InformerSet& informers = deps.manager.cluster().informers();
  const std::shared_ptr<kube::Informer> works = informers.Get(api::Works());
  objects.WaitFor(works);
  works::RequeueWorks(
      deps.interpreter,
      {objects.queue(),
       works,
       {interpreter::Operation::kInterpretStatus, interpreter::Operation::kInterpretHealth}},
      [](const kube::Object& work, const kube::Object& manifest) {
        return kube::Request{.key = manifest.key(),
                             .gvk = manifest.gvk(),
                             .cluster = api::ClusterOfExecutionNamespace(work.ns()).value_or("")};
      });

  kube::Predicates on_work;
  on_work.update = kube::GenerationChanged;
  on_work.remove = kube::Never;
  kube::Predicates on_cluster;
  on_cluster.add = kube::Never;
  on_cluster.remove = kube::Never;
  on_cluster.update = works::BecameReady;
  kube::ControllerBuilder(deps.manager)
      .Named(api::kWorkStatusController)
      .Watches(works, on_work)
      .Watches(informers.Get(api::Clusters()), on_cluster, works::WorksOf(works))
      .WithWorkers(2)
      .WithLimiter(options.limiter)
      .Build(std::make_unique<MemberWatches>(deps.manager, deps.objects, objects.queue()));
}

}  // namespace controllers
