// A pass is about one cluster: it applies all policies to it and writes spec.taints if they differ
// from what is there. A cluster is looked at when it is added, when its conditions change or what
// policies select it by, and when a policy is added or its spec changes. A change of the taints
// themselves starts no pass, as upstream: a taint that an administrator has taken off stays off
// until a condition changes, and a policy that fights with another writer over a taint does not
// write without end. The deletion of a policy removes nothing. A policy that is added, or whose
// spec changes, also gets a pass of its own, which reports conditions that can never match, even if
// it selects no cluster. Nothing is remembered between passes.

#include "controllers/cluster_taint_policy/cluster_taint_policy_reconciler.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/cluster.h"
#include "api/cluster_taint_policy.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/wanted_taints.h"
#include "base/status.h"
#include "controllers/cluster_taint_policy/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

// Returns whether a policy may have to be applied again.
bool Concerns(const kube::Object& before, const kube::Object& after) {
  if (before.status()["conditions"] != after.status()["conditions"]) return true;
  if (before.labels() != after.labels()) return true;
  for (const char* field : {"provider", "region", "zone", "zones"}) {
    if (before.spec()[field] != after.spec()[field]) return true;
  }
  return false;
}

bool SpecChanged(const kube::Object& before, const kube::Object& after) {
  return before.spec() != after.spec();
}

// The reason of a request whose key names a policy.
constexpr kube::Reason kPolicyItself = "the policy itself";

// Adds the clusters that the policy selects.
void AddSelected(const kube::Informer& clusters, const kube::Object& policy,
                 std::vector<kube::Request>& requests) {
  for (const kube::ObjectPtr& cluster : clusters.store().List()) {
    if (!api::ClusterTaintPolicyView(policy).Targets(api::ClusterView(*cluster))) continue;
    requests.push_back({.key = cluster->key()});
  }
}

// Queues a policy itself, once, and the clusters which it selects or has selected before its
// change. Were the policy queued for both of its states, a quick worker would report it twice.
kube::Enqueue ForPolicies(const std::shared_ptr<kube::Informer>& clusters) {
  kube::Enqueue enqueue{.when = {.update = SpecChanged, .remove = kube::Never}};
  enqueue.map = [clusters](const kube::Object& policy) {
    std::vector<kube::Request> requests = {{.key = policy.key(), .reason = kPolicyItself}};
    AddSelected(*clusters, policy, requests);
    return requests;
  };
  enqueue.map_update = [clusters](const kube::Object& before, const kube::Object& after) {
    std::vector<kube::Request> requests = {{.key = after.key(), .reason = kPolicyItself}};
    AddSelected(*clusters, before, requests);
    AddSelected(*clusters, after, requests);
    return requests;
  };
  return enqueue;
}

}  // namespace

ClusterTaintPolicyReconciler::ClusterTaintPolicyReconciler(kube::Manager& manager)
    : manager_(manager), recorder_(manager.events(), api::kClusterTaintPolicyController) {}

absl::StatusOr<kube::Action> ClusterTaintPolicyReconciler::Reconcile(const kube::Request& request,
                                                                     const base::StopToken& stop) {
  if (request.reason == kPolicyItself) {
    ReportUnmatchable(request.key);
    return kube::Action::Done();
  }
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), request.key);
  if (cluster == nullptr) return kube::Action::Done();
  std::vector<kube::ObjectPtr> policies = manager_.cluster().List(api::ClusterTaintPolicies());
  const std::optional<std::vector<api::Taint>> taints =
      api::WantedTaints(api::ClusterView(*cluster), std::move(policies), manager_.clock().Now());
  if (!taints.has_value()) return kube::Action::Done();
  kube::Object after = *cluster;
  api::SetTaints(after, *taints);
  // The patch replaces a list, so the server refuses it when the cluster has changed meanwhile.
  const absl::Status written =
      manager_.cluster().Update(api::Clusters(), cluster, after, {}, stop).status();
  if (kube::IsNoOutcome(written) || kube::IsGone(written)) return kube::IgnoreGone(written);
  const auto about = kube::InvolvedObject::Of(*cluster);
  if (!written.ok()) {
    recorder_.Warning(about, api::reason::kTaintClusterFailed, written.message());
    return base::Annotate(written, "tainting ", cluster->Describe());
  }
  recorder_.Normal(about, api::reason::kTaintClusterSucceed,
                   api::message::TaintsUpdated(cluster->name(), *taints));
  return kube::Action::Done();
}

void ClusterTaintPolicyReconciler::ReportUnmatchable(const kube::ObjectKey& key) {
  const kube::ObjectPtr policy = manager_.cluster().Find(api::ClusterTaintPolicies(), key);
  if (policy == nullptr) return;
  const absl::Status valid = api::ClusterTaintPolicyView(*policy).CheckOperators();
  if (valid.ok()) return;
  recorder_.Warning(kube::InvolvedObject::Of(*policy), api::reason::kInvalidMatchCondition,
                    valid.message());
}

absl::Status RegisterClusterTaintPolicy(const Context& context, int workers) {
  context.NewController(api::kClusterTaintPolicyController, workers)
      .Watches(api::Clusters(), {.when = {.update = Concerns, .remove = kube::Never}})
      .Watches(api::ClusterTaintPolicies(), ForPolicies(context.InformerOf(api::Clusters())))
      .Build(std::make_unique<ClusterTaintPolicyReconciler>(context.manager));
  return absl::OkStatus();
}

}  // namespace controllers
