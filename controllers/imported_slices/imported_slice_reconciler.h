// Makes EndpointSlices in the control plane of the Works that carry collected ones (upstream's
// endpointslice-controller).
#ifndef CONTROLLERS_IMPORTED_SLICES_IMPORTED_SLICE_RECONCILER_H_
#define CONTROLLERS_IMPORTED_SLICES_IMPORTED_SLICE_RECONCILER_H_

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/reasons.h"
#include "base/stop_token.h"
#include "controllers/context/seen_deletions.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

class ImportedSliceReconciler : public kube::Reconciler {
 public:
  // A failure that only a change from outside ends is tried again after this time.
  static constexpr absl::Duration kAfterLastingFailure = absl::Minutes(1);

  // `seen` has the Works that were deleted. REQUIRES: the manager outlives the reconciler.
  explicit ImportedSliceReconciler(kube::Manager& manager, std::shared_ptr<SeenDeletions> seen =
                                                               std::make_shared<SeenDeletions>())
      : manager_(manager),
        seen_(std::move(seen)),
        recorder_(manager.events(), api::kEndpointSliceController, outcomes()) {}

  // The request names a Work, which may be missing.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::StatusOr<kube::Action> Import(const kube::Object& work, const base::StopToken& stop);
  absl::Status ImportAll(const kube::Object& work, const std::string& cluster,
                         const base::StopToken& stop);
  absl::Status Write(const kube::Object& wanted, const kube::Object& work,
                     const base::StopToken& stop);
  // Returns why the Work must not have the slice, which exists; OK if it may.
  absl::Status CheckOwner(const kube::Object& existing, const kube::Object& work);
  absl::Status Create(const kube::Object& wanted, const base::StopToken& stop);
  // Deletes slices of a Work, but for those with these keys.
  absl::Status DeleteSlices(const kube::ObjectKey& work, absl::string_view id,
                            const std::set<kube::ObjectKey>& but, const base::StopToken& stop);
  absl::Status EndImport(const kube::ObjectPtr& work, const base::StopToken& stop);
  // Deletes the slices of a Work that has gone without its finalizer.
  absl::StatusOr<kube::Action> CleanUpAfter(const kube::ObjectKey& key,
                                            const base::StopToken& stop);

  kube::Manager& manager_;
  const std::shared_ptr<SeenDeletions> seen_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_IMPORTED_SLICES_IMPORTED_SLICE_RECONCILER_H_
