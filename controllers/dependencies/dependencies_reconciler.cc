// A pass over a binding that propagates dependencies first brings the clusters of the bindings that
// are attached to it up to date, which needs no interpreter. A cluster from which the template was
// moved away stays among them until the template's Work there is gone, and its object in the
// member, which may have finalizers: what the template needs is added at once, and removed last.
// The pass then asks the interpreter what the template needs, records the answer and the finalizer
// on the binding in one write, lets go of attached bindings whose objects are not in the answer,
// and attaches those of all others. The finalizer comes first, so that whatever is attached is let
// go when the binding is deleted.
//
// An error of the interpreter about the template leaves the record and what is attached as they are
// and is repeated with back-off. One about a dependency whose own dependencies are to follow (gate
// TransitiveDependencies) lets the record grow only, and nothing is let go meanwhile. A kind
// without a rule for dependencies has no record; what is attached to its bindings stays, because a
// rule that is replaced is gone for a moment.
//
// While the template's present state is held back (works/passage.h), clusters keep the manifests
// that they have, and what those need: the record stays, and nothing is let go. What the template
// as it is needs is added if a cluster has it or is about to get it (held_needs.h).
//
// A binding that stops propagating, or is being deleted, is released if it has the finalizer: its
// entry is taken from each attached binding, and only when that has succeeded for all of them the
// finalizer is removed. An attached binding that nobody needs has no clusters; it stays until its
// object is deleted.
//
// A binding is queued when it changes, when a rule does, when an object is added that it may need
// (DependencySource), when a Work of it is gone (its dependencies can leave the cluster, too, or
// the next Work is made of another state), when a cluster with its dependencies is removed, and
// when an attached binding is deleted, loses a referrer or gets other clusters than the referrer
// needs: whoever did that has it made again. A referrer that was removed by force is released when
// its deletion is seen. Otherwise one that is not there is not looked for: a backup may just have
// brought what is attached to it, and brings the referrer next. Nothing but the reported outcomes
// is remembered.

#include "controllers/dependencies/dependencies_reconciler.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/dependencies.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/context/seen_deletions.h"
#include "controllers/dependencies/attached_bindings.h"
#include "controllers/dependencies/dependency_source.h"
#include "controllers/dependencies/held_needs.h"
#include "controllers/dependencies/left_clusters.h"
#include "controllers/dependencies/register.h"
#include "interpreter/rule_changes.h"
#include "kube/cache/guarded_update.h"
#include "kube/client/errors.h"
#include "kube/meta/annotation_limit.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "works/kept_work.h"
#include "works/refused_bindings.h"
#include "works/rule_requeue.h"

