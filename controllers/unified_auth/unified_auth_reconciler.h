// The loop that lets the control plane's users into clusters: it brings the rules by which the
// aggregated API server may act in their names (upstream's unified-auth-controller).
#ifndef CONTROLLERS_UNIFIED_AUTH_UNIFIED_AUTH_RECONCILER_H_
#define CONTROLLERS_UNIFIED_AUTH_UNIFIED_AUTH_RECONCILER_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "controllers/unified_auth/impersonation.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/work_writer.h"

namespace controllers {

class UnifiedAuthReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  explicit UnifiedAuthReconciler(kube::Manager& manager);

  // The request's key names a Cluster, for which both Works are written. A cluster that is being
  // deleted, has no execution namespace yet or no spec.impersonatorSecretRef is left out.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Returns whether a Work was written.
  absl::StatusOr<bool> Sync(const kube::Object& cluster, const base::StopToken& stop);
  absl::StatusOr<bool> Write(const kube::Object& cluster, kube::Object manifest,
                             const base::StopToken& stop);

  // Returns who has access according to the cache.
  std::shared_ptr<const ClusterAccess> Access();

  kube::Manager& manager_;
  works::WorkWriter writer_;
  kube::EventRecorder recorder_;
  // An event of one role may queue all clusters, and each pass would read all roles and bindings.
  absl::Mutex mu_;
  ClusterAccess::Objects roles_ ABSL_GUARDED_BY(mu_), bindings_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<const ClusterAccess> access_ ABSL_GUARDED_BY(mu_);  // According to these.
};

}  // namespace controllers

#endif  // CONTROLLERS_UNIFIED_AUTH_UNIFIED_AUTH_RECONCILER_H_
