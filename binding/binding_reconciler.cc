// A pass takes these steps. It deletes the Works of clusters that are neither targets nor being
// evicted gracefully, unless dispatching to them is suspended (removal.h). While Works that must go
// first are still there, it ends, and looks again every five seconds. It reads the template;
// without one the binding will be collected, so nothing is done. While the template's present state
// has not passed (works/passage.h), the Works that are there keep their manifests (held_works.h).
// For each other target it has the manifest made (the interpreter sets the cluster's share of
// replicas, then override policies are applied) and creates or patches the Work; with many targets
// this is done for several of them at the same time, and a cluster that fails does not hold up the
// others. The joint outcome is reported on the binding and on the template.
//
// A binding that is being deleted loses its finalizer after its Works have been deleted; that they
// vanish is not awaited. The server is asked for Works that the cache may lack, such as one whose
// creation was not answered: nobody else would delete them. Passes come from changes of the
// binding, of rules, of override policies and of the clusters they mean, from Works that are gone
// or appear unexpectedly, and from rechecks. A Work that appears when its binding is gone stays: to
// delete it could take away what somebody restores from a backup, or keeps on purpose. Only the
// outcomes reported last and the conflicts in a row are remembered, and both may be lost.

#include "binding/binding_reconciler.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding_resource.h"
#include "api/dependencies.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "binding/held_works.h"
#include "binding/removal.h"
#include "binding/work_templates.h"
#include "kube/client/errors.h"
#include "kube/runtime/events.h"
#include "kube/runtime/sync_timer.h"
#include "works/binding_works.h"
#include "works/kept_work.h"
#include "works/passage.h"
#include "works/related.h"
#include "works/standing_binding.h"
#include "works/template_read.h"

namespace binding {
namespace {

// While Works that must go first are still there, the binding is looked at again after this time.
constexpr absl::Duration kPurgeRecheck = absl::Seconds(5);

}  // namespace

template <class Scope>
BindingReconciler<Scope>::BindingReconciler(kube::Manager& manager,
                                            const interpreter::Interpreter& interpreter,
                                            bool injects_state, OtherClaims::IsSynced is_synced)
    : manager_(manager),
      interpreter_(interpreter),
      injects_state_(injects_state),
      writer_(manager.cluster()),
      overrider_(manager, outcomes()),
      recorder_(manager.events(), Scope::kBindingController, outcomes()),
      fan_out_(manager.clock()),
      placement_wait_(manager.clock(), works::PlacementWait::kFirstLook),
      others_(manager.cluster(), std::move(is_synced)),
      works_(manager.cluster(), fan_out_, others_) {}

template <class Scope>
absl::StatusOr<kube::Action> BindingReconciler<Scope>::Reconcile(const kube::Request& request,
                                                                 const base::StopToken& stop) {
  const kube::ObjectPtr stored = manager_.cluster().Find(Scope::Bindings(), request.key);
  if (stored == nullptr) {
    placement_wait_.Forget(request.key);
    return kube::Action::Gone();
  }
  if (stored->IsDeleting()) return Finalize(stored, stop);

  const api::BindingView binding(*stored);
  const absl::StatusOr<absl::Duration> left_alone = DeleteOrphans(binding, stop);
  RETURN_IF_ERROR(
      base::Annotate(left_alone.status(), "deleting works of clusters no longer chosen"));
  const bool awaits_scheduler = *left_alone > absl::ZeroDuration();
  // The scheduler has not looked at the binding yet: its Works are left alone until it has, or the
  // time is over.
  if (awaits_scheduler && binding.DispatchTargets().empty()) {
    return kube::Action::After(*left_alone);
  }
  const bool is_purging = IsPurging(binding, [&] { return works_.Known(binding); });
  if (is_purging) return kube::Action::After(kPurgeRecheck);

  // Judged twice: first by the names alone, which needs no server, then with the scope of the kind.
  absl::Status fits = api::CheckBindingResource(*stored);
  if (!fits.ok()) return Refuse(binding, fits);
  const api::ObjectReference reference = binding.Resource();
  const absl::StatusOr<kube::Resource> resource =
      manager_.cluster().mapper().ForKind(reference.gvk(), stop);
  if (!resource.ok()) return resource.status();
  fits = api::CheckBindingResource(*stored, &*resource);
  if (!fits.ok()) return Refuse(binding, fits);
  const absl::StatusOr<kube::ObjectPtr> found =
      works::ReadTemplate(manager_.cluster(), *resource, reference.key(), stop);
  // The garbage collector will collect its binding.
  if (kube::IsGone(found.status())) return kube::Action::Done();
  if (!found.ok()) return found.status();

  const kube::SyncTimer timer(manager_, "binding_sync_work_duration_seconds",
                              "Duration of syncing the Works of a binding.");
  Outcome outcome = EnsureWorks(binding, **found, stop);
  outcome.status = recorder_.Judge(request, "", outcome.status);
  timer.Observe(outcome.status);
  Report(binding, **found, outcome);
  if (!Scope::kNamespaced) ReportDependencies(binding, **found);
  if (!outcome.status.ok()) return outcome.status;
  return awaits_scheduler ? kube::Action::After(*left_alone) : kube::Action::Done();
}

template <class Scope>
absl::StatusOr<kube::Action> BindingReconciler<Scope>::Finalize(const kube::ObjectPtr& stored,
                                                                const base::StopToken& stop) {
  if (!stored->HasFinalizer(Scope::kFinalizer)) {
    // A Work may have been created since the finalizer was removed.
    RETURN_IF_ERROR(works_.LetGo(*stored, works_.Known(api::BindingView(*stored)), stop));
    return kube::Action::Done();
  }
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> works,
                   works_.All(api::BindingView(*stored), stop));
  RETURN_IF_ERROR(
      KeepPreserved(api::BindingView(*stored), works, manager_.cluster(), fan_out_, stop));
  RETURN_IF_ERROR(works_.LetGo(*stored, works, stop));
  RETURN_IF_ERROR(
      manager_.cluster().RemoveFinalizer(Scope::Bindings(), stored, Scope::kFinalizer, stop));
  return kube::Action::Done();
}

