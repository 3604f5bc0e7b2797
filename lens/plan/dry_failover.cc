// Run repeats three steps. Every binding whose toleration of a cluster's NoExecute taints has an
// end is evicted, with the functions of the daemon's loops. The scheduler and the binding loops
// come to rest. Then the tasks end, and they come to rest again. A workload that the scheduler has
// put back into a tainted cluster, because it tolerates the taint for a time, is evicted once more,
// and the task stays then, as the graceful eviction loop has it. Without the flags that make the
// taint manager work nothing is evicted, and only tasks that are there already end.

#include "lens/plan/dry_failover.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/cluster.h"
#include "api/eviction.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/toleration.h"
#include "api/wanted_taints.h"
#include "base/status.h"
#include "controllers/cluster/cluster_reconciler.h"
#include "controllers/eviction/applied_tolerations.h"
#include "controllers/eviction/eviction_task.h"
#include "controllers/taint_manager/binding_evictor.h"
#include "sandbox/sim/writes.h"

namespace lens::plan {
namespace {

constexpr int kRounds = 3;

const kube::Resource& ResourceOf(const kube::Object& binding) {
  return binding.ns().empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
}

ObjectId IdOf(const kube::Object& binding) {
  const api::ObjectReference reference = api::BindingView(binding).Resource();
  return {reference.gvk().group, reference.kind, reference.ns, reference.name};
}

bool Targets(const kube::Object& binding, absl::string_view cluster) {
  const std::vector<api::TargetCluster> clusters = api::BindingView(binding).Clusters();
  return std::any_of(clusters.begin(), clusters.end(),
                     [&](const api::TargetCluster& one) { return one.name == cluster; });
}

// A task that a user has to end, or that keeps a workload away, stays.
bool Stays(const json::Value& task) {
  return task["suppressDeletion"].AsBool() || api::KeepsAway(task);
}

}  // namespace

std::string NameOf(const api::Taint& taint) { return absl::StrCat(taint.key, ":", taint.effect); }

std::set<std::string> TaintNames(const kube::Object& cluster) {
  std::set<std::string> names;
  for (const api::Taint& taint : api::ClusterView(cluster).Taints()) {
    names.insert(NameOf(taint));
  }
  return names;
}

absl::Status DryFailover::Taint(const std::string& name) {
  sandbox::Backend& backend = plane_.backend();
  const kube::Gvr clusters = api::Clusters().gvr();
  ASSIGN_OR_RETURN(const kube::ObjectPtr cluster,
                   sandbox::FindObject(backend, clusters, {"", name}));
  if (cluster == nullptr) return absl::OkStatus();
  kube::Object after = *cluster;
  if (const auto taints = controllers::TaintsFor(api::ClusterView(after), now_)) {
    api::SetTaints(after, *taints);
  }
  const bool has_policies = options_.gates.Enabled(config::Gate::kFailover) &&
                            options_.ControllerEnabled("clustertaintpolicy");
  if (has_policies) {
    ASSIGN_OR_RETURN(std::vector<kube::ObjectPtr> policies,
                     backend.List(api::ClusterTaintPolicies().gvr(), "", kube::LabelSelector()));
    const auto taints = api::WantedTaints(api::ClusterView(after), std::move(policies), now_);
    if (taints.has_value()) api::SetTaints(after, *taints);
  }
  if (after == *cluster) return absl::OkStatus();
  return backend.Update(clusters, std::move(after)).status();
}

absl::StatusOr<std::vector<Departure>> DryFailover::Run(const base::StopToken& stop) {
  std::vector<Departure> departures;
  for (int round = 0; round < kRounds; ++round) {
    const size_t before = departures.size();
    if (controllers::TaintManagerEvicts(options_)) RETURN_IF_ERROR(EvictAll(departures));
    if (departures.size() > before) RETURN_IF_ERROR(plane_.SettleAfterChange(stop));
    ASSIGN_OR_RETURN(const bool ended, EndTasks());
    if (!ended) break;
    RETURN_IF_ERROR(plane_.SettleAfterChange(stop));
  }
  return departures;
}

absl::StatusOr<std::vector<kube::ObjectPtr>> DryFailover::Bindings() const {
  std::vector<kube::ObjectPtr> all;
  for (const auto* resource : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> some,
                     plane_.backend().List(resource->gvr(), "", kube::LabelSelector()));
    for (const kube::ObjectPtr& binding : some) {
      if (!binding->IsDeleting()) all.push_back(binding);
    }
  }
  return all;
}

absl::Status DryFailover::EvictAll(std::vector<Departure>& out) {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> clusters,
                   plane_.backend().List(api::Clusters().gvr(), "", kube::LabelSelector()));
  for (const kube::ObjectPtr& cluster : clusters) RETURN_IF_ERROR(EvictFrom(*cluster, out));
  return absl::OkStatus();
}

