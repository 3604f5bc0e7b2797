// A pass waits first for the end of the pause that the last write demands (WritePace). It then
// aggregates the status of all Works. If that changes the binding while the Works are on their way
// to an outcome, the pass waits for as long as the gate says; a Work that is suspended, or whose
// cluster is not ready, is not on its way. It writes the status and the condition FullyApplied to
// the binding, and has the interpreter sum it up into the status of the template. A failure of the
// binding's write ends the pass before the template, and so does a binding that is gone by then;
// each failure is repeated with back-off, without a further hold. A template that is gone is passed
// over.
//
// Some passes come 100 ms after their cause, so that several become one: from Works whose status
// changes, that begin to be deleted or that become another binding's; from a change of the clusters
// in which a binding expects Works; and from the end of a binding whose object others name, because
// one of them stands for it then. Others come at once: from a binding that is added and has, or has
// had, clusters (at a start, every one is), from a new version of the template, from rules
// and from rechecks. A binding that is not fully applied any more, because a cluster has been added
// whose Work is not there, is written without waiting for it. held_, under mu_, has since when an
// unwritten change has waited, and whether the gate has let it pass. It, the pauses and the
// reported outcomes may be lost; that moves the next write a little.

#include "controllers/binding_status/binding_status_reconciler.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding_resource.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/unhealthy_since.h"
#include "api/work.h"
#include "base/status.h"
#include "controllers/binding_status/aggregation.h"
#include "controllers/binding_status/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "works/binding_works.h"
#include "works/refused_bindings.h"
#include "works/rule_requeue.h"
#include "works/standing_binding.h"
#include "works/template_read.h"
#include "works/work_status_writer.h"

namespace controllers {
namespace {

// The pause after a write for each item that it carried; a hundred clusters mean 1 s.
constexpr absl::Duration kPausePerCluster = absl::Milliseconds(10);
constexpr absl::Duration kLongestPause = absl::Seconds(30);

// Returns how long a binding's status rests after it was written with so many clusters.
//
// A patch carries the whole list status.aggregatedStatus, and so do its answer and the event that
// every watcher gets. Without a pause, each change in one of M clusters would cost M items. With a
// pause in proportion to the items, a binding costs a bounded number of items a second, however
// many clusters it has and however often they change.
absl::Duration PauseAfter(size_t clusters) {
  return std::min(kLongestPause, static_cast<int64_t>(clusters) * kPausePerCluster);
}

// The part of a binding's outcomes that is its template's; the other one is "".
constexpr char kOfTemplate[] = "template";

// Returns the binding with the status that follows from its Works.
kube::Object WithStatus(const api::BindingView& binding,
                        const std::vector<api::AggregatedStatusItem>& items, absl::Time now) {
  kube::Object after = binding.object();
  after.Set({"status", "aggregatedStatus"},
            items.empty() ? json::Value() : ItemsToJson(items, binding.AggregatedStatus()));
  if (items.empty()) after.Erase({"status", "aggregatedStatus"});
  json::Value conditions = binding.Conditions();
  kube::SetCondition(conditions, FullyApplied(binding.ExpectedClusters(), items), now);
  after.Set({"status", "conditions"}, std::move(conditions));
  api::RecordUnhealthy(binding.object(), after, now);
  return after;
}

// Returns the Works whose status counts: all but those of clusters to which dispatching is
// suspended and which the scheduler has taken out of the binding since. Their objects are kept as
// they are, and whoever waits for an edit waits for the clusters that get it.
template <class Scope>
std::vector<kube::ObjectPtr> CountedWorks(kube::ClusterClient& client,
                                          const api::BindingView& binding) {
  std::vector<kube::ObjectPtr> works = works::WorksOfBinding<Scope>(client, binding.object());
  std::erase_if(works, [&](const kube::ObjectPtr& work) {
    if (!api::WorkView(*work).IsDispatchingSuspended()) return false;
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work->ns());
    return cluster.ok() && !works::Expects(binding.object(), *cluster);
  });
  return works;
}

// Returns whether the binding is called fully applied although an expected cluster has no Work.
bool LacksWorks(const api::BindingView& binding,
                const std::vector<api::AggregatedStatusItem>& items) {
  if (!kube::IsConditionTrue(binding.Conditions(), api::kBindingFullyApplied)) return false;
  std::set<std::string> lacking = binding.ExpectedClusters();
  for (const api::AggregatedStatusItem& item : items) lacking.erase(item.cluster_name);
  return !lacking.empty();
}

}  // namespace

