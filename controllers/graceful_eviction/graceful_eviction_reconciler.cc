// A pass assesses all tasks of a binding and writes the list if it has changed: tasks get the time
// at which they were first seen, and those that have ended go. It comes back when the next task
// times out. Everything else that may end a task changes the binding: the scheduler's result, the
// collected health, an edit of the task. The times are in the tasks, so a restart loses nothing but
// an event between the write and its recording.
#include "controllers/graceful_eviction/graceful_eviction_reconciler.h"

#include <memory>
#include <string>

#include "api/binding_scope.h"
#include "api/eviction.h"
#include "base/status.h"
#include "controllers/eviction/eviction_task.h"
#include "controllers/graceful_eviction/task_assessment.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {

template <class Scope>
GracefulEvictionReconciler<Scope>::GracefulEvictionReconciler(kube::Manager& manager,
                                                              absl::Duration timeout)
    : manager_(manager),
      timeout_(timeout),
      recorder_(manager.events(), api::kGracefulEvictionController<Scope>) {}

template <class Scope>
absl::StatusOr<kube::Action> GracefulEvictionReconciler<Scope>::Reconcile(
    const kube::Request& request, const base::StopToken& stop) {
  const kube::ObjectPtr binding = manager_.cluster().Find(Scope::Bindings(), request.key);
  if (binding == nullptr || binding->IsDeleting()) return kube::Action::Done();
  const TaskAssessment assessment = AssessTasks(*binding, manager_.clock().Now(), timeout_);
  kube::Object after = *binding;
  after.Set({"spec", "gracefulEvictionTasks"}, assessment.kept);
  if (assessment.kept.empty()) after.Erase({"spec", "gracefulEvictionTasks"});
  kube::UpdateOptions options;
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::Status written =
      manager_.cluster().Update(Scope::Bindings(), binding, after, options, stop).status();
  if (kube::IsGone(written)) return kube::Action::Done();
  RETURN_IF_ERROR(base::Annotate(written, "updating eviction tasks"));
  for (const std::string& cluster : assessment.evicted) {
    ReportEvicted(recorder_, *binding, cluster);
  }
  if (!assessment.next.has_value()) return kube::Action::Done();
  return kube::Action::After(*assessment.next);
}

namespace {

bool HasTasks(const kube::Object& binding) {
  return !binding.Get({"spec", "gracefulEvictionTasks"}).empty();
}

bool HasTasksNow(const kube::Object&, const kube::Object& after) { return HasTasks(after); }

}  // namespace

template <class Scope>
absl::Status RegisterGracefulEviction(const loops::Context& context, int workers) {
  context.NewController(api::kGracefulEvictionController<Scope>, workers)
      .Watches(Scope::Bindings(),
               {.when = {.add = HasTasks, .update = HasTasksNow, .remove = kube::Never}})
      .Build(std::make_unique<GracefulEvictionReconciler<Scope>>(
          context.manager, context.options.graceful_eviction_timeout));
  return absl::OkStatus();
}

template class GracefulEvictionReconciler<api::scope::Namespaced>;
template class GracefulEvictionReconciler<api::scope::Cluster>;
template absl::Status RegisterGracefulEviction<api::scope::Namespaced>(const loops::Context&, int);
template absl::Status RegisterGracefulEviction<api::scope::Cluster>(const loops::Context&, int);

}  // namespace controllers
