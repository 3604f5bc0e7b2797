// The dependencies loop: records on a binding what its template depends on (the first half of
// upstream's dependencies-distributor).
#ifndef CONTROLLERS_DEPENDENCIES_DEPENDENCIES_RECONCILER_H_
#define CONTROLLERS_DEPENDENCIES_DEPENDENCIES_RECONCILER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/reasons.h"
#include "base/stop_token.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "loops/context.h"

namespace controllers {

class DependenciesReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` and `interpreter` outlive the reconciler.
  DependenciesReconciler(kube::Manager& manager, const interpreter::Interpreter& interpreter)
      : manager_(manager),
        interpreter_(interpreter),
        recorder_(manager.events(), api::kDependenciesDistributor) {}

  // The request's key names a ResourceBinding. Errors of the interpreter are reported on the
  // template and returned.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::Status Record(const kube::ObjectPtr& binding, const base::StopToken& stop);
  absl::StatusOr<json::Value> DependenciesOf(const kube::ObjectKey& binding,
                                             const kube::Object& object);
  // Returns the bindings that upstream has made for the dependencies of this one's template.
  std::vector<kube::ObjectPtr> AttachedTo(const kube::Object& binding) const;
  // Writes the clusters of a binding into the bindings that upstream has attached to it; otherwise
  // these would stay where the binding was placed when upstream was replaced.
  absl::Status FollowClusters(const kube::Object& binding, const base::StopToken& stop);
  // Removes what upstream has left on a binding that does not propagate dependencies any more, and
  // on the bindings attached to it.
  absl::Status Release(const kube::ObjectPtr& binding, const base::StopToken& stop);

  kube::Manager& manager_;
  const interpreter::Interpreter& interpreter_;
  kube::EventRecorder recorder_;  // Remembers outcomes by the key of their binding.
};

// Builds the loop over the ResourceBindings that propagate dependencies.
absl::Status RegisterDependencies(const loops::Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_DEPENDENCIES_RECONCILER_H_