namespace controllers {
namespace {

// While a template is being deleted in a cluster that it has left, its binding is looked at again
// after this time.
constexpr absl::Duration kMemberRecheck = absl::Seconds(5);

// Selects the bindings that are looked at: those that were placed, as upstream does, and those that
// carry the finalizer, to which something may be attached. Any other gets neither record nor
// finalizer, however it got into the queue.
bool IsForUs(const kube::Object& binding) {
  return binding.HasFinalizer(api::kDependenciesFinalizer) ||
         (PropagatesDependencies(binding) && !api::BindingView(binding).Clusters().empty());
}

bool ChangedForUs(const kube::Object& before, const kube::Object& after) {
  return kube::GenerationChanged(before, after) &&
         (api::BindingView(before).PropagateDeps() || api::BindingView(after).PropagateDeps() ||
          after.HasFinalizer(api::kDependenciesFinalizer));
}

// Maps an attached binding that is gone to its referrers, and to itself: it is to be forgotten.
std::vector<kube::Request> ReferrersAndItself(const kube::Object& attached) {
  std::vector<kube::Request> requests;
  for (const api::BindingSnapshot& referrer : api::BindingView(attached).RequiredBy()) {
    if (referrer.ns != attached.ns()) continue;  // This program attaches within a namespace.
    requests.push_back({.key = {referrer.ns, referrer.name}});
  }
  if (!requests.empty()) requests.push_back({.key = attached.key()});
  return requests;
}

// Returns whether the binding records these dependencies.
bool IsRecorded(const json::Value& dependencies, const kube::Object& binding) {
  const json::Value* recorded = binding.annotations().Find(api::kDependenciesAnnotation);
  return recorded != nullptr && api::NamesSameDependencies(recorded->AsString(), dependencies);
}

// A server refuses longer annotations, so that nothing would be attached, again and again.
absl::Status CheckRecord(const kube::Object& binding, const kube::Object& object,
                         const json::Value& dependencies) {
  kube::Object after = binding;
  after.SetAnnotation(api::kDependenciesAnnotation, api::DependenciesText(dependencies));
  const size_t bytes = kube::AnnotationBytes(after);
  if (bytes <= kube::kMaxAnnotationBytes) return absl::OkStatus();
  return base::Terminal(absl::ResourceExhaustedError(absl::StrCat(
      object.Describe(), " depends on ", dependencies.size(),
      " objects, with whose record the annotations of the binding would have ", bytes,
      " bytes: a server takes ", kube::kMaxAnnotationBytes, ", so nothing is attached")));
}

// The parts of a binding's outcomes.
constexpr char kFinding[] = "finding dependencies", kAttaching[] = "attaching";

}  // namespace

absl::StatusOr<kube::Action> DependenciesReconciler::Reconcile(const kube::Request& request,
                                                               const base::StopToken& stop) {
  const kube::ObjectPtr binding = client_.Find(api::ResourceBindings(), request.key);
  const bool propagates = binding != nullptr && PropagatesDependencies(*binding) &&
                          !works::IsRefused(client_, *binding, stop);
  if (!propagates) recorder_.Forget(request);
  if (binding == nullptr) {
    attachments_.Forget(request.key);
    RETURN_IF_ERROR(ReleaseAfter(request.key, stop));
    return kube::Action::Done();
  }
  seen_->Forget(request.key);
  RETURN_IF_ERROR(propagates ? Distribute(binding, stop) : Release(binding, stop));
  const bool waits = propagates && attachments_.AwaitsMembers(*binding);
  return waits ? kube::Action::After(kMemberRecheck) : kube::Action::Done();
}

absl::Status DependenciesReconciler::Distribute(const kube::ObjectPtr& binding,
                                                const base::StopToken& stop) {
  if (!IsForUs(*binding)) return absl::OkStatus();
  const absl::StatusOr<bool> moved = attachments_.FollowClusters(*binding, stop);
  if (!moved.ok() || *moved) ReportAttached(*binding, moved);
  RETURN_IF_ERROR(moved.status());
  const api::ObjectReference reference = api::BindingView(*binding).Resource();
  if (!search_.Knows(reference.gvk())) return ForgetRecord(binding, stop);
  ASSIGN_OR_RETURN(const kube::Resource resource, client_.mapper().ForKind(reference.gvk(), stop));
  const absl::StatusOr<kube::ObjectPtr> object = client_.Get(resource, reference.key(), stop);
  // Without a template the binding is about to be collected, or it changes when there is a template
  // again.
  if (!object.ok()) return kube::IgnoreGone(object.status());
  ASSIGN_OR_RETURN(FoundDependencies found, DependenciesOf(*binding, *object, stop));
  if (!found.complete.ok()) found.list = WithRecorded(std::move(found.list), *binding);
  const absl::StatusOr<kube::ObjectPtr> recorded = Record(binding, found.list, stop);
  if (!recorded.ok()) return kube::IgnoreGone(recorded.status());
  base::ErrorList errors;
  errors.Add(Attach(*recorded, found, stop));
  errors.Add(found.complete);
  return errors.Join();
}

absl::Status DependenciesReconciler::ForgetRecord(const kube::ObjectPtr& binding,
                                                  const base::StopToken& stop) {
  recorder_.Forget({binding->key()}, kFinding);
  kube::Object after = *binding;
  // It was written under a rule that is gone.
  after.EraseAnnotation(api::kDependenciesAnnotation);
  return kube::IgnoreGone(
      client_.Update(api::ResourceBindings(), binding, after, {}, stop).status());
}

absl::StatusOr<FoundDependencies> DependenciesReconciler::DependenciesOf(
    const kube::Object& binding, const kube::ObjectPtr& object, const base::StopToken& stop) {
  const auto held_back = StatesHeldBack(client_, interpreter_, binding, object);
  absl::StatusOr<FoundDependencies> found =
      held_back.has_value() ? search_.DependenciesOf(*object, binding, *held_back, stop)
                            : search_.DependenciesOf(*object, stop);
  if (found.ok()) {
    const absl::Status fits = CheckRecord(binding, *object, found->list);
    if (!fits.ok()) found = fits;
  }
  const absl::Status complete = found.ok() ? found->complete : found.status();
  recorder_.Outcome({.of = {binding.key()},
                     .part = kFinding,
                     .about = {kube::InvolvedObject::Of(*object)},
                     .success = {api::reason::kGetDependenciesSucceed,
                                 complete.ok() ? api::message::DependenciesGot(
                                                     api::PrintedDependencies(found->list))
                                               : ""},
                     .failure = {api::reason::kGetDependenciesFailed, ""},
                     .routine = complete.ok() && !IsRecorded(found->list, binding)},
                    complete);
  const absl::Status annotated =
      base::Annotate(complete, "asking for the dependencies of ", object->Describe());
  if (!found.ok()) return annotated;
  found->complete = annotated;
  return found;
}

absl::StatusOr<kube::ObjectPtr> DependenciesReconciler::Record(const kube::ObjectPtr& binding,
                                                               const json::Value& dependencies,
                                                               const base::StopToken& stop) {
  kube::Object after = *binding;
  if (!IsRecorded(dependencies, *binding)) {
    after.SetAnnotation(api::kDependenciesAnnotation, api::DependenciesText(dependencies));
  }
  after.AddFinalizer(api::kDependenciesFinalizer);
  // The scheduler, which has just placed the binding, is about to say so in the status.
  return kube::GuardedUpdate(client_, api::ResourceBindings(), {binding, after}, stop);
}

absl::Status DependenciesReconciler::Attach(const kube::ObjectPtr& binding,
                                            const FoundDependencies& found,
                                            const base::StopToken& stop) {
  if (api::BindingView(*binding).PermanentId().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(binding->Describe(), " has no label ", api::kResourceBindingIdLabel,
                     ", which Karmada's webhook sets: nothing can be attached to it"));
  }
  const std::vector<api::DependentReference> references = api::DependenciesFromJson(found.list);
  const absl::StatusOr<bool> wrote =
      attachments_.Follow(binding, {references, found.complete.ok() && !found.held_back}, stop);
  ReportAttached(*binding, wrote);
  return base::Annotate(wrote.status(), "attaching what ", binding->key().ToString(), " needs");
}

