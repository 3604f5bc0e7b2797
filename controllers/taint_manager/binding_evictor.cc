#include "controllers/taint_manager/binding_evictor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/binding_scope.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/toleration.h"
#include "api/wanted_taints.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/eviction/applied_tolerations.h"
#include "controllers/eviction/eviction_task.h"
#include "kube/client/errors.h"
#include "works/refused_bindings.h"

namespace controllers {
namespace {

constexpr int kEvictionsLevel = 2;

bool IsTarget(const kube::Object& binding, absl::string_view cluster) {
  const auto targets = binding.Get({"spec", "clusters"}).items();
  return std::any_of(targets.begin(), targets.end(), [&](const json::Value& target) {
    return target["name"].AsString() == cluster;
  });
}

}  // namespace

absl::StatusOr<absl::Duration> RemainingStay(const kube::Object& binding,
                                             absl::Span<const api::Taint> no_execute,
                                             absl::Time now) {
  if (no_execute.empty()) return absl::InfiniteDuration();
  ASSIGN_OR_RETURN(const std::vector<api::Toleration> tolerations, AppliedTolerations(binding));
  return api::RemainingToleration(no_execute, tolerations, now);
}

template <class Scope>
BindingEvictor<Scope>::BindingEvictor(kube::Manager& manager, const config::Options& options)
    : manager_(manager),
      default_purge_mode_(options.taint_eviction.purge_mode),
      keeps_state_(options.gates.Enabled(config::Gate::kStatefulFailoverInjection)),
      recorder_(manager.events(), api::kTaintManager) {}

template <class Scope>
absl::StatusOr<EvictionOutcome> BindingEvictor<Scope>::Look(const kube::Request& request,
                                                            const base::StopToken& stop) {
  const kube::ObjectPtr binding = manager_.cluster().Find(Scope::Bindings(), request.key);
  if (binding == nullptr || binding->IsDeleting()) return EvictionOutcome{};
  // It has left the cluster since it was queued; so has one that is gone.
  if (!IsTarget(*binding, request.cluster)) return EvictionOutcome{};
  if (works::IsRefused(manager_.cluster(), *binding, stop)) return EvictionOutcome{};
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), {"", request.cluster});
  if (cluster == nullptr) return EvictionOutcome{};
  const absl::Time now = manager_.clock().Now();
  const std::vector<api::Taint> taints = api::StandingNoExecuteTaints(
      api::ClusterView(*cluster), manager_.cluster().List(api::ClusterTaintPolicies()), now);
  const absl::StatusOr<absl::Duration> stay = RemainingStay(*binding, taints, now);
  if (stay.ok() && *stay > absl::ZeroDuration()) return EvictionOutcome{.again = *stay};
  const absl::Status evicted = stay.ok() ? Evict(binding, request.cluster, stop) : stay.status();
  if (kube::IsGone(evicted)) return EvictionOutcome{};
  if (!evicted.ok()) {
    ReportEvictionFailed(recorder_, *binding, request.cluster, evicted);
    return evicted;
  }
  if (base::VlogOn(kEvictionsLevel)) {
    base::LogInfo("a workload is evicted from a cluster",
                  {{"binding", binding->Describe()}, {"cluster", request.cluster}});
  }
  return EvictionOutcome{.evicted = true};
}

template <class Scope>
absl::Status BindingEvictor<Scope>::Evict(const kube::ObjectPtr& binding,
                                          const std::string& cluster, const base::StopToken& stop) {
  const json::Value& failover = binding->Get({"spec", "failover", "cluster"});
  Eviction eviction;
  eviction.cluster = cluster;
  eviction.purge_mode = PurgeMode(failover);
  eviction.reason = api::reason::kTaintUntolerated;
  eviction.producer = api::kTaintManagerProducer;
  if (keeps_state_) {
    ASSIGN_OR_RETURN(
        eviction.preserved_label_state,
        PreservedLabelState(failover["statePreservation"], api::BindingView(*binding), cluster));
  }
  kube::Object after = *binding;
  controllers::Evict(after, eviction);
  // A binding that has changed since is looked at again: the scheduler may have moved it already.
  return manager_.cluster().Update(Scope::Bindings(), binding, after, {}, stop).status();
}

template <class Scope>
std::string BindingEvictor<Scope>::PurgeMode(const json::Value& cluster_failover) const {
  // A binding without spec.failover.cluster gets what the flag says; one with it, but without a
  // mode, gets the default of the API.
  if (cluster_failover.is_null()) return default_purge_mode_;
  const std::string mode = cluster_failover["purgeMode"].ToString();
  return mode.empty() ? api::kPurgeGracefully : mode;
}

template class BindingEvictor<api::scope::Namespaced>;
template class BindingEvictor<api::scope::Cluster>;

}  // namespace controllers
