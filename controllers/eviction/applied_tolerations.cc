#include "controllers/eviction/applied_tolerations.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "base/status.h"

namespace controllers {
namespace {

// A taint without a time sets no end to a toleration.
TaintTimes TimesOf(absl::Span<const api::Taint> taints) {
  TaintTimes times{absl::InfiniteFuture(), absl::InfinitePast()};
  for (const api::Taint& taint : taints) {
    const absl::StatusOr<absl::Time> added = kube::ParseTime(taint.time_added);
    if (!added.ok()) continue;
    times.first = std::min(times.first, *added);
    times.last = std::max(times.last, *added);
  }
  return times;
}

}  // namespace

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

std::optional<TaintTimes> OverdueTaints(const std::vector<api::Toleration>& tolerations,
                                        const kube::Object& cluster, absl::Time now) {
  const api::ClusterView view(cluster);
  const std::vector<api::Taint> no_execute = api::NoExecuteTaints(view);
  if (no_execute.empty() || !api::AdmitsScheduling(view.Taints(), tolerations)) {
    return std::nullopt;
  }
  const auto is_overdue = [&](absl::Span<const api::Taint> taints) {
    return api::RemainingToleration(taints, tolerations, now) == absl::ZeroDuration();
  };
  if (!is_overdue(no_execute)) return std::nullopt;
  std::vector<api::Taint> overdue = no_execute;
  std::erase_if(overdue, [&](const api::Taint& taint) { return !is_overdue({&taint, 1}); });
  // A toleration that is meant for one taint may end for the sake of another one, too.
  return TimesOf(overdue.empty() ? no_execute : overdue);
}

}  // namespace controllers
