// The dependencies loop: makes what a template needs follow it into the clusters (upstream's
// dependencies-distributor).
#ifndef CONTROLLERS_DEPENDENCIES_DEPENDENCIES_RECONCILER_H_
#define CONTROLLERS_DEPENDENCIES_DEPENDENCIES_RECONCILER_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/reasons.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "controllers/context/seen_deletions.h"
#include "controllers/dependencies/attachments.h"
#include "controllers/dependencies/dependency_search.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/events.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

class DependenciesReconciler : public kube::Reconciler {
 public:
  // `terminating` is for LookupsIn; `seen` has the bindings that were propagating and were deleted.
  // REQUIRES: what is in `search`, and `events`, outlive the reconciler.
  DependenciesReconciler(DependencySearch::Deps search, kube::EventSink& events,
                         StillIn terminating = nullptr,
                         std::shared_ptr<SeenDeletions> seen = std::make_shared<SeenDeletions>())
      : client_(search.client),
        interpreter_(search.interpreter),
        search_(search),
        seen_(std::move(seen)),
        recorder_(events, api::kDependenciesDistributor, outcomes()),
        attachments_(client_, recorder_, std::move(terminating)) {}

  // The request's key names a ResourceBinding. Errors of the interpreter are reported on the
  // template, those of attaching on the binding; both are returned.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Brings what a propagating binding records, and what is attached to it, up to date.
  absl::Status Distribute(const kube::ObjectPtr& binding, const base::StopToken& stop);
  // Removes the record of a binding for whose kind there is no rule any more.
  absl::Status ForgetRecord(const kube::ObjectPtr& binding, const base::StopToken& stop);
  // Searches, and reports the outcome on the template.
  absl::StatusOr<FoundDependencies> DependenciesOf(const kube::Object& binding,
                                                   const kube::ObjectPtr& object,
                                                   const base::StopToken& stop);
  // Writes the dependencies and the finalizer to the binding. Returns it as it is then.
  absl::StatusOr<kube::ObjectPtr> Record(const kube::ObjectPtr& binding,
                                         const json::Value& dependencies,
                                         const base::StopToken& stop);
  void ReportAttached(const kube::Object& binding, const absl::StatusOr<bool>& wrote);
  // Attaches what the binding's template needs, and, if all of that is known, lets go of the rest.
  absl::Status Attach(const kube::ObjectPtr& binding, const FoundDependencies& found,
                      const base::StopToken& stop);
  // Lets go of what is attached to a binding that is not there, if that has gone: its finalizer was
  // removed by force.
  absl::Status ReleaseAfter(const kube::ObjectKey& key, const base::StopToken& stop);
  // Lets go of everything that is attached to the binding.
  absl::Status Release(const kube::ObjectPtr& binding, const base::StopToken& stop);

  kube::ClusterClient& client_;
  const interpreter::Interpreter& interpreter_;
  const DependencySearch search_;
  const std::shared_ptr<SeenDeletions> seen_;
  kube::EventRecorder recorder_;  // Remembers outcomes by the key of their binding.
  Attachments attachments_;
};

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_DEPENDENCIES_RECONCILER_H_
