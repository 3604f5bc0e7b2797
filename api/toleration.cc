#include "api/toleration.h"

#include <algorithm>

#include "kube/meta/object.h"

namespace api {

Toleration Toleration::FromJson(const json::Value& item) {
  Toleration out{item["key"].ToString(), item["operator"].ToString(), item["value"].ToString(),
                 item["effect"].ToString(), std::nullopt};
  const json::Value& seconds = item["tolerationSeconds"];
  if (!seconds.is_null()) out.seconds = seconds.AsInt();
  return out;
}

bool Toleration::Tolerates(const Taint& taint) const {
  if (!effect.empty() && effect != taint.effect) return false;
  if (!key.empty() && key != taint.key) return false;
  if (op == "Exists") return true;
  return (op.empty() || op == "Equal") && value == taint.value;
}

std::vector<Toleration> TolerationsFromJson(const json::Value& list) {
  std::vector<Toleration> out;
  for (const json::Value& item : list.items()) out.push_back(Toleration::FromJson(item));
  return out;
}

bool Tolerate(absl::Span<const Toleration> tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& toleration) { return toleration.Tolerates(taint); });
}

std::vector<Taint> NoExecuteTaints(const ClusterView& cluster) {
  std::vector<Taint> taints = cluster.Taints();
  std::erase_if(taints, [](const Taint& taint) { return taint.effect != kNoExecute; });
  return taints;
}

bool AdmitsScheduling(absl::Span<const Taint> taints, absl::Span<const Toleration> tolerations) {
  return std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    if (taint.effect != kNoSchedule && taint.effect != kNoExecute) return true;
    return Tolerate(tolerations, taint);
  });
}

absl::Duration RemainingToleration(absl::Span<const Taint> no_execute,
                                   absl::Span<const Toleration> tolerations, absl::Time now) {
  std::vector<const Toleration*> used;
  for (const Taint& taint : no_execute) {
    const auto first = std::find_if(tolerations.begin(), tolerations.end(),
                                    [&](const Toleration& t) { return t.Tolerates(taint); });
    if (first == tolerations.end()) return absl::ZeroDuration();
    used.push_back(&*first);
  }
  absl::Time end = absl::InfiniteFuture();
  for (const Toleration* toleration : used) {
    if (!toleration->seconds.has_value()) continue;
    for (const Taint& taint : no_execute) {
      const absl::StatusOr<absl::Time> added = kube::ParseTime(taint.time_added);
      if (!added.ok() || !toleration->Tolerates(taint)) continue;
      end = std::min(end, *added + absl::Seconds(*toleration->seconds));
    }
  }
  return std::max(end - now, absl::ZeroDuration());
}

}  // namespace api
