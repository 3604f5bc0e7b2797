// Attaches the work-status queue to the informers of every kind that Works carry, per member
// cluster.
#ifndef CONTROLLERS_WORK_STATUS_MEMBER_WATCHES_H_
#define CONTROLLERS_WORK_STATUS_MEMBER_WATCHES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "controllers/context/served_clusters.h"
#include "kube/cache/informer.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"
#include "works/informer_handlers.h"
#include "works/member_objects.h"
#include "works/rechecks.h"

namespace controllers {

struct MemberWatchesDeps {
  kube::Manager& manager;
  works::MemberObjects& objects;
  const works::Rechecks& rechecks;  // Publishes Works that the execution loop is to look at.
  ServedClusters served = {};
};

// Reconciles Works: it only makes sure that the kinds of their manifests are watched in their
// cluster.
class MemberWatches : public kube::Reconciler {
 public:
  // Keys of member objects go into `queue`. REQUIRES: the queue, and what `deps` refers to, outlive
  // the reconciler.
  MemberWatches(const MemberWatchesDeps& deps, kube::WorkQueue& queue);

  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  void Attach(const std::string& cluster, const std::shared_ptr<kube::Informer>& informer);
  kube::EventHandler HandlerFor(const std::string& cluster, const kube::Gvk& gvk);
  // Publishes Works with objects that are missing: a deletion before the handler was attached
  // causes no event. (Where the execution loop makes deleted objects again, it has a handler of its
  // own.)
  void RecheckMissing(const std::string& cluster, const kube::Informer& informer);

  const MemberWatchesDeps deps_;
  kube::WorkQueue& queue_;
  works::InformerHandlers handlers_;
};

}  // namespace controllers

#endif  // CONTROLLERS_WORK_STATUS_MEMBER_WATCHES_H_
