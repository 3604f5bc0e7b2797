// A pass is about one cluster. As long as it has NoExecute taints, every binding that is placed
// there is queued for the moment at which its toleration ends, which may be now; one that tolerates
// the taints for ever is not queued. A taint that ClusterTaintPolicies are about to remove does not
// count (StandingNoExecuteTaints). The pass is repeated every ten seconds, for bindings that were
// placed there since. The workers of the queues decide again at that moment (binding_evictor.h):
// the taint may have been removed, or be tolerated longer.
//
// Nothing that is queued has to survive: the moments follow from timeAdded of the taints and from
// the placement in the binding's annotation, so that a restart finds the same ones. What waits for
// a worker already, or for the end of a back-off, is passed over (EvictionQueue::IsSettled); what
// has failed is looked at every minute at least.

#include "controllers/taint_manager/tainted_cluster_reconciler.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/toleration.h"
#include "api/wanted_taints.h"
#include "controllers/context/binding_index.h"
#include "controllers/taint_manager/binding_evictor.h"
#include "controllers/taint_manager/register.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

bool TaintsChanged(const kube::Object& before, const kube::Object& after) {
  return before.spec()["taints"] != after.spec()["taints"];
}

// Returns the text of the placement that decides how long the binding may stay.
absl::string_view PlacementText(const kube::Object& binding) {
  return binding.Annotation(api::kAppliedPlacementAnnotation);
}

template <class Scope>
std::shared_ptr<EvictionQueue> NewQueue(const Context& context) {
  auto evictor = std::make_shared<BindingEvictor<Scope>>(context.manager, context.options);
  auto queue = std::make_shared<EvictionQueue>(
      std::string(Scope::kNamespaced ? "binding-eviction" : "cluster-binding-eviction"),
      std::string(Scope::kKind), context,
      [evictor = std::move(evictor)](const kube::Request& request, const base::StopToken& stop) {
        return evictor->Look(request, stop);
      });
  AddWorkers(queue, context.manager);
  return queue;
}

}  // namespace

absl::StatusOr<kube::Action> TaintedClusterReconciler::Reconcile(const kube::Request& request,
                                                                 const base::StopToken&) {
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), request.key);
  if (cluster == nullptr) return kube::Action::Done();
  const api::ClusterView view(*cluster);
  if (api::NoExecuteTaints(view).empty()) return kube::Action::Done();
  const std::vector<api::Taint> taints = api::StandingNoExecuteTaints(
      view, manager_.cluster().List(api::ClusterTaintPolicies()), manager_.clock().Now());
  QueueBindings(api::ResourceBindings(), request.key.name, taints, *queues_.bindings);
  QueueBindings(api::ClusterResourceBindings(), request.key.name, taints,
                *queues_.cluster_bindings);
  return kube::Action::After(kPeriod);
}

void TaintedClusterReconciler::QueueBindings(const kube::Resource& kind, const std::string& cluster,
                                             absl::Span<const api::Taint> taints,
                                             EvictionQueue& queue) {
  const std::vector<kube::ObjectPtr> bindings =
      manager_.cluster().ByIndex(kind, kBindingsByCluster, cluster);
  const absl::Time now = manager_.clock().Now();
  // Thousands of bindings share a few placements, each of which is read once.
  absl::flat_hash_map<absl::string_view, absl::Duration> stays;
  kube::Request request{.cluster = cluster};
  for (const kube::ObjectPtr& binding : bindings) {
    request.key = binding->key();
    const int64_t version = kube::ResourceVersionOf(*binding);
    if (queue.IsSettled(request, version)) continue;
    const auto [stay, added] = stays.try_emplace(PlacementText(*binding));
    // The worker reports tolerations that cannot be read.
    if (added) stay->second = RemainingStay(*binding, taints, now).value_or(absl::ZeroDuration());
    if (stay->second < absl::InfiniteDuration()) queue.Add(request, stay->second, version);
  }
}

absl::Status RegisterTaintManager(const Context& context, int workers) {
  const config::TaintEviction& flags = context.options.taint_eviction;
  if (!flags.manager || !flags.no_execute) return absl::OkStatus();
  TaintedClusterReconciler::Queues queues;
  queues.bindings = NewQueue<api::scope::Namespaced>(context);
  queues.cluster_bindings = NewQueue<api::scope::Cluster>(context);
  context.NewController(api::kTaintManager, workers)
      .Watches(api::Clusters(), {.when = {.update = TaintsChanged, .remove = kube::Never}})
      .Reads(api::ClusterTaintPolicies())
      .Reads(api::ResourceBindings(), kBindingsByCluster, BindingsByCluster())
      .Reads(api::ClusterResourceBindings(), kBindingsByCluster, BindingsByCluster())
      .Build(std::make_unique<TaintedClusterReconciler>(context.manager, std::move(queues)));
  return absl::OkStatus();
}

}  // namespace controllers
