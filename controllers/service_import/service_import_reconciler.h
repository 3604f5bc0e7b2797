// The loop that derives Services from ServiceImports (upstream's service-import-controller).
#ifndef CONTROLLERS_SERVICE_IMPORT_SERVICE_IMPORT_RECONCILER_H_
#define CONTROLLERS_SERVICE_IMPORT_SERVICE_IMPORT_RECONCILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// A ServiceImport of type ClusterSetIP has a Service "derived-<name>" with its ports, and its
// addresses in that one's status. The Service is deleted with the import. Other types have none; a
// Service that was derived before the type changed stays.
class ServiceImportReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  explicit ServiceImportReconciler(kube::Manager& manager);

  // The request names a ServiceImport, which may be gone; with `reason` kWasDeleted it was of type
  // ClusterSetIP, and was deleted while this process was running.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

  static constexpr kube::Reason kWasDeleted = "deleted";

 private:
  // Returns whether anything was written.
  absl::StatusOr<bool> Derive(const kube::Object& service_import, const base::StopToken& stop);
  absl::Status DeleteDerived(const kube::Request& request, const base::StopToken& stop);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_SERVICE_IMPORT_SERVICE_IMPORT_RECONCILER_H_
