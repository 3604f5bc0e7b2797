// The namespace loop: every user namespace exists in every member (upstream's
// namespace-sync-controller).
#ifndef CONTROLLERS_NAMESPACE_NAMESPACE_SYNC_RECONCILER_H_
#define CONTROLLERS_NAMESPACE_NAMESPACE_SYNC_RECONCILER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "controllers/context/synced_namespaces.h"
#include "kube/runtime/fan_out.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "overrides/overrider.h"
#include "works/work_writer.h"

namespace controllers {

class NamespaceSyncReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  NamespaceSyncReconciler(kube::Manager& manager, IsSynced is_synced);

  // The request's key names a Namespace, which is written into every cluster; or its `cluster` is
  // set, and every namespace is written into that one. A cluster that has no execution namespace
  // yet is left out.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::Status SyncNamespace(const kube::ObjectKey& key, const base::StopToken& stop);
  absl::Status SyncCluster(const std::string& cluster, const base::StopToken& stop);
  // Writes the Work of the namespace as it, the override policies and the cluster are now, and once
  // more if one of them changes meanwhile.
  absl::Status WriteLatest(const kube::ObjectKey& key, const std::string& cluster,
                           const base::StopToken& stop);
  absl::Status Write(const kube::Object& ns, const std::string& cluster,
                     const overrides::Policies& policies, const base::StopToken& stop);

  kube::Manager& manager_;
  const IsSynced is_synced_;
  works::WorkWriter writer_;
  overrides::Overrider overrider_;
  kube::FanOut fan_out_;
};

// Returns the Work that brings a namespace into one cluster.
works::WantedWork NamespaceWork(const kube::Object& ns, absl::string_view cluster);

}  // namespace controllers

#endif  // CONTROLLERS_NAMESPACE_NAMESPACE_SYNC_RECONCILER_H_