template <class Scope>
BindingStatusReconciler<Scope>::BindingStatusReconciler(kube::Manager& manager,
                                                        const interpreter::Interpreter& interpreter)
    : manager_(manager),
      gate_(manager.clock()),
      pace_(manager.clock()),
      interpreter_(interpreter),
      template_status_(manager.cluster()),
      recorder_(manager.events(), Scope::kStatusController, outcomes()) {}

template <class Scope>
absl::StatusOr<kube::Action> BindingStatusReconciler<Scope>::Reconcile(
    const kube::Request& request, const base::StopToken& stop) {
  const kube::ObjectPtr object = manager_.cluster().Find(Scope::Bindings(), request.key);
  if (object == nullptr || object->IsDeleting()) {
    EndHold(request.key);
    return kube::Action::Gone();
  }
  const api::BindingView binding(*object);
  if (binding.PermanentId().empty()) return kube::Action::Done();
  const absl::Duration pause = pace_.PauseFor(request.key);
  if (pause > absl::ZeroDuration()) return kube::Action::After(pause);
  const std::vector<kube::ObjectPtr> works = CountedWorks<Scope>(manager_.cluster(), binding);
  ASSIGN_OR_RETURN(const std::vector<api::AggregatedStatusItem> items,
                   AggregateWorks(binding.Resource(), works));
  const kube::Object after = WithStatus(binding, items, manager_.clock().Now());
  const bool is_news = after.status() != object->status();
  const bool at_once =
      !is_news || LacksWorks(binding, items) || IsSettled(AnsweringTargets(binding, works), items);
  const absl::Duration hold = HoldFor(request.key, at_once);
  if (hold > absl::ZeroDuration()) return kube::Action::After(hold);

  const absl::Status written = WriteBinding(object, after, items.size(), stop);
  if (written.ok() || kube::IsGone(written)) EndHold(request.key);
  if (kube::IsGone(written)) return kube::Action::Gone();
  RETURN_IF_ERROR(written);
  RETURN_IF_ERROR(WriteTemplate(binding, items, stop));
  return kube::Action::Done();
}

template <class Scope>
std::vector<api::TargetCluster> BindingStatusReconciler<Scope>::AnsweringTargets(
    const api::BindingView& binding, const std::vector<kube::ObjectPtr>& works) {
  std::set<std::string> suspended;
  for (const kube::ObjectPtr& work : works) {
    if (!api::WorkView(*work).IsDispatchingSuspended()) continue;
    suspended.insert(api::ClusterOfExecutionNamespace(work->ns()).value_or(""));
  }
  std::vector<api::TargetCluster> targets = binding.DispatchTargets();
  std::erase_if(targets, [&](const api::TargetCluster& target) {
    const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), {"", target.name});
    return cluster == nullptr || !api::ClusterView(*cluster).IsReady() ||
           suspended.contains(target.name);
  });
  return targets;
}

template <class Scope>
absl::Duration BindingStatusReconciler<Scope>::HoldFor(const kube::ObjectKey& key, bool at_once) {
  if (at_once) return absl::ZeroDuration();
  absl::MutexLock lock(&mu_);
  Hold& hold = held_.try_emplace(key, Hold{manager_.clock().SteadyNow()}).first->second;
  if (hold.is_over) return absl::ZeroDuration();
  const absl::Duration left = gate_.HoldFor(hold.since);
  hold.is_over = left <= absl::ZeroDuration();
  return left;
}

template <class Scope>
void BindingStatusReconciler<Scope>::EndHold(const kube::ObjectKey& key) {
  absl::MutexLock lock(&mu_);
  held_.erase(key);
}