void DependenciesReconciler::ReportAttached(const kube::Object& binding,
                                            const absl::StatusOr<bool>& wrote) {
  recorder_.Outcome({.of = {binding.key()},
                     .part = kAttaching,
                     .about = {kube::InvolvedObject::Of(binding)},
                     .success = {api::reason::kSyncScheduleResultToDependenciesSucceed,
                                 api::message::kScheduleResultSyncedToDependencies},
                     .failure = {api::reason::kSyncScheduleResultToDependenciesFailed, ""},
                     .changed = wrote.ok() && *wrote},
                    wrote.status());
}

absl::Status DependenciesReconciler::ReleaseAfter(const kube::ObjectKey& key,
                                                  const base::StopToken& stop) {
  if (!seen_->Has(key)) return absl::OkStatus();  // It may be created yet.
  ASSIGN_OR_RETURN(const auto absence, seen_->Judge(client_, api::ResourceBindings(), key, stop));
  if (absence != SeenDeletions::Absence::kSeen) return absl::OkStatus();
  return attachments_.Release(key, stop);
}

absl::Status DependenciesReconciler::Release(const kube::ObjectPtr& binding,
                                             const base::StopToken& stop) {
  if (!binding->HasFinalizer(api::kDependenciesFinalizer)) return absl::OkStatus();
  RETURN_IF_ERROR(attachments_.Release(binding->key(), stop));
  return client_.RemoveFinalizer(api::ResourceBindings(), binding, api::kDependenciesFinalizer,
                                 stop);
}

