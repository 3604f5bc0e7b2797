// A pass brings the connection to a member in line with its Cluster and Secret: Refresh connects
// anew when they differ from what the connection was made with. For a Cluster that is gone
// everything about the member is forgotten. A configuration that cannot be used is a terminal
// error, since only a change of it helps, and that change brings the cluster back. The only memory
// is without_secret_, so that a missing reference is logged once.
#include "controllers/members/member_reconciler.h"

#include <memory>
#include <string>
#include <vector>

#include "api/cluster.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"

namespace controllers {
namespace {

constexpr char kBySecret[] = "spec.secretRef";

std::vector<std::string> SecretOf(const kube::Object& cluster) {
  const kube::ObjectKey secret = api::ClusterView(cluster).SecretRef();
  return secret.name.empty() ? std::vector<std::string>()
                             : std::vector<std::string>{secret.ToString()};
}

}  // namespace

absl::StatusOr<kube::Action> MemberReconciler::Reconcile(const kube::Request& request,
                                                         const base::StopToken&) {
  const std::string& name = request.key.name;
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), request.key);
  if (cluster == nullptr) {
    objects_.Forget(name);
    members_.Remove(name);
    absl::MutexLock lock(&mu_);
    without_secret_.erase(name);
    return kube::Action::Done();
  }
  ReportMissingSecret(*cluster);
  const absl::Status refreshed = members_.Refresh(name);
  if (!refreshed.ok()) {
    return base::Terminal(base::Annotate(refreshed, "the connection to cluster ", name,
                                         " cannot follow a change of its configuration"));
  }
  return kube::Action::Done();
}

void MemberReconciler::ReportMissingSecret(const kube::Object& cluster) {
  const api::ClusterView view(cluster);
  const bool missing = view.IsPush() && view.SecretRef().name.empty();
  absl::MutexLock lock(&mu_);
  if (!missing) {
    without_secret_.erase(std::string(cluster.name()));
  } else if (without_secret_.emplace(cluster.name()).second) {
    base::LogWarning("a push cluster has no spec.secretRef and is left alone until it has one",
                     {{"cluster", cluster.name()}});
  }
}

absl::Status RegisterMembers(const loops::Context& context, int workers) {
  const kube::MapFn clusters_of =
      [clusters = context.InformerOf(api::Clusters())](const kube::Object& secret) {
        std::vector<kube::Request> requests;
        for (const kube::ObjectPtr& cluster :
             clusters->store().ByIndex(kBySecret, secret.key().ToString())) {
          requests.push_back({.key = cluster->key()});
        }
        return requests;
      };
  context.NewController(api::kMemberController, workers)
      .Reads(api::Clusters(), kBySecret, SecretOf)
      .Watches(api::Clusters(), {.when = {.update = kube::GenerationChanged}})
      .Watches(api::Secrets(),
               {.when = {.update = kube::ResourceVersionChanged}, .map = clusters_of})
      .Build(std::make_unique<MemberReconciler>(context.manager, context.members, context.objects));
  return absl::OkStatus();
}

}  // namespace controllers