template <class Scope>
absl::Status BindingStatusReconciler<Scope>::WriteBinding(const kube::ObjectPtr& object,
                                                          const kube::Object& after,
                                                          size_t clusters,
                                                          const base::StopToken& stop) {
  kube::UpdateOptions options;
  options.subresource = "status";
  // The scheduler writes conditions too. And a request that the server executes late, as the last
  // one of a former leader, must not replace newer items: nothing would repair them.
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::StatusOr<kube::ObjectPtr> now =
      manager_.cluster().Update(Scope::Bindings(), object, after, options, stop);
  if (kube::IsGone(now.status())) return now.status();
  const bool wrote = now.ok() && *now != object;
  // News is held for the settled hold anyway.
  const absl::Duration pause = PauseAfter(clusters);
  if (wrote && pause > works::kSettledHold) pace_.Written(object->key(), pause);
  const kube::Request request = {object->key()};
  const absl::Status written = recorder_.Judge(request, "", now.status());
  Report({*object, request, "", wrote}, written,
         api::message::BindingStatusAggregated(Scope::Describe(object->key())));
  return written;
}

template <class Scope>
absl::Status BindingStatusReconciler<Scope>::WriteTemplate(
    const api::BindingView& binding, const std::vector<api::AggregatedStatusItem>& items,
    const base::StopToken& stop) {
  const api::ObjectReference reference = binding.Resource();
  const kube::Gvk gvk = reference.gvk();
  if (!interpreter_.HasRule(gvk, interpreter::Operation::kAggregateStatus)) {
    return absl::OkStatus();
  }
  if (works::IsRefused(manager_.cluster(), binding.object(), stop)) return absl::OkStatus();
  if (!StandsForObject(binding.object())) return absl::OkStatus();
  ASSIGN_OR_RETURN(const kube::Resource resource, manager_.cluster().mapper().ForKind(gvk, stop));
  const absl::StatusOr<kube::ObjectPtr> object =
      works::ReadTemplate(manager_.cluster(), resource, reference.key(), stop);
  if (kube::IsGone(object.status())) return absl::OkStatus();
  RETURN_IF_ERROR(object.status());

  const absl::StatusOr<kube::Object> aggregated =
      interpreter_.AggregateStatus(**object, items.empty() ? json::Value() : ItemsToJson(items));
  const kube::Request request = {binding.object().key()};
  absl::Status done = aggregated.status();
  const bool changed = aggregated.ok() && aggregated->status() != (*object)->status();
  if (aggregated.ok()) {
    const absl::Status written =
        template_status_.Write({resource, *object}, aggregated->status(), stop);
    if (kube::IsGone(written)) return absl::OkStatus();  // The template was deleted meanwhile.
    done = recorder_.Judge(request, kOfTemplate, written);
    if (kube::IsConflict(done)) return done;
  }
  Report({**object, request, kOfTemplate, changed}, done, api::message::kTemplateStatusAggregated);
  return base::Annotate(done, "aggregating status of ", reference.Describe());
}

// Another binding of the same object, which somebody has copied or made by hand, has other Works:
// the two would write two statuses in turn.
template <class Scope>
bool BindingStatusReconciler<Scope>::StandsForObject(const kube::Object& binding) {
  const api::ObjectReference reference = api::BindingView(binding).Resource();
  const kube::ObjectPtr standing = works::StandingBinding(
      manager_.cluster(), reference.kind, reference.key(), [&](const kube::Object& other) {
        return api::BindingView(other).Resource().gvk().group == reference.gvk().group;
      });
  return standing == nullptr || standing->key() == binding.key();
}

template <class Scope>
void BindingStatusReconciler<Scope>::Report(const Subject& subject, const absl::Status& result,
                                            absl::string_view success) {
  recorder_.Outcome({.of = subject.request,
                     .part = subject.part,
                     .about = {kube::InvolvedObject::Of(subject.object)},
                     .success = {api::reason::kAggregateStatusSucceed, std::string(success)},
                     .failure = {api::reason::kAggregateStatusFailed, ""},
                     .routine = subject.changed},
                    result);
}

