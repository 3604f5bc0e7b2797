// A pass brings the connection to a member in line with its Cluster and Secret: Refresh connects
// again when they differ from what the connection was made with. For a Cluster that is gone
// everything about the member is forgotten. A configuration that cannot be used is a terminal
// error, since only a change of it helps, and that change queues the cluster. A Secret that is gone
// is not an error: whoever removes a member deletes it before or after the Cluster, and if the
// Cluster stays, its condition says so. Nothing is remembered between passes.

#include "controllers/members/member_reconciler.h"

#include <memory>
#include <string>

#include "api/cluster.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/context/member_secrets.h"
#include "controllers/members/register.h"

namespace controllers {

absl::StatusOr<kube::Action> MemberReconciler::Reconcile(const kube::Request& request,
                                                         const base::StopToken&) {
  const std::string& name = request.key.name;
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), request.key);
  if (cluster == nullptr) {
    objects_.Forget(name);
    members_.Remove(name);
    return kube::Action::Done();
  }
  const absl::Status refreshed = members_.Refresh(name);
  if (!refreshed.ok() && LacksSecret(*cluster)) {
    base::LogInfo("the Secret of a cluster is gone; the connection stays as it is",
                  {{"cluster", name}});
    return kube::Action::Done();
  }
  if (!refreshed.ok()) {
    return base::Terminal(base::Annotate(refreshed, "the connection to cluster ", name,
                                         " cannot follow a change of its configuration"));
  }
  return kube::Action::Done();
}

bool MemberReconciler::LacksSecret(const kube::Object& cluster) const {
  const kube::ObjectKey secret = api::ClusterView(cluster).SecretRef();
  return !secret.name.empty() && manager_.cluster().Find(api::Secrets(), secret) == nullptr;
}

absl::Status RegisterMembers(const Context& context, int workers) {
  kube::ControllerBuilder builder = context.NewController(api::kMemberController, workers);
  WatchesMemberSecrets(builder, context)
      .Watches(api::Clusters(), {.when = {.update = kube::GenerationChanged}})
      .Build(std::make_unique<MemberReconciler>(context.manager, context.members, context.objects));
  return absl::OkStatus();
}

}  // namespace controllers
