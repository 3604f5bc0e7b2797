// The binding loop: makes the Works of one binding match the clusters its spec names (upstream's
// binding-controller and cluster-resource-binding-controller).
#ifndef BINDING_BINDING_RECONCILER_H_
#define BINDING_BINDING_RECONCILER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "base/stop_token.h"
#include "binding/binding_works.h"
#include "binding/other_claims.h"
#include "interpreter/interpreter.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/fan_out.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "overrides/overrider.h"
#include "works/passage.h"
#include "works/placement_wait.h"
#include "works/work_writer.h"

namespace binding {

template <class Scope>
class BindingReconciler : public kube::Reconciler {
 public:
  // `injects_state` is the gate StatefulFailoverInjection; `is_synced` determines which Namespaces
  // the namespace loop writes (nullptr: none). REQUIRES: `manager` and `interpreter` outlive the
  // reconciler.
  BindingReconciler(kube::Manager& manager, const interpreter::Interpreter& interpreter,
                    bool injects_state = false, OtherClaims::IsSynced is_synced = nullptr);

  // The request's key names a binding of this scope.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::StatusOr<kube::Action> Finalize(const kube::ObjectPtr& stored, const base::StopToken& stop);
  // Deletes the Works that are not expected. Returns how long to wait for the scheduler before that
  // is done, for a binding without a cluster; zero: no wait, they are being deleted.
  absl::StatusOr<absl::Duration> DeleteOrphans(const api::BindingView& binding,
                                               const base::StopToken& stop);
  // Reports a binding that may not stand for its object.
  kube::Action Refuse(const api::BindingView& binding, const absl::Status& why);
  // The result of a pass over the Works.
  struct Outcome {
    absl::Status status;
    bool wrote = false;  // True if a Work was written, also when others have failed.
  };
  Outcome EnsureWorks(const api::BindingView& binding, const kube::Object& object,
                      const base::StopToken& stop);
  struct Share {
    const api::TargetCluster& target;
    int64_t completions;  // The Job's completions in this cluster; see ManifestFor.
    const overrides::Policies& policies;
    works::Passage passage;  // Whether the template's present state may be put into the cluster.
    const Originals& originals;
  };
  // Returns whether it has written the Work.
  absl::StatusOr<bool> EnsureWork(const api::BindingView& binding, const kube::Object& object,
                                  const Share& share, const base::StopToken& stop);
  struct Kept {
    const api::TargetCluster& target;
    const kube::ObjectPtr& work;  // Or a stand-in.
  };
  // Has the Work follow its binding, with the manifest that it has, or makes it after its stand-in.
  // Returns whether it has written the Work.
  absl::StatusOr<bool> KeepWork(const api::BindingView& binding, const kube::Object& object,
                                const Kept& kept, const base::StopToken& stop);
  // Reports failures, and the pass that ends them, as events on binding and template; written Works
  // are a routine success.
  void Report(const api::BindingView& binding, const kube::Object& object, const Outcome& outcome);

  // Says of a cluster-scoped template which dependencies a policy asks for in vain.
  void ReportDependencies(const api::BindingView& binding, const kube::Object& object);

  kube::Manager& manager_;
  const interpreter::Interpreter& interpreter_;
  const bool injects_state_;
  works::WorkWriter writer_;
  overrides::Overrider overrider_;
  kube::EventRecorder recorder_;
  kube::FanOut fan_out_;
  works::PlacementWait placement_wait_;
  const OtherClaims others_;
  BindingWorks<Scope> works_;
};

}  // namespace binding

#endif  // BINDING_BINDING_RECONCILER_H_