absl::Status DryFailover::EvictFrom(const kube::Object& cluster, std::vector<Departure>& out) {
  // All taints: whether one is about to be removed is over when the loops have come to rest.
  const std::vector<api::Taint> taints = api::NoExecuteTaints(api::ClusterView(cluster));
  if (taints.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> bindings, Bindings());
  for (const kube::ObjectPtr& binding : bindings) {
    if (!Targets(*binding, cluster.name())) continue;
    const auto stay = StayOf(*binding, cluster.name(), taints);
    if (!stay.ok()) {  // The daemon fails, too, and tries again and again.
      undecided_[{IdOf(*binding), std::string(cluster.name())}] =
          std::string(stay.status().message());
    }
    if (!stay.ok() || *stay == absl::InfiniteDuration()) continue;
    const Departure departure{IdOf(*binding), std::string(cluster.name()), *stay,
                              PurgeMode(*binding)};
    RETURN_IF_ERROR(Evict(binding, departure));
    out.push_back(departure);
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Duration> DryFailover::StayOf(const kube::Object& binding,
                                                   absl::string_view cluster,
                                                   const std::vector<api::Taint>& taints) const {
  const auto found = delayed_.find(std::string(cluster));
  if (found == delayed_.end()) return controllers::RemainingStay(binding, taints, now_);
  const auto& [names, until] = found->second;
  std::vector<api::Taint> at_once, later;
  for (const api::Taint& taint : taints) {
    (names.contains(NameOf(taint)) ? later : at_once).push_back(taint);
  }
  ASSIGN_OR_RETURN(const absl::Duration stay, controllers::RemainingStay(binding, at_once, now_));
  ASSIGN_OR_RETURN(const absl::Duration after, controllers::RemainingStay(binding, later, now_));
  return std::min(stay, after + until);
}

absl::Status DryFailover::Evict(const kube::ObjectPtr& binding, const Departure& departure) {
  controllers::Eviction eviction;
  eviction.cluster = departure.cluster;
  eviction.purge_mode = departure.purge_mode;
  eviction.reason = api::reason::kTaintUntolerated;
  eviction.producer = api::kTaintManagerProducer;
  const bool is_first = evicted_.emplace(binding->key(), departure.cluster).second;
  if (!is_first) eviction.message = api::kKeepsAwayMessage;
  kube::Object after = *binding;
  controllers::Evict(after, eviction);
  const kube::Gvr resource = ResourceOf(*binding).gvr();
  absl::Status written = plane_.backend().Update(resource, std::move(after)).status();
  if (!absl::IsAborted(written)) return written;
  ASSIGN_OR_RETURN(const kube::ObjectPtr fresh,
                   sandbox::FindObject(plane_.backend(), resource, binding->key()));
  if (fresh == nullptr || !Targets(*fresh, departure.cluster)) return absl::OkStatus();
  if (is_first) evicted_.erase({binding->key(), departure.cluster});
  return Evict(fresh, departure);
}

std::string DryFailover::PurgeMode(const kube::Object& binding) const {
  const json::Value& failover = binding.Get({"spec", "failover", "cluster"});
  if (failover.is_null()) return options_.taint_eviction.purge_mode;
  const std::string mode = failover["purgeMode"].ToString();
  return mode.empty() ? api::kPurgeGracefully : mode;
}

absl::StatusOr<DryFailover::WorksByOwner> DryFailover::WorksOfBindings() const {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> works,
                   plane_.backend().List(api::Works().gvr(), "", kube::LabelSelector()));
  WorksByOwner by_owner;
  for (const kube::ObjectPtr& work : works) {
    kube::ObjectKey owner = api::scope::Namespaced::BindingOf(*work);
    if (owner.name.empty()) owner = api::scope::Cluster::BindingOf(*work);
    by_owner[std::move(owner)].push_back(work);
  }
  return by_owner;
}

absl::StatusOr<bool> DryFailover::EndTasks() {
  bool ended = false;
  std::optional<WorksByOwner> works;  // Read when they are needed first.
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> bindings, Bindings());
  for (const kube::ObjectPtr& binding : bindings) {
    const json::Value& tasks = binding->spec()["gracefulEvictionTasks"];
    json::Value kept = json::Value::Array();
    for (const json::Value& task : tasks.items()) {
      if (Stays(task)) kept.Append(task);
    }
    if (kept.size() == tasks.size()) continue;
    ended = true;
    // The loops would wait for the scheduler first, for ten seconds.
    if (binding->spec()["clusters"].empty()) {
      if (!works.has_value()) {
        ASSIGN_OR_RETURN(works, WorksOfBindings());
      }
      RETURN_IF_ERROR(DeleteWorks(*binding, *works));
    }
    sandbox::PatchRequest request;
    request.patch.Set({"spec", "gracefulEvictionTasks"},
                      kept.empty() ? json::Value() : std::move(kept));
    RETURN_IF_ERROR(
        plane_.backend().Patch(ResourceOf(*binding).gvr(), binding->key(), request).status());
  }
  return ended;
}

absl::Status DryFailover::DeleteWorks(const kube::Object& binding, const WorksByOwner& works) {
  const auto own = works.find(binding.key());
  if (own == works.end()) return absl::OkStatus();
  std::set<std::string> attached;
  for (const api::TargetCluster& target : api::BindingView(binding).DispatchTargets()) {
    attached.insert(target.name);
  }
  for (const kube::ObjectPtr& work : own->second) {
    const auto cluster = api::ClusterOfExecutionNamespace(work->ns());
    if (!cluster.ok() || attached.contains(*cluster)) continue;
    RETURN_IF_ERROR(plane_.Delete(*work));
  }
  return absl::OkStatus();
}

}  // namespace lens::plan
