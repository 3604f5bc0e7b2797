// A cluster that joins gets its execution namespace, then the taints that its Ready condition asks
// for, then the finalizer, which lets the cluster-status loop begin. Each step is passed over when
// it has been done, and a failure repeats the pass with back-off.
//
// A cluster that is unjoined goes through four steps. The Works of a pull cluster that is not ready
// lose their finalizers, since its agent will not finish them. The execution namespace is deleted,
// and with it the Works, whose objects in the member the execution loop removes. Once the namespace
// is gone, no binding may name the cluster any more, but for those that are refused; what still
// does so a quarter of an hour after the removal began loses it here, because whoever may write
// bindings in one namespace must not hold up the removal for ever. Then the finalizer is removed. A
// pass ends where it has to wait; the cluster is queued when the namespace is gone and when a
// binding ceases to name it, and looked at every ten seconds. A wait of more than half a minute is
// an event and a line in the log that name what it waits for. Nothing is remembered between passes
// but when there was one.

#include "controllers/cluster/cluster_reconciler.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/cluster/pull_cluster_monitor.h"
#include "controllers/cluster/register.h"
#include "controllers/context/binding_index.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"
#include "works/refused_bindings.h"

namespace controllers {
namespace {

constexpr absl::Duration kUnjoinRecheck = absl::Seconds(10);
// How long a removal may wait before somebody has to know of it: most of them take seconds.
constexpr absl::Duration kUnjoinPatience = absl::Seconds(30);

bool Drop(std::vector<api::Taint>& taints, const api::Taint& taint) {
  return std::erase_if(taints, [&](const api::Taint& t) { return t.IsSame(taint); }) > 0;
}

bool Put(std::vector<api::Taint>& taints, api::Taint taint, absl::Time now) {
  for (const api::Taint& t : taints) {
    if (t.IsSame(taint)) return false;
  }
  taint.time_added = kube::FormatTime(now);
  taints.push_back(std::move(taint));
  return true;
}

}  // namespace

std::optional<std::vector<api::Taint>> TaintsFor(const api::ClusterView& cluster, absl::Time now) {
  const api::Taint not_ready{api::kNotReadyTaint, "", api::kNoSchedule, ""};
  const api::Taint unreachable{api::kUnreachableTaint, "", api::kNoSchedule, ""};
  std::vector<api::Taint> taints = cluster.Taints();
  const absl::string_view ready = cluster.ReadyStatus();
  bool changed = false;
  // The two taints exclude each other. A cluster without the condition has just joined: not ready.
  if (ready == "True") {
    changed |= Drop(taints, not_ready);
    changed |= Drop(taints, unreachable);
  } else if (ready == "Unknown") {
    changed |= Put(taints, unreachable, now);
    changed |= Drop(taints, not_ready);
  } else {
    changed |= Put(taints, not_ready, now);
    if (ready == "False") changed |= Drop(taints, unreachable);
  }
  if (!changed) return std::nullopt;
  return taints;
}

ClusterReconciler::ClusterReconciler(kube::Manager& manager)
    : manager_(manager), recorder_(manager.events(), api::kClusterController) {}

absl::StatusOr<kube::Action> ClusterReconciler::Reconcile(const kube::Request& request,
                                                          const base::StopToken& stop) {
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), request.key);
  if (cluster == nullptr) return kube::Action::Done();
  if (cluster->IsDeleting()) return Finalize(cluster, stop);
  RETURN_IF_ERROR(EnsureExecutionNamespace(*cluster, stop));
  ASSIGN_OR_RETURN(const kube::ObjectPtr now, UpdateTaints(cluster, stop));
  kube::Object after = *now;
  after.AddFinalizer(api::kClusterFinalizer);
  RETURN_IF_ERROR(manager_.cluster().Update(api::Clusters(), now, after, {}, stop).status());
  return kube::Action::Done();
}

absl::Status ClusterReconciler::EnsureExecutionNamespace(const kube::Object& cluster,
                                                         const base::StopToken& stop) {
  const std::string ns = api::ExecutionNamespace(cluster.name());
  if (manager_.cluster().Find(api::Namespaces(), {"", ns}) != nullptr) return absl::OkStatus();
  kube::Object object = kube::Object::Make(api::Namespaces().gvk, {"", ns});
  object.SetLabel(api::kSystemLabel, api::kSystemValue);
  const absl::Status created = manager_.cluster().Create(api::Namespaces(), object, stop).status();
  if (kube::AlreadyExists(created)) return absl::OkStatus();
  if (absl::IsCancelled(created)) return created;
  Report(cluster, created,
         {api::reason::kCreateExecutionSpaceSucceed, api::reason::kCreateExecutionSpaceFailed},
         created.ok() ? api::message::ExecutionSpaceCreated(ns, cluster.name())
                      : api::message::ExecutionSpaceNotCreated(ns, created));
  return created;
}