template <class Scope>
absl::StatusOr<absl::Duration> BindingReconciler<Scope>::DeleteOrphans(
    const api::BindingView& binding, const base::StopToken& stop) {
  const std::set<std::string> expected = binding.ExpectedClusters();
  const absl::Duration left_alone = placement_wait_.Remaining(binding.object());
  const bool awaits_scheduler = left_alone > absl::ZeroDuration();
  const std::set<std::string> purged =
      awaits_scheduler ? binding.ClustersPurgedAtOnce() : std::set<std::string>();
  base::ErrorList errors;
  std::vector<kube::ObjectPtr> orphans;
  for (const kube::ObjectPtr& work : works_.Known(binding)) {
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work->ns());
    errors.Add(cluster.status());
    if (!cluster.ok() || expected.count(*cluster) > 0) continue;
    // An eviction that purges at once does not wait for the scheduler.
    if (awaits_scheduler && purged.count(*cluster) == 0) continue;
    if (!StaysSuspended(binding, *cluster, manager_.cluster())) {
      orphans.push_back(work);
    } else if (!work->IsDeleting()) {
      recorder_.Standing(kube::InvolvedObject::Of(binding.object()),
                         api::reason::kSuspendedWorkKept,
                         api::message::SuspendedWorkKept(*cluster));
    }
  }
  errors.Add(works_.LetGo(binding.object(), orphans, stop));
  const absl::Status result = errors.Join();
  if (!result.ok() && !kube::IsNoOutcome(result)) {
    recorder_.Warning(kube::InvolvedObject::Of(binding.object()), api::reason::kCleanupWorkFailed,
                      result.message());
  }
  RETURN_IF_ERROR(result);
  return left_alone;
}

template <class Scope>
kube::Action BindingReconciler<Scope>::Refuse(const api::BindingView& binding,
                                              const absl::Status& why) {
  recorder_.Warning(kube::InvolvedObject::Of(binding.object()), api::reason::kBindingRefused,
                    why.message());
  return kube::Action::Done();
}

template <class Scope>
typename BindingReconciler<Scope>::Outcome BindingReconciler<Scope>::EnsureWorks(
    const api::BindingView& binding, const kube::Object& object, const base::StopToken& stop) {
  const std::vector<api::TargetCluster> targets = binding.DispatchTargets();
  const std::vector<int64_t> completions = DividedCompletions(object, binding, targets);
  const overrides::Policies policies = overrider_.PoliciesFor(object.ns());
  const auto find = [&] { return works::TargetWorks(binding, manager_.cluster()); };
  const works::Passage passage = works::PassageOf(binding, object, find, interpreter_);
  const Originals originals = others_.OriginalsOf(binding.object());
  if (originals.everywhere != nullptr) {
    return {originals.CheckIsNoCopy(binding.object(), ""), false};
  }
  std::atomic<bool> wrote = false;
  const absl::Status status = fan_out_.Run(targets.size(), [&](size_t i) {
    const Share share = {targets[i], completions.empty() ? -1 : completions[i], policies, passage,
                         originals};
    const absl::StatusOr<bool> written = EnsureWork(binding, object, share, stop);
    if (written.ok() && *written) wrote = true;
    return base::Annotate(written.status(), "cluster ", targets[i].name);
  });
  return {status, wrote};
}

