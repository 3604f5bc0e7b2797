// A pass over a binding that propagates dependencies first brings the clusters of the bindings that
// upstream has attached to it up to date. It then asks the interpreter what the template needs, and
// writes the answer into an annotation of the binding when it differs from what is there. An error
// of the interpreter leaves the annotation as it is and is repeated with back-off; a kind without
// such a rule has no annotation.
//
// A binding that stops propagating, or is being deleted, is released if it has upstream's
// finalizer: its entry is taken from each attached binding, and only when that has succeeded for
// all of them the finalizer is removed. Nothing but the reported outcomes is remembered.
#include "controllers/dependencies/dependencies_reconciler.h"

#include <memory>
#include <string>
#include <utility>

#include "api/binding.h"
#include "api/dependencies.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/dependencies/attached_bindings.h"
#include "kube/client/errors.h"
#include "kube/meta/selector.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "works/rule_requeue.h"

namespace controllers {
namespace {

bool Propagates(const kube::Object& binding) {
  return api::BindingView(binding).PropagateDeps() && !binding.IsDeleting();
}

// Selects the bindings to be looked at when they are first seen: those that were placed, as
// upstream does, and those that needlessly carry upstream's finalizer.
bool IsForUs(const kube::Object& binding) {
  if (!Propagates(binding)) return binding.HasFinalizer(api::kDependenciesFinalizer);
  return !api::BindingView(binding).Clusters().empty();
}

bool ChangedForUs(const kube::Object& before, const kube::Object& after) {
  return kube::GenerationChanged(before, after) &&
         (api::BindingView(before).PropagateDeps() || api::BindingView(after).PropagateDeps() ||
          after.HasFinalizer(api::kDependenciesFinalizer));
}

}  // namespace

absl::StatusOr<kube::Action> DependenciesReconciler::Reconcile(const kube::Request& request,
                                                               const base::StopToken& stop) {
  const kube::ObjectPtr binding = manager_.cluster().Find(api::ResourceBindings(), request.key);
  if (binding == nullptr || !Propagates(*binding)) recorder_.Forget(request.key.ToString());
  if (binding == nullptr) return kube::Action::Done();
  RETURN_IF_ERROR(Propagates(*binding) ? Record(binding, stop) : Release(binding, stop));
  return kube::Action::Done();
}

absl::Status DependenciesReconciler::Record(const kube::ObjectPtr& binding,
                                            const base::StopToken& stop) {
  RETURN_IF_ERROR(FollowClusters(*binding, stop));
  const api::ObjectReference reference = api::BindingView(*binding).Resource();
  kube::ClusterClient& client = manager_.cluster();
  if (!interpreter_.HookEnabled(reference.gvk(), interpreter::Operation::kInterpretDependency)) {
    recorder_.Forget(binding->key().ToString());
    kube::Object after = *binding;
    // It was written under a rule that is gone.
    after.EraseAnnotation(api::kDependenciesAnnotation);
    return kube::IgnoreGone(
        client.Update(api::ResourceBindings(), binding, after, {}, stop).status());
  }
  ASSIGN_OR_RETURN(const kube::Resource resource, client.mapper().ForKind(reference.gvk(), stop));
  const absl::StatusOr<kube::ObjectPtr> object = client.Get(resource, reference.key(), stop);
  // Without a template the binding is about to be collected, or it changes when there is a template
  // again.
  if (!object.ok()) return kube::IgnoreGone(object.status());
  ASSIGN_OR_RETURN(const json::Value dependencies, DependenciesOf(binding->key(), **object));
  const json::Value* recorded = binding->annotations().Find(api::kDependenciesAnnotation);
  if (recorded != nullptr && api::NamesSameDependencies(recorded->AsString(), dependencies)) {
    return absl::OkStatus();
  }
  kube::Object after = *binding;
  after.SetAnnotation(api::kDependenciesAnnotation, api::DependenciesText(dependencies));
  return kube::IgnoreGone(
      client.Update(api::ResourceBindings(), binding, after, {}, stop).status());
}

absl::StatusOr<json::Value> DependenciesReconciler::DependenciesOf(const kube::ObjectKey& binding,
                                                                   const kube::Object& object) {
  absl::StatusOr<json::Value> dependencies = interpreter_.GetDependencies(object);
  recorder_.Outcome({.what = binding.ToString(),
                     .about = {kube::ObjectReference::Of(object)},
                     .success = {api::reason::kGetDependenciesSucceed,
                                 dependencies.ok() ? api::message::DependenciesGot(
                                                         api::PrintedDependencies(*dependencies))
                                                   : ""},
                     .failure = {api::reason::kGetDependenciesFailed, ""}},
                    dependencies.status());
  if (!dependencies.ok()) {
    return base::Annotate(dependencies.status(), "asking for the dependencies of ",
                          object.Describe());
  }
  return dependencies;
}

std::vector<kube::ObjectPtr> DependenciesReconciler::AttachedTo(const kube::Object& binding) const {
  return manager_.cluster().List(
      api::ResourceBindings(), binding.ns(),
      kube::LabelSelector::Equal(DependedByLabel(binding.key()),
                                 api::BindingView(binding).PermanentId()));
}

absl::Status DependenciesReconciler::FollowClusters(const kube::Object& binding,
                                                    const base::StopToken& stop) {
  if (!binding.HasFinalizer(api::kDependenciesFinalizer)) return absl::OkStatus();
  base::ErrorList errors;
  for (const kube::ObjectPtr& attached : AttachedTo(binding)) {
    errors.Add(kube::IgnoreGone(
        manager_.cluster()
            .Update(api::ResourceBindings(), attached, WithClustersOf(*attached, binding), {}, stop)
            .status()));
  }
  return errors.Join();
}

absl::Status DependenciesReconciler::Release(const kube::ObjectPtr& binding,
                                             const base::StopToken& stop) {
  if (!binding->HasFinalizer(api::kDependenciesFinalizer)) return absl::OkStatus();
  kube::ClusterClient& client = manager_.cluster();
  const kube::ObjectKey key = binding->key();
  const std::vector<kube::ObjectPtr> attached = AttachedTo(*binding);
  const auto find = [&](const kube::ObjectKey& k) {
    return client.Find(api::ResourceBindings(), k);
  };
  base::ErrorList errors;
  for (const kube::ObjectPtr& object : attached) {
    const absl::StatusOr<kube::Object> after = WithoutReferrer(*object, key, find);
    errors.Add(after.status());
    if (!after.ok()) continue;
    errors.Add(kube::IgnoreGone(
        client.Update(api::ResourceBindings(), object, *after, {}, stop).status()));
  }
  RETURN_IF_ERROR(base::Annotate(errors.Join(), "letting go of what ", key.ToString(), " needed"));
  return client.RemoveFinalizer(api::ResourceBindings(), binding, api::kDependenciesFinalizer,
                                stop);
}

absl::Status RegisterDependencies(const loops::Context& context, int workers) {
  const auto propagated = [](const kube::Object& last) {
    return api::BindingView(last).PropagateDeps();
  };
  kube::Controller& controller =
      context.NewController(api::kDependenciesDistributor, workers)
          .Watches(api::ResourceBindings(),
                   {.when = {.add = IsForUs, .update = ChangedForUs, .remove = propagated}})
          .Build(std::make_unique<DependenciesReconciler>(context.manager, context.interpreter));
  works::RequeueBindings(context.interpreter, {controller.queue(),
                                               context.InformerOf(api::ResourceBindings()),
                                               {interpreter::Operation::kInterpretDependency},
                                               Propagates});
  context.rechecks.Subscribe(api::ResourceBindings(), controller.queue(), Propagates);
  return absl::OkStatus();
}

}  // namespace controllers