namespace {

// Returns a request for the binding that the Work belongs to.
template <class Scope>
std::vector<kube::Request> BindingOf(const kube::Object& work) {
  const kube::ObjectKey key = Scope::BindingOf(work);
  const bool is_ours = !key.name.empty() && api::IsExecutionNamespace(work.ns());
  return !is_ours ? std::vector<kube::Request>() : std::vector<kube::Request>{{.key = key}};
}

bool BeginsToGo(const kube::Object& before, const kube::Object& after) {
  return after.IsDeleting() && !before.IsDeleting();
}

// Maps a binding that ends to all that name its object: another one stands for it now.
kube::MapFn BindingsOfItsObject(kube::Manager& manager) {
  return [&manager](const kube::Object& binding) {
    if (!api::MayStandForResource(binding)) return std::vector<kube::Request>();
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    return works::RequestsForBindingsOf(manager.cluster(), reference.kind, reference.key());
  };
}

// Returns whether a binding has to count the Work otherwise than before: it says something else, or
// it is another binding's now.
template <class Scope>
bool CountsOtherwise(const kube::Object& before, const kube::Object& after) {
  return before.status() != after.status() || before.IsDeleting() != after.IsDeleting() ||
         before.Label(Scope::kIdLabel) != after.Label(Scope::kIdLabel) ||
         Scope::BindingOf(before) != Scope::BindingOf(after);
}

// Nothing schedules an attached binding: it has the clusters of the bindings that require it.
bool HasClusters(const kube::Object& binding) {
  const api::BindingView view(binding);
  return !view.LastScheduledTime().empty() || !view.ExpectedClusters().empty();
}

// One that has lost its clusters while nobody watched still shows what they said, or its template
// does: the binding is written first.
bool HasHadClusters(const kube::Object& binding) {
  const api::BindingView view(binding);
  return HasClusters(binding) || !view.AggregatedStatus().empty() ||
         kube::FindCondition(view.Conditions(), api::kBindingFullyApplied) != nullptr;
}

bool TemplateVersionChanged(const kube::Object& before, const kube::Object& after) {
  return HasClusters(after) && api::BindingView(before).Resource().resource_version !=
                                   api::BindingView(after).Resource().resource_version;
}

bool ExpectedClustersChanged(const kube::Object& before, const kube::Object& after) {
  const json::Value& old_spec = before.spec();
  const json::Value& spec = after.spec();
  const bool may_differ = old_spec["clusters"] != spec["clusters"] ||
                          old_spec["requiredBy"] != spec["requiredBy"] ||
                          old_spec["gracefulEvictionTasks"] != spec["gracefulEvictionTasks"];
  return may_differ &&
         api::BindingView(before).ExpectedClusters() != api::BindingView(after).ExpectedClusters();
}

}  // namespace

template <class Scope>
absl::Status RegisterBindingStatus(const Context& context, int workers) {
  kube::Controller& controller =
      context.NewController(Scope::kStatusController, workers)
          .Watches(Scope::Bindings(),
                   {.when = {.add = HasHadClusters, .update = TemplateVersionChanged}})
          .Watches(Scope::Bindings(),
                   {.when = {.add = kube::Never, .update = ExpectedClustersChanged},
                    .delay = works::kSettledHold})
          // The binding loop first makes the Works those of the binding that stands now.
          .Watches(Scope::Bindings(), {.when = {.add = kube::Never, .update = BeginsToGo},
                                       .map = BindingsOfItsObject(context.manager),
                                       .delay = works::kSettledHold})
          .Reads(Scope::Bindings(), works::kBindingsByObject, works::ObjectNamedBy)
          // Several Works of one binding tend to change together.
          .Watches(api::Works(), {.when = {.add = kube::Never, .update = CountsOtherwise<Scope>},
                                  .map = BindingOf<Scope>,
                                  .delay = works::kSettledHold})
          .Reads(api::Works(), Scope::kIdLabel, kube::IndexByLabel(Scope::kIdLabel))
          .Reads(api::Clusters())
          .Build(std::make_unique<BindingStatusReconciler<Scope>>(context.manager,
                                                                  context.interpreter));
  works::RequeueBindings(context.interpreter, {controller.queue(),
                                               context.InformerOf(Scope::Bindings()),
                                               {interpreter::Operation::kAggregateStatus}});
  context.rechecks.Subscribe(Scope::Bindings(), controller.queue(), HasClusters);
  return absl::OkStatus();
}

template class BindingStatusReconciler<api::scope::Namespaced>;
template class BindingStatusReconciler<api::scope::Cluster>;
template absl::Status RegisterBindingStatus<api::scope::Namespaced>(const Context&, int);
template absl::Status RegisterBindingStatus<api::scope::Cluster>(const Context&, int);

}  // namespace controllers