template <class Scope>
absl::StatusOr<bool> BindingReconciler<Scope>::EnsureWork(const api::BindingView& binding,
                                                          const kube::Object& object,
                                                          const Share& share,
                                                          const base::StopToken& stop) {
  // One of many targets: the others must not delay the end of the process.
  if (stop.stop_requested()) return absl::CancelledError("stopping");
  const api::TargetCluster& target = share.target;
  RETURN_IF_ERROR(share.originals.CheckIsNoCopy(binding.object(), target.name));
  RETURN_IF_ERROR(works::CheckClusterExists(manager_.cluster(), target.name));
  if (share.passage != works::Passage::kPassed) {
    const kube::ObjectPtr kept = works::WorkToKeep<Scope>(manager_.cluster(), binding, target.name);
    if (kept != nullptr) return KeepWork(binding, object, {target, kept}, stop);
  }
  ASSIGN_OR_RETURN(const kube::Object manifest,
                   ManifestFor(object, binding, target, share.completions, interpreter_));
  ASSIGN_OR_RETURN(
      const overrides::Overridden overridden,
      overrider_.Override(share.policies, manifest, target.name, binding.object().key()));
  kube::Object with_state = overridden.manifest;
  if (injects_state_) InjectPreservedState(binding, target.name, with_state);
  works::WantedWork work = WorkFor<Scope>(with_state, binding, target.name);
  overrides::AddAnnotations(overridden.annotations, work.annotations);
  const kube::ObjectPtr existing = manager_.cluster().Find(api::Works(), work.key);
  const absl::StatusOr<works::WorkWriter::Result> result =
      writer_.CreateOrUpdate(work, existing, stop);
  if (!result.ok()) {
    return works::ExplainedByCluster(manager_.cluster(), target.name, result.status());
  }
  if (result->written) overrider_.ReportApplied(overridden, manifest, target.name);
  // One that is there already is that of the namespace loop, which has brought this state.
  if (result->written && existing == nullptr && IsUnpassedState(share.passage, binding, object)) {
    const bool is_released = share.passage == works::Passage::kReleased;
    recorder_.Warning(kube::InvolvedObject::Of(object), api::reason::kHeldBackTemplateUsed,
                      api::message::HeldBackTemplateUsed(target.name, is_released));
  }
  return result->written;
}

template <class Scope>
absl::StatusOr<bool> BindingReconciler<Scope>::KeepWork(const api::BindingView& binding,
                                                        const kube::Object& object,
                                                        const Kept& kept,
                                                        const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const works::WantedWork work,
                   KeptWork<Scope>(*kept.work, binding, object, kept.target, interpreter_));
  const bool is_there = kept.work->key() == work.key;  // Or a stand-in is.
  const absl::StatusOr<works::WorkWriter::Result> result =
      writer_.CreateOrUpdate(work, is_there ? kept.work : nullptr, stop);
  if (!result.ok()) {
    return works::ExplainedByCluster(manager_.cluster(), kept.target.name, result.status());
  }
  return result->written;
}

template <class Scope>
void BindingReconciler<Scope>::Report(const api::BindingView& binding, const kube::Object& object,
                                      const Outcome& outcome) {
  const kube::ObjectKey key = binding.object().key();
  auto about = kube::InvolvedObject::Of(binding.object());
  // Without a version, so that the event of a new edit is not dropped as a repeat when the binding
  // did not change.
  if (outcome.status.ok()) about.resource_version.clear();
  recorder_.Outcome(
      {.of = {key},
       .about = {about, kube::InvolvedObject::Of(object)},
       .success = {api::reason::kSyncWorkSucceed, api::message::WorksSynced(Scope::Describe(key))},
       .failure = {api::reason::kSyncWorkFailed, ""},
       .routine = outcome.wrote},
      outcome.status);
}

// The dependencies distributor attaches within a namespace, as upstream's does.
template <class Scope>
void BindingReconciler<Scope>::ReportDependencies(const api::BindingView& binding,
                                                  const kube::Object& object) {
  if (!binding.PropagateDeps()) return;
  const auto needed = interpreter::AnswerAs<json::Value>(interpreter_.AskOrAssume(
      {.operation = interpreter::Operation::kInterpretDependency, .object = object}));
  if (!needed.ok() || needed->empty()) return;
  recorder_.Warning(kube::InvolvedObject::Of(object), api::reason::kDependenciesNotPropagated,
                    api::message::DependenciesOfClusterScoped(api::PrintedDependencies(*needed)));
}

template class BindingReconciler<api::scope::Namespaced>;
template class BindingReconciler<api::scope::Cluster>;

}  // namespace binding
