#include "lens/why/lost_cluster.h"

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/cluster.h"
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
