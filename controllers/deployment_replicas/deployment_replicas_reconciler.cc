// All inputs are objects in the cache: the Deployment and its binding. Each change of one of them
// that may make the conditions true queues the Deployment, and so does a start, so nothing is asked
// again after a time. A binding that is new to the cache may already have everything that the
// conditions need: it was made, scheduled and aggregated while its kind was being listed. The write
// carries the resourceVersion of the Deployment that was judged: an edit of its spec that the cache
// does not show yet makes it a conflict.

#include "controllers/deployment_replicas/deployment_replicas_reconciler.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_resource.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/deployment_replicas/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

constexpr int kLevel = 4;

bool LeavesReplicasToMembers(const kube::Object& deployment) {
  return deployment.Label(api::kRetainReplicasLabel) == api::kRetainReplicasValue;
}

const json::Value& SpecReplicas(const kube::Object& object) { return object.spec()["replicas"]; }
const json::Value& StatusReplicas(const kube::Object& object) {
  return object.status()["replicas"];
}

bool MayMatter(const kube::Object& before, const kube::Object& after) {
  if (!LeavesReplicasToMembers(after)) return false;
  return !LeavesReplicasToMembers(before) || SpecReplicas(before) != SpecReplicas(after) ||
         StatusReplicas(before) != StatusReplicas(after);
}

// Returns the Deployment that a binding with divided replicas is of.
std::vector<kube::Request> DeploymentOf(const kube::Object& binding) {
  const api::BindingView view(binding);
  const api::ObjectReference resource = view.Resource();
  if (resource.gvk() != api::Deployments().gvk || !view.IsDivided() ||
      !api::MayStandForResource(binding)) {
    return {};
  }
  return {{.key = resource.key()}};
}

}  // namespace

std::string WhyNotCollected(const kube::Object& deployment, const kube::Object& binding) {
  const api::BindingView view(binding);
  if (SpecReplicas(deployment).AsInt(-1) != view.Replicas()) {
    return "the binding does not have the template's replicas yet";
  }
  if (view.SchedulerObservedGeneration() != binding.generation()) {
    return "the scheduler has not seen the binding yet";
  }
  const std::vector<api::AggregatedStatusItem> items = view.AggregatedItems();
  // Until every cluster has reported, the sum would take replicas away.
  if (items.size() != view.Clusters().size()) return "not all clusters have reported a status yet";
  int64_t sum = 0;
  for (const api::AggregatedStatusItem& item : items) {
    // An autoscaler keeps one replica at least, so 0 stands for a status that is not there yet.
    const int64_t replicas = item.status["replicas"].AsInt();
    if (replicas <= 0) return absl::StrCat(item.cluster_name, " has not reported replicas yet");
    sum += replicas;
  }
  if (StatusReplicas(deployment).AsInt() != sum) {
    return "the template's status does not have the sum of its clusters yet";
  }
  return "";
}

absl::StatusOr<kube::Action> DeploymentReplicasReconciler::Reconcile(const kube::Request& request,
                                                                     const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  const kube::ObjectPtr deployment = client.Find(api::Deployments(), request.key);
  if (deployment == nullptr || deployment->IsDeleting() || !LeavesReplicasToMembers(*deployment)) {
    return kube::Action::Done();
  }
  const int64_t wanted = StatusReplicas(*deployment).AsInt();
  if (SpecReplicas(*deployment).AsInt(-1) == wanted) return kube::Action::Done();
  const auto& [bindings, key] = api::BindingOf(deployment->kind(), request.key);
  const kube::ObjectPtr binding = client.Find(bindings, key);
  if (binding == nullptr || DeploymentOf(*binding).empty()) return kube::Action::Done();
  if (const std::string why = WhyNotCollected(*deployment, *binding); !why.empty()) {
    if (base::VlogOn(kLevel)) {
      base::LogInfo("replicas of members are not taken into the template",
                    {{"deployment", request.key.ToString()}, {"reason", why}});
    }
    return kube::Action::Done();
  }
  kube::Object after = *deployment;
  after.Set({"spec", "replicas"}, wanted);
  kube::UpdateOptions options;
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::Status written =
      client.Update(api::Deployments(), deployment, after, options, stop).status();
  if (kube::IsGone(written)) return kube::Action::Done();
  RETURN_IF_ERROR(base::Annotate(written, "setting replicas of ", deployment->Describe()));
  base::LogInfo("the template has the replicas that its clusters run",
                {{"deployment", request.key.ToString()},
                 {"before", SpecReplicas(*deployment).AsInt()},
                 {"now", wanted}});
  return kube::Action::Done();
}

absl::Status RegisterDeploymentReplicas(const Context& context, int workers) {
  context.NewController(api::kDeploymentReplicasSyncer, workers)
      .Watches(
          api::Deployments(),
          {.when = {.add = LeavesReplicasToMembers, .update = MayMatter, .remove = kube::Never}})
      .Watches(api::ResourceBindings(), {.when = {.remove = kube::Never}, .map = DeploymentOf})
      .Build(std::make_unique<DeploymentReplicasReconciler>(context.manager));
  return absl::OkStatus();
}

}  // namespace controllers
