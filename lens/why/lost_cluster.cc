#include "lens/why/lost_cluster.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/toleration.h"

namespace lens::why {

std::string Since(const json::Value& condition) {
  const absl::string_view time = condition["lastTransitionTime"].AsString();
  return time.empty() ? "" : absl::StrCat(" since ", time);
}

std::string ShareOf(const Chain& chain, const std::string& cluster) {
  if (chain.binding == nullptr) return "";
  const int64_t all = api::BindingView(*chain.binding).Replicas();
  for (const api::TargetCluster& target : chain.Targets()) {
    if (target.name != cluster || target.replicas == 0 || target.replicas >= all) continue;
    return absl::StrCat(target.replicas, " of its ", all, " replicas are meant for it; ");
  }
  return "";
}

std::string AdviceForNoClient(const kube::Object& cluster, absl::string_view why) {
  const api::ClusterView view(cluster);
  constexpr char kOrJoin[] = ", or join the cluster again (karmadactl join)";
  if (view.ApiEndpoint().empty()) {
    return absl::StrCat("set spec.apiEndpoint of Cluster ", view.name(),
                        " to the address of its API server", kOrJoin);
  }
  const kube::ObjectKey secret = view.SecretRef();
  if (secret.name.empty()) {
    return absl::StrCat("have spec.secretRef of Cluster ", view.name(),
                        " name the Secret with its token", kOrJoin);
  }
  const bool is_gone = absl::StrContains(why, "not found");
  return absl::StrCat(is_gone ? "restore" : "mend", " the Secret ", secret.ToString(), kOrJoin);
}

std::string AdviceForNotReady(const Chain& chain, const kube::Object& cluster) {
  const api::ClusterView view(cluster);
  const json::Value* ready = kube::FindCondition(view.Conditions(), api::kClusterReady);
  const absl::string_view reason = ready == nullptr ? "" : (*ready)["reason"].AsString();
  if (reason == api::reason::kStatusCollectionFailed) {
    return AdviceForNoClient(cluster, (*ready)["message"].AsString());
  }
  const kube::ObjectPtr event = LastEvent(chain, cluster, {api::reason::kClusterNotReachable});
  const absl::string_view why = event == nullptr ? "" : event->root()["message"].AsString();
  if (reason == api::reason::kClusterNotReachable && absl::StrContains(why, "401 Unauthorized")) {
    return absl::StrCat("put a valid token into the Secret ", view.SecretRef().ToString(),
                        ", which the cluster refuses, or join the cluster again (karmadactl join)");
  }
  return "see whether the member's API server answers";
}

std::string WhyItStays(const kube::Object& cluster) {
  for (const api::Taint& taint : api::ClusterView(cluster).Taints()) {
    if (taint.effect == api::kNoExecute) {
      return "the cluster has a taint with the effect NoExecute: karmada-controller-manager evicts "
             "for it only with --feature-gates=Failover=true and "
             "--enable-no-execute-taint-eviction=true";
    }
  }
  return "nothing moves it to another cluster: the cluster has no taint with the effect NoExecute, "
         "which a ClusterTaintPolicy sets; with one, karmada-controller-manager evicts only with "
         "--feature-gates=Failover=true and --enable-no-execute-taint-eviction=true";
}

}  // namespace lens::why
