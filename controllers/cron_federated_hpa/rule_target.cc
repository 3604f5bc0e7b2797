#include "controllers/cron_federated_hpa/rule_target.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "loops/scale_target.h"

namespace controllers {
namespace {

// Somebody else may write the target between our read and our write.
constexpr int kTries = 5;

absl::Status SetBounds(kube::ClusterClient& client, const kube::ObjectKey& key,
                       const api::CronRule& rule, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(kube::Object live, client.raw().Get(api::FederatedHpas(), key, stop));
  kube::Object after = live;
  api::SetReplicaBounds(after, rule);
  return client.Update(api::FederatedHpas(), kube::Share(std::move(live)), after, {}, stop)
      .status();
}

absl::Status SetReplicas(kube::ClusterClient& client, const loops::ScaleTarget& target,
                         int64_t replicas, const base::StopToken& stop) {
  absl::Status result;
  for (int i = 0; i < kTries; ++i) {
    ASSIGN_OR_RETURN(const kube::ObjectPtr scale, loops::GetScale(client, target, stop));
    result = loops::SetReplicas(client, {target, scale}, replicas, stop);
    if (!kube::IsConflict(result)) return result;
  }
  return result;
}

}  // namespace

absl::Status ApplyRule(kube::ClusterClient& client, const kube::Object& object,
                       const api::CronRule& rule, const base::StopToken& stop) {
  const api::CronFederatedHpaView view(object);
  if (view.TargetsKarmada()) {
    if (view.TargetsFederatedHpa()) return SetBounds(client, view.TargetKey(), rule, stop);
    return absl::InvalidArgumentError(api::message::CronTargetNotSupported(
        object.key(), view.TargetApiVersion(), view.TargetKind()));
  }
  ASSIGN_OR_RETURN(const loops::ScaleTarget target, loops::ScaleTargetOf(object));
  if (!rule.replicas.has_value()) {
    // The words of karmada-webhook, which lets no such rule pass. Upstream panics here.
    return absl::InvalidArgumentError(
        absl::StrCat("targetReplicas cannot be nil if you want to scale ", view.TargetKind()));
  }
  return SetReplicas(client, target, *rule.replicas, stop);
}

}  // namespace controllers
