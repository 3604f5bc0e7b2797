// The binding-status loop: writes the collected status of a binding's Works onto the binding and
// the template (upstream's resource-binding-status-controller and its cluster twin).
#ifndef CONTROLLERS_BINDING_STATUS_BINDING_STATUS_RECONCILER_H_
#define CONTROLLERS_BINDING_STATUS_BINDING_STATUS_RECONCILER_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "base/stop_token.h"
#include "controllers/binding_status/template_status.h"
#include "interpreter/interpreter.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/progress_gate.h"
#include "works/write_pace.h"

namespace controllers {

template <class Scope>
class BindingStatusReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` and `interpreter` outlive the reconciler.
  BindingStatusReconciler(kube::Manager& manager, const interpreter::Interpreter& interpreter);

  // The request's key names a binding of this scope.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Returns the targets that can answer: not those whose cluster is gone or not ready, or whose
  // Work is suspended. `works` are those of the binding.
  std::vector<api::TargetCluster> AnsweringTargets(const api::BindingView& binding,
                                                   const std::vector<kube::ObjectPtr>& works);
  // Returns how long to wait before a change is written; zero to write now. A change that is not
  // `at_once` is intermediate. One that the gate has let pass is not held again until EndHold.
  absl::Duration HoldFor(const kube::ObjectKey& key, bool at_once);
  // Ends the hold: nothing is unwritten any more.
  void EndHold(const kube::ObjectKey& key);
  // Writes the status of `after`, which has entries for `clusters` clusters. An error for which
  // kube::IsGone is true, which is not reported, when the binding is gone.
  absl::Status WriteBinding(const kube::ObjectPtr& binding, const kube::Object& after,
                            size_t clusters, const base::StopToken& stop);
  absl::Status WriteTemplate(const api::BindingView& binding,
                             const std::vector<api::AggregatedStatusItem>& items,
                             const base::StopToken& stop);
  bool StandsForObject(const kube::Object& binding);
  // The object of an event, and what its outcomes are remembered of.
  struct Subject {
    const kube::Object& object;
    kube::Request request;
    std::string part;
    bool changed = false;  // True if the object has a new status.
  };
  // Reports failures as events, and the success that ends them. A new status is a routine success.
  void Report(const Subject& subject, const absl::Status& result, absl::string_view success);

  kube::Manager& manager_;
  works::ProgressGate gate_;
  works::WritePace pace_;
  const interpreter::Interpreter& interpreter_;
  TemplateStatus template_status_;
  kube::EventRecorder recorder_;
  absl::Mutex mu_;
  // The hold of a binding's unwritten intermediate changes.
  struct Hold {
    base::SteadyTime since;  // When the first of them was seen.
    bool is_over = false;    // The gate has let them pass.
  };
  absl::flat_hash_map<kube::ObjectKey, Hold> held_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_BINDING_STATUS_BINDING_STATUS_RECONCILER_H_
