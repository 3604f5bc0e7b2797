// The namespace loop: every user namespace exists in every member (upstream's
// namespace-sync-controller).
#ifndef CONTROLLERS_NAMESPACE_NAMESPACE_SYNC_RECONCILER_H_
#define CONTROLLERS_NAMESPACE_NAMESPACE_SYNC_RECONCILER_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"
#include "works/work_writer.h"

namespace controllers {

struct NamespaceSyncOptions {
  // Namespaces that are never propagated, beside Karmada's own and `default`.
  std::function<bool(absl::string_view)> is_skipped;
  int workers = 1;
  kube::RateLimiterOptions limiter;
};

class NamespaceSyncReconciler : public kube::Reconciler {
 public:
  // REQUIRES: the manager outlives the reconciler.
  NamespaceSyncReconciler(kube::Manager& manager,
                          std::function<bool(absl::string_view)> is_skipped);

  // The request's key is a Namespace.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  bool IsSkipped(const kube::Object& ns) const;

  kube::Manager& manager_;
  const std::function<bool(absl::string_view)> is_skipped_;
  works::WorkWriter writer_;
};

// The Work that brings a namespace into one cluster.
works::WorkTemplate NamespaceWork(const kube::Object& ns, absl::string_view cluster);

void RegisterNamespaceSync(kube::Manager& manager, const NamespaceSyncOptions& options);

}  // namespace controllers

#endif  // CONTROLLERS_NAMESPACE_NAMESPACE_SYNC_RECONCILER_H_
