// What wakes the binding loop: a binding whose spec or preserved state changes, a Work that is
// gone, changes hands or is not expected any more, a rule of the interpreter, an override policy,
// the execution namespace of a cluster. A start looks at every binding, so none of this has to be
// remembered.

#include "binding/register.h"
#include "binding/binding_reconciler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/binding.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/context/execution_namespace.h"
#include "controllers/context/synced_namespaces.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/handler_registration.h"
#include "overrides/triggers.h"
#include "works/binding_works.h"
#include "works/kept_work.h"
#include "works/related.h"
#include "works/rule_requeue.h"
#include "works/standing_binding.h"
#include "works/unregistering.h"

namespace binding {
namespace {

// Maps a Work that is gone to its binding, which may still want the Work if somebody deleted it. A
// binding that is being deleted needs no request.
template <class Scope>
kube::MapFn BindingThatLostWork(kube::Manager& manager) {
  return [&manager](const kube::Object& work) {
    const kube::ObjectKey key = Scope::BindingOf(work);
    const bool is_ours = !key.name.empty() && api::IsExecutionNamespace(work.ns());
    const kube::ObjectPtr binding =
        is_ours ? manager.cluster().Find(Scope::Bindings(), key) : nullptr;
    if (binding == nullptr || binding->IsDeleting()) return std::vector<kube::Request>();
    return std::vector<kube::Request>{{.key = key}};
  };
}

// Maps a Work that has changed hands to the bindings that name its object: one stands for it.
template <class Scope>
kube::MapFn BindingsOfItsObject(kube::Manager& manager) {
  return [&manager](const kube::Object& work) {
    const kube::Object object = works::ObjectOf(work);
    const bool is_ours = !object.name().empty() && object.ns().empty() != Scope::kNamespaced;
    return is_ours ? works::RequestsForBindingsOf(manager.cluster(), object.kind(), object.key())
                   : std::vector<kube::Request>();
  };
}

// Queues the binding of a Work that appears when the binding does not expect it any more: the
// Work's creation was not answered, and its cluster has left the binding, or somebody has deleted
// the binding, before the cache showed the Work.
template <class Scope>
kube::EventHandler OnUnexpectedWork(kube::Manager& manager, kube::WorkQueue& queue) {
  kube::EventHandler come;
  come.on_add = [&queue, &manager](const kube::ObjectPtr& work, bool initial) {
    if (initial || !manager.IsLeader()) return;  // A start looks at every binding.
    const kube::ObjectKey key = Scope::BindingOf(*work);
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work->ns());
    if (key.name.empty() || !cluster.ok()) return;
    const kube::ObjectPtr binding = manager.cluster().Find(Scope::Bindings(), key);
    if (binding != nullptr && (binding->IsDeleting() || !works::Expects(*binding, *cluster))) {
      queue.Add({.key = key});
    }
  };
  return come;
}

// The state of a failed application is in manifests until it is healthy, which changes no spec. A
// binding without clusters may wait for its scheduler's look (PlacementWait).
bool ManifestsMayDiffer(const kube::Object& before, const kube::Object& after) {
  const api::BindingView was(before), is(after);
  return kube::GenerationChanged(before, after) ||
         (after.spec()["clusters"].empty() &&
          was.SchedulerObservedGeneration() != is.SchedulerObservedGeneration()) ||
         before.Annotation(api::kPreservedStateAnnotation) !=
             after.Annotation(api::kPreservedStateAnnotation);
}

// Queues the bindings to the cluster.
void QueueBindingsTo(const std::string& cluster, const kube::Informer& bindings,
                     kube::WorkQueue& queue) {
  for (const kube::ObjectPtr& binding : bindings.store().List()) {
    if (api::BindingView(*binding).ExpectedClusters().contains(cluster)) {
      queue.Add({.key = binding->key()});
    }
  }
}

}  // namespace

template <class Scope>
absl::Status RegisterBinding(const controllers::Context& context, int workers) {
  OtherClaims::IsSynced is_synced;
  if (context.options.ControllerEnabled("namespace")) {
    ASSIGN_OR_RETURN(is_synced,
                     controllers::SyncedNamespaces(context.options.skipped_propagating_namespaces));
  }
  kube::ControllerBuilder builder = context.NewController(Scope::kBindingController, workers);
  if (Scope::kNamespaced) builder.Reads(api::OverridePolicies());
  kube::Controller& controller =
      builder.Watches(Scope::Bindings(), {.when = {.update = ManifestsMayDiffer}})
          .Watches(api::Works(),
                   {.when = {.add = kube::Never, .update = kube::NeverUpdate},
                    .map = BindingThatLostWork<Scope>(context.manager),
                    .removal_delay = works::TimeToUnregister(context.manager.cluster())})
          .Watches(
              api::Works(),
              {.when = {.add = kube::Never, .update = works::ChangedHands, .remove = kube::Never},
               .map = BindingsOfItsObject<Scope>(context.manager)})
          .Reads(api::Works(), Scope::kIdLabel, kube::IndexByLabel(Scope::kIdLabel))
          .Reads(api::ResourceBindings(), works::kBindingsByObject, works::ObjectNamedBy)
          .Reads(api::ClusterResourceBindings(), works::kBindingsByObject, works::ObjectNamedBy)
          .Reads(api::Works(), works::kStandInIndex, works::StandsInFor)
          .Reads(api::ClusterOverridePolicies())
          .Reads(api::PropagationPolicies())
          .Reads(api::ClusterPropagationPolicies())
          .Reads(api::Clusters())
          .Reads(api::Namespaces())
          .Build(std::make_unique<BindingReconciler<Scope>>(
              context.manager, context.interpreter,
              context.options.gates.Enabled(config::Gate::kStatefulFailoverInjection),
              std::move(is_synced)));
  std::vector<interpreter::Operation> operations = {interpreter::Operation::kReviseReplica,
                                                    interpreter::Operation::kPrune};
  if (!Scope::kNamespaced) operations.push_back(interpreter::Operation::kInterpretDependency);
  works::RequeueBindings(
      context.interpreter,
      {controller.queue(), context.InformerOf(Scope::Bindings()), std::move(operations)});
  context.rechecks.Subscribe(Scope::Bindings(), controller.queue());
  overrides::QueueBindings(context.manager, Scope::Bindings(), controller);
  controllers::OnExecutionNamespace(
      context, controller,
      [&queue = controller.queue(), bindings = context.InformerOf(Scope::Bindings())](
          const std::string& cluster) { QueueBindingsTo(cluster, *bindings, queue); });
  controller.Keep(std::make_shared<kube::HandlerRegistration>(
      context.InformerOf(api::Works()),
      OnUnexpectedWork<Scope>(context.manager, controller.queue())));
  return absl::OkStatus();
}

template absl::Status RegisterBinding<api::scope::Namespaced>(const controllers::Context&, int);
template absl::Status RegisterBinding<api::scope::Cluster>(const controllers::Context&, int);

}  // namespace binding