absl::StatusOr<kube::ObjectPtr> ClusterReconciler::UpdateTaints(const kube::ObjectPtr& cluster,
                                                                const base::StopToken& stop) {
  const std::optional<std::vector<api::Taint>> taints =
      TaintsFor(api::ClusterView(*cluster), manager_.clock().Now());
  if (!taints.has_value()) return cluster;
  kube::Object after = *cluster;
  api::SetTaints(after, *taints);
  const absl::StatusOr<kube::ObjectPtr> now =
      manager_.cluster().Update(api::Clusters(), cluster, after, {}, stop);
  if (kube::IsNoOutcome(now.status())) return now;
  Report(*cluster, now.status(),
         {api::reason::kTaintClusterSucceed, api::reason::kTaintClusterFailed},
         now.ok() ? api::message::ClusterTainted(*taints)
                  : api::message::ClusterNotTainted(now.status()));
  return now;
}

absl::StatusOr<kube::Action> ClusterReconciler::Finalize(const kube::ObjectPtr& cluster,
                                                         const base::StopToken& stop) {
  if (!cluster->HasFinalizer(api::kClusterFinalizer)) return kube::Action::Done();
  const api::ClusterView view(*cluster);
  if (view.IsPull() && !view.IsReady()) RETURN_IF_ERROR(ReleaseWorks(*cluster, stop));

  const std::string ns = api::ExecutionNamespace(cluster->name());
  if (manager_.cluster().Find(api::Namespaces(), {"", ns}) != nullptr) {
    const absl::Status deleted = manager_.cluster().Delete(api::Namespaces(), {"", ns}, {}, stop);
    if (absl::IsCancelled(deleted)) return deleted;
    Report(*cluster, deleted,
           {api::reason::kRemoveExecutionSpaceSucceed, api::reason::kRemoveExecutionSpaceFailed},
           deleted.ok() ? api::message::ExecutionSpaceRemoved(cluster->name())
                        : api::message::ExecutionSpaceNotRemoved(cluster->name(), deleted));
    RETURN_IF_ERROR(deleted);
    return Wait(*cluster, api::message::ClusterWaitsForWorks,
                manager_.cluster().List(api::Works(), ns));
  }
  const std::vector<kube::ObjectPtr> bindings = BindingsTo(cluster->name(), stop);
  if (!bindings.empty()) {
    const auto blocked = api::BlockedDeletionOf(*cluster, manager_.clock().Now());
    // Counted from the deletionTimestamp, so that a restart does not begin the time again.
    if (!blocked.has_value() || blocked->age < api::kSchedulerPatience) {
      return Wait(*cluster, api::message::ClusterWaitsForBindings, bindings);
    }
    RETURN_IF_ERROR(TakeOutOf(bindings, *cluster, stop));
  }
  RETURN_IF_ERROR(
      manager_.cluster().RemoveFinalizer(api::Clusters(), cluster, api::kClusterFinalizer, stop));
  return kube::Action::Done();
}

void ClusterReconciler::Report(const kube::Object& cluster, const absl::Status& result,
                               std::pair<const char*, const char*> reasons,
                               const std::string& message) {
  const auto about = kube::InvolvedObject::Of(cluster);
  if (result.ok()) {
    recorder_.Normal(about, reasons.first, message);
  } else {
    recorder_.Warning(about, reasons.second, message);
  }
}

absl::Status ClusterReconciler::ReleaseWorks(const kube::Object& cluster,
                                             const base::StopToken& stop) {
  base::ErrorList errors;
  const std::string ns = api::ExecutionNamespace(cluster.name());
  for (const kube::ObjectPtr& work : manager_.cluster().List(api::Works(), ns)) {
    errors.Add(
        manager_.cluster().RemoveFinalizer(api::Works(), work, api::kExecutionFinalizer, stop));
  }
  return errors.Join();
}

std::vector<kube::ObjectPtr> ClusterReconciler::BindingsTo(absl::string_view cluster,
                                                           const base::StopToken& stop) const {
  std::vector<kube::ObjectPtr> bindings;
  for (const kube::Resource* r : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    for (kube::ObjectPtr& binding :
         manager_.cluster().ByIndex(*r, kBindingsByCluster, std::string(cluster))) {
      if (works::IsRefused(manager_.cluster(), *binding, stop)) continue;
      bindings.push_back(std::move(binding));
    }
  }
  return bindings;
}

