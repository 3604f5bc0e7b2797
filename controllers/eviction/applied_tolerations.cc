#include "controllers/eviction/applied_tolerations.h"

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "base/status.h"

namespace controllers {

absl::StatusOr<std::vector<api::Toleration>> AppliedTolerations(const kube::Object& binding) {
  const absl::string_view text = binding.Annotation(api::kAppliedPlacementAnnotation);
  if (text.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(binding.Describe(), " has no annotation ", api::kAppliedPlacementAnnotation,
                     ", which the scheduler sets: its tolerations are not known"));
  }
  const absl::StatusOr<json::Value> placement = json::Parse(text);
  if (!placement.ok()) {
    return base::Annotate(placement.status(), "annotation ", api::kAppliedPlacementAnnotation,
                          " of ", binding.Describe());
  }
  return api::TolerationsFromJson((*placement)["clusterTolerations"]);
}

bool TaintManagerEvicts(const config::Options& options) {
  return options.taint_eviction.manager && options.taint_eviction.no_execute &&
         options.gates.Enabled(config::Gate::kFailover) && options.ControllerEnabled("cluster");
}

bool WouldBeEvictedAgain(const kube::Object& binding, const kube::Object& cluster, absl::Time now) {
  const api::ClusterView view(cluster);
  const std::vector<api::Taint> no_execute = api::NoExecuteTaints(view);
  if (no_execute.empty()) return false;
  const absl::StatusOr<std::vector<api::Toleration>> tolerations = AppliedTolerations(binding);
  if (!tolerations.ok() || !api::AdmitsScheduling(view.Taints(), *tolerations)) return false;
  return api::RemainingToleration(no_execute, *tolerations, now) == absl::ZeroDuration();
}

}  // namespace controllers