namespace {

// From now on a change of rules for dependencies queues each propagating binding that records a
// dependency of a kind which it touches.
void RequeueByRecordedKinds(const interpreter::Interpreter& interpreter, kube::WorkQueue& queue,
                            std::shared_ptr<kube::Informer> bindings) {
  interpreter.rule_changes().Subscribe(
      [&queue, bindings = std::move(bindings)](const interpreter::RuleChange& change) {
        for (const kube::ObjectPtr& binding : bindings->store().List()) {
          if (!PropagatesDependencies(*binding)) continue;
          const auto references = api::RecordedDependencies(*binding);
          const bool touched = std::any_of(references.begin(), references.end(), [&](auto& r) {
            return change(r.gvk(), interpreter::Operation::kInterpretDependency);
          });
          if (touched) queue.Add({.key = binding->key()});
        }
      });
}

}  // namespace

absl::Status RegisterDependencies(const Context& context, int workers) {
  const auto seen = std::make_shared<SeenDeletions>();
  kube::Enqueue deleted = OnDeletion(seen);
  deleted.when.remove = [](const kube::Object& last) {
    return api::BindingView(last).PropagateDeps();
  };
  const DependencySearch::Deps search = {
      context.manager.cluster(), context.interpreter,
      context.options.gates.Enabled(config::Gate::kTransitiveDependencies)};
  const auto referrers_to_ask = [lookups = LookupsIn(context.manager.cluster())](
                                    const kube::Object& before, const kube::Object& after) {
    std::vector<kube::Request> requests;
    for (kube::ObjectKey& key : ReferrersLost(before, after, lookups.find)) {
      requests.push_back({.key = std::move(key)});
    }
    for (kube::ObjectKey& key : ReferrersContradicted(before, after, lookups)) {
      requests.push_back({.key = std::move(key)});
    }
    return requests;
  };
  const std::shared_ptr<kube::Informer> bindings = context.InformerOf(api::ResourceBindings());
  kube::ControllerBuilder builder = context.NewController(api::kDependenciesDistributor, workers);
  kube::Controller& controller =
      ReadsCredentials(builder)
          .Reads(api::ResourceBindings(), kReferrerIndex, ReferrerKeys)
          .Reads(api::ResourceBindings(), kDependencyIndex, DependencyKeys)
          .Watches(api::ResourceBindings(),
                   {.when = {.add = IsForUs, .update = ChangedForUs, .remove = kube::Never}})
          .Watches(api::ResourceBindings(), std::move(deleted))
          .Watches(api::ResourceBindings(), {.when = {.add = kube::Never},
                                             .map = ReferrersAndItself,
                                             .map_update = referrers_to_ask})
          .Reads(api::Works(), api::kResourceBindingIdLabel,
                 kube::IndexByLabel(api::kResourceBindingIdLabel))
          .Reads(api::Works(), works::kStandInIndex, works::StandsInFor)
          .Watches(api::Works(), {.when = {.add = kube::Never, .update = kube::NeverUpdate},
                                  .map = BindingThatLostWork(context.manager.cluster())})
          .Watches(api::Clusters(), {.when = {.add = kube::Never, .update = BeginsToGo},
                                     .map = ReferrersInto(bindings)})
          .ReadsWatchedKinds()  // For templates and what they depend on.
          .Build(std::make_unique<DependenciesReconciler>(search, context.manager.events(),
                                                          TerminatingIn(context.objects), seen));
  works::RequeueBindings(context.interpreter, {controller.queue(),
                                               bindings,
                                               {interpreter::Operation::kInterpretDependency},
                                               PropagatesDependencies});
  context.rechecks.Subscribe(api::ResourceBindings(), controller.queue(), PropagatesDependencies);
  DependencySource::Deps source = {bindings, controller.queue(), context.rechecks};
  if (search.transitive) {
    source.has_dependencies = [search](const kube::Gvk& gvk) {
      return DependencySearch(search).Knows(gvk);
    };
    RequeueByRecordedKinds(context.interpreter, controller.queue(), bindings);
  }
  controller.Keep(std::make_shared<DependencySource>(std::move(source), context.kinds));
  return absl::OkStatus();
}

}  // namespace controllers