// No replica is forgotten: the scheduler compares those of spec.clusters with those of the
// template. If it was down or suspended, it places what is missing when it runs again.
absl::Status ClusterReconciler::TakeOutOf(absl::Span<const kube::ObjectPtr> bindings,
                                          const kube::Object& cluster,
                                          const base::StopToken& stop) {
  for (const kube::ObjectPtr& binding : bindings) {
    json::Value left = json::Value::Array();
    for (const json::Value& target : binding->Get({"spec", "clusters"}).items()) {
      if (target["name"].AsString() != cluster.name()) left.Append(target);
    }
    kube::Object after = *binding;
    after.Set({"spec", "clusters"}, left);
    if (left.empty()) after.Erase({"spec", "clusters"});
    const kube::Resource& kind =
        binding->ns().empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
    RETURN_IF_ERROR(
        kube::IgnoreGone(manager_.cluster().Update(kind, binding, after, {}, stop).status()));
  }
  recorder_.Warning(kube::InvolvedObject::Of(cluster), api::reason::kTakenOutOfBindings,
                    api::message::ClusterTakenOut(cluster, bindings));
  return absl::OkStatus();
}

kube::Action ClusterReconciler::Wait(const kube::Object& cluster, WaitMessage message,
                                     absl::Span<const kube::ObjectPtr> objects) {
  const std::optional<api::BlockedDeletion> blocked =
      api::BlockedDeletionOf(cluster, manager_.clock().Now());
  if (blocked.has_value() && blocked->age >= kUnjoinPatience) {
    const std::string kind = absl::StrCat(cluster.name(), " ", blocked->since, " ",
                                          objects.empty() ? "" : objects[0]->kind());
    // The names change while objects go one by one.
    if (waits_.Note(kind, manager_.clock().SteadyNow()).log) {
      const std::string text = message(cluster, *blocked, objects);
      base::LogInfo(text);
      recorder_.Warning(kube::InvolvedObject::Of(cluster), api::reason::kDeletionBlocked, text);
    }
  }
  // Mostly the end of the namespace, or of the last binding, is sooner; this is only the safety
  // net.
  return kube::Action::After(kUnjoinRecheck);
}

namespace {

// Returns a function that returns those clusters which a binding has left and which are being
// unjoined: the binding may be the last one that they waited for.
kube::UpdateMapFn UnjoinedThatItLeft(std::shared_ptr<kube::Informer> clusters) {
  return [clusters = std::move(clusters)](const kube::Object& before, const kube::Object& after) {
    std::vector<kube::Request> requests;
    if (before.spec()["clusters"] == after.spec()["clusters"]) return requests;
    for (const std::string& name : BindingsByCluster()(before)) {
      const kube::ObjectPtr cluster = clusters->store().Find({"", name});
      if (cluster != nullptr && cluster->IsDeleting()) requests.push_back({.key = cluster->key()});
    }
    return requests;
  };
}

kube::Enqueue WhenBindingsLeave(const std::shared_ptr<kube::Informer>& clusters) {
  const kube::UpdateMapFn left = UnjoinedThatItLeft(clusters);
  return {.when = {.add = kube::Never},
          .map = [left](const kube::Object& binding) { return left(binding, kube::Object()); },
          .map_update = left};
}

}  // namespace

absl::Status RegisterCluster(const Context& context, int workers) {
  const std::shared_ptr<kube::Informer> clusters = context.InformerOf(api::Clusters());
  const kube::MapFn cluster_of = [](const kube::Object& ns) {
    std::vector<kube::Request> requests;
    const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(ns.name());
    if (cluster.ok()) requests.push_back({.key = {"", *cluster}});
    return requests;
  };
  context.NewController(api::kClusterController, workers)
      .Watches(api::Clusters())
      // When an execution namespace is gone, the unjoin can go on.
      .Watches(api::Namespaces(),
               {.when = {.add = kube::Never, .update = kube::NeverUpdate}, .map = cluster_of})
      .Watches(api::ResourceBindings(), WhenBindingsLeave(clusters))
      .Watches(api::ClusterResourceBindings(), WhenBindingsLeave(clusters))
      .Reads(api::Works())
      .Reads(api::ResourceBindings(), kBindingsByCluster, BindingsByCluster())
      .Reads(api::ClusterResourceBindings(), kBindingsByCluster, BindingsByCluster())
      .Build(std::make_unique<ClusterReconciler>(context.manager));
  context.manager.Add(
      std::make_unique<PullClusterMonitor>(context.manager, context.options.clusters));
  return absl::OkStatus();
}

}  // namespace controllers
