// A pass over a binding that asks for failover looks at the clusters that its status calls
// unhealthy. The moment since when they are is a condition of the binding (api/unhealthy_since.h),
// which the binding status loop writes together with the health; where it is missing, because the
// binding began to ask later or comes from upstream, this loop writes it. Only health ends it;
// while the health is unknown the time runs on, but nothing is evicted. When the toleration is
// over, the cluster is evicted, all due ones in one write; until then the pass is repeated when the
// next one is due. Everything else that matters changes the binding.
//
// The condition outlives the process, so it may still be there although the workload has recovered
// while no process ran. Therefore the member's object, as the cache has it, must be unhealthy too.
// When it cannot be read, because the member does not answer or is a pull cluster, the status
// counts once this process has seen it for as long as the toleration, as upstream does. That
// memory, seen_ under mu_, may be lost: the eviction is then later.

#include "controllers/application_failover/application_failover_reconciler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/eviction.h"
#include "api/unhealthy_since.h"
#include "controllers/application_failover/failover_eviction.h"
#include "controllers/application_failover/register.h"
#include "controllers/eviction/eviction_task.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"
#include "works/refused_bindings.h"
#include "works/rule_requeue.h"

namespace controllers {
namespace {

// When the member's object is healthy and the binding's status not yet, the binding is looked at
// again after this time, or when its status changes.
constexpr absl::Duration kProofRecheck = absl::Seconds(10);

void KeepEarlier(std::optional<absl::Duration>& next, absl::Duration candidate) {
  next = std::min(next.value_or(candidate), candidate);
}

}  // namespace

template <class Scope>
ApplicationFailoverReconciler<Scope>::ApplicationFailoverReconciler(const Deps& deps)
    : deps_(deps), recorder_(deps.manager.events(), api::kApplicationFailoverController<Scope>) {}

template <class Scope>
absl::StatusOr<kube::Action> ApplicationFailoverReconciler<Scope>::Reconcile(
    const kube::Request& request, const base::StopToken& stop) {
  const kube::ObjectPtr object = deps_.manager.cluster().Find(Scope::Bindings(), request.key);
  const bool exists = object != nullptr && !object->IsDeleting() &&
                      !works::IsRefused(deps_.manager.cluster(), *object, stop);
  if (!exists || !Concerns(*object)) ForgetAllBut(request.key, {});
  if (!exists) return kube::Action::Done();
  const absl::StatusOr<kube::ObjectPtr> binding = RecordMoments(object, stop);
  if (kube::IsGone(binding.status())) return kube::Action::Done();
  RETURN_IF_ERROR(base::Annotate(binding.status(), "recording since when it is unhealthy"));
  if (!Concerns(**binding)) return kube::Action::Done();
  const Due due = FindDue(**binding, stop);
  const absl::Status evicted = EvictFrom(*binding, due.clusters, stop);
  // A terminal error must not end the wait for the other clusters. It is reported again by their
  // pass.
  if (!evicted.ok() && !(base::IsTerminal(evicted) && due.next.has_value())) return evicted;
  return due.next.has_value() ? kube::Action::After(*due.next) : kube::Action::Done();
}

template <class Scope>
bool ApplicationFailoverReconciler<Scope>::Concerns(const kube::Object& binding) const {
  const api::BindingView view(binding);
  return api::AsksForApplicationFailover(binding) && !view.AggregatedStatus().empty() &&
         (!Scope::kNamespaced || view.PropagateDeps()) &&
         deps_.interpreter.HasRule(view.Resource().gvk(), interpreter::Operation::kInterpretHealth);
}

template <class Scope>
absl::StatusOr<kube::ObjectPtr> ApplicationFailoverReconciler<Scope>::RecordMoments(
    const kube::ObjectPtr& binding, const base::StopToken& stop) {
  kube::Object after = *binding;
  api::RecordUnhealthy(*binding, after, deps_.manager.clock().Now());
  return deps_.manager.cluster().Update(Scope::Bindings(), binding, after,
                                        {.subresource = "status"}, stop);
}

template <class Scope>
typename ApplicationFailoverReconciler<Scope>::Due ApplicationFailoverReconciler<Scope>::FindDue(
    const kube::Object& binding, const base::StopToken& stop) {
  std::vector<std::string> counting;
  for (api::TargetCluster& target : api::BindingView(binding).Clusters()) {
    if (api::UnhealthySince(binding, target.name)) counting.push_back(std::move(target.name));
  }
  ForgetAllBut(binding.key(), counting);
  Due due;
  for (const std::string& cluster : UnhealthyClusters(binding)) {
    const std::optional<absl::Time> since = api::UnhealthySince(binding, cluster);
    if (!since.has_value()) continue;  // It is not a target any more.
    SeenFor(binding.key(), cluster);
    absl::Duration wait = *since + TolerationOf(binding) - deps_.manager.clock().Now();
    // Only when the time is over is the member's object looked at: most workloads recover before.
    if (wait <= absl::ZeroDuration()) wait = WaitForProof(binding, cluster, stop);
    if (wait > absl::ZeroDuration()) {
      KeepEarlier(due.next, wait);
    } else {
      due.clusters.push_back(cluster);
    }
  }
  return due;
}

template <class Scope>
absl::Duration ApplicationFailoverReconciler<Scope>::WaitForProof(const kube::Object& binding,
                                                                  const std::string& cluster,
                                                                  const base::StopToken& stop) {
  const api::ObjectReference reference = api::BindingView(binding).Resource();
  const kube::Object wanted = kube::Object::Make(reference.gvk(), reference.key());
  const absl::StatusOr<kube::ObjectPtr> found = deps_.objects.Find(cluster, wanted, stop);
  // The member does not have the object any more: it is not healthy.
  if (found.ok() && *found == nullptr) return absl::ZeroDuration();
  if (found.ok()) {
    const absl::StatusOr<interpreter::Health> health = deps_.interpreter.InterpretHealth(**found);
    if (health.ok()) return health->healthy ? kProofRecheck : absl::ZeroDuration();
  }
  return std::max(absl::ZeroDuration(), TolerationOf(binding) - SeenFor(binding.key(), cluster));
}

template <class Scope>
absl::Duration ApplicationFailoverReconciler<Scope>::SeenFor(const kube::ObjectKey& binding,
                                                             const std::string& cluster) {
  const base::SteadyTime now = deps_.manager.clock().SteadyNow();
  absl::MutexLock lock(&mu_);
  return now - seen_[binding].try_emplace(cluster, now).first->second;
}

template <class Scope>
void ApplicationFailoverReconciler<Scope>::ForgetAllBut(const kube::ObjectKey& binding,
                                                        const std::vector<std::string>& clusters) {
  absl::MutexLock lock(&mu_);
  const auto found = seen_.find(binding);
  if (found == seen_.end()) return;
  absl::erase_if(found->second, [&](const auto& entry) {
    return std::find(clusters.begin(), clusters.end(), entry.first) == clusters.end();
  });
  if (found->second.empty()) seen_.erase(found);
}

template <class Scope>
absl::Status ApplicationFailoverReconciler<Scope>::EvictFrom(
    const kube::ObjectPtr& binding, const std::vector<std::string>& clusters,
    const base::StopToken& stop) {
  base::ErrorList errors;
  kube::Object after = *binding;
  std::vector<std::string> evicted;
  for (const std::string& cluster : clusters) {
    const absl::StatusOr<Eviction> eviction = FailoverEviction(
        *binding, cluster, api::kApplicationFailoverController<Scope>, deps_.gates);
    if (eviction.ok()) {
      if (Evict(after, *eviction)) evicted.push_back(cluster);
      continue;
    }
    ReportEvictionFailed(recorder_, *binding, cluster, eviction.status());
    // No retry: the missing data can only come with a change of the binding, which starts a new
    // pass.
    errors.Add(
        base::Terminal(base::Annotate(eviction.status(), "evicting from cluster ", cluster)));
  }
  kube::UpdateOptions options;
  // An eviction that is computed from an older placement could evict the cluster that was just
  // chosen.
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::Status written =
      deps_.manager.cluster().Update(Scope::Bindings(), binding, after, options, stop).status();
  if (kube::IsGone(written)) return absl::OkStatus();
  for (const std::string& cluster : evicted) {
    if (!written.ok()) ReportEvictionFailed(recorder_, *binding, cluster, written);
  }
  errors.Add(base::Annotate(written, "writing evictions"));
  return errors.Join();
}

namespace {

bool AskedOrAsks(const kube::Object& before, const kube::Object& after) {
  return api::AsksForApplicationFailover(before) || api::AsksForApplicationFailover(after);
}

}  // namespace

template <class Scope>
absl::Status RegisterApplicationFailover(const Context& context, int workers) {
  kube::ControllerBuilder builder =
      context.NewController(api::kApplicationFailoverController<Scope>, workers);
  kube::Controller& controller =
      ReadsCredentials(builder)
          .Watches(Scope::Bindings(), {.when = {.add = api::AsksForApplicationFailover,
                                                .update = AskedOrAsks,
                                                .remove = api::AsksForApplicationFailover}})
          .Build(std::make_unique<ApplicationFailoverReconciler<Scope>>(
              typename ApplicationFailoverReconciler<Scope>::Deps{
                  context.manager, context.objects, context.interpreter, context.options.gates}));
  works::RequeueBindings(context.interpreter, {controller.queue(),
                                               context.InformerOf(Scope::Bindings()),
                                               {interpreter::Operation::kInterpretHealth},
                                               api::AsksForApplicationFailover});
  return absl::OkStatus();
}

template class ApplicationFailoverReconciler<api::scope::Namespaced>;
template class ApplicationFailoverReconciler<api::scope::Cluster>;
template absl::Status RegisterApplicationFailover<api::scope::Namespaced>(const Context&, int);
template absl::Status RegisterApplicationFailover<api::scope::Cluster>(const Context&, int);

}  // namespace controllers
