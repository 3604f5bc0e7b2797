#include "lens/why/evictions.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "api/cluster.h"
#include "api/toleration.h"
#include "lens/why/checks.h"

namespace lens::why {
namespace {

// Returns the clusters whose copies replace the evicted one and are not healthy yet.
std::vector<std::string> NotHealthyYet(const Chain& chain, const api::BindingView& binding) {
  std::vector<std::string> names;
  for (const api::TargetCluster& target : binding.Clusters()) {
    const auto work = chain.works.find(target.name);
    const bool healthy =
        work != chain.works.end() && HealthIn(chain, *work->second) == api::kHealthy;
    if (!healthy) names.push_back(target.name);
  }
  return names;
}

// Returns ", at most until 2026-01-01T12:05:00Z"; "" for a task that has not begun.
std::string AtMost(const api::EvictionTask& task) {
  const auto began = kube::ParseTime(task.json["creationTimestamp"].AsString());
  const int64_t grace = task.json["gracePeriodSeconds"].AsInt();
  if (!began.ok()) return "";
  if (grace <= 0) {
    return absl::StrCat(", at most for --graceful-eviction-timeout from ",
                        kube::FormatTime(*began));
  }
  return absl::StrCat(", at most until ", kube::FormatTime(*began + absl::Seconds(grace)));
}

// Returns the first NoExecute taint of the cluster that the placement does not tolerate; "" for
// none.
std::string EvictingTaint(const Chain& chain, const api::BindingView& binding,
                          const std::string& cluster) {
  const auto found = chain.clusters.find(cluster);
  if (found == chain.clusters.end()) return "";
  const auto tolerations = api::TolerationsFromJson(binding.Placement()["clusterTolerations"]);
  for (const api::Taint& taint : api::NoExecuteTaints(api::ClusterView(*found->second))) {
    if (!api::Tolerate(tolerations, taint)) return taint.key;
  }
  return "";
}

}  // namespace

std::string EvictionEnds(const Chain& chain, const api::BindingView& binding,
                         const api::EvictionTask& task) {
  if (task.PurgesAtOnce()) return "it is removed there at once";
  if (task.json["suppressDeletion"].AsBool()) {
    return "it stays there until somebody confirms the eviction (suppressDeletion)";
  }
  const std::vector<std::string> waits = NotHealthyYet(chain, binding);
  const bool unplaced = binding.Clusters().empty();
  if (waits.empty() && !unplaced) {
    return "it is removed there now, since its replacement is healthy";
  }
  const std::string until =
      unplaced ? "it stays there while no other cluster has been chosen"
               : absl::StrCat("it stays there until it is healthy in ", absl::StrJoin(waits, ", "));
  return absl::StrCat(until, AtMost(task));
}

std::string StaysMeanwhile(const api::EvictionTask& task) {
  return absl::StrCat("until then it stays in ", task.from_cluster, ", which it leaves (",
                      task.json["reason"].ToString("no reason given"), ", by ",
                      task.json["producer"].ToString("somebody"), ")",
                      task.json["suppressDeletion"].AsBool() ? "" : AtMost(task));
}

// The task stays when the taint goes, and keeps the scheduler from choosing the cluster again.
std::string HowToStay(const Chain& chain, const api::BindingView& binding,
                      const std::string& cluster) {
  for (const api::EvictionTask& task : binding.EvictionTasks()) {
    if (task.from_cluster != cluster) continue;
    const std::string taint = EvictingTaint(chain, binding, cluster);
    if (task.KeepsAway()) {
      return absl::StrCat(", or take the taint ", taint.empty() ? "" : absl::StrCat(taint, " "),
                          "off ", cluster, ", or tolerate it for longer");
    }
    return absl::StrCat(
        "; or, to keep it where it is, take ",
        taint.empty() ? "" : absl::StrCat("the taint ", taint, " off ", cluster, ", and then "),
        "the task out of spec.gracefulEvictionTasks of its ", binding.object().Describe(),
        ". When the time is over it is removed there, and ", kWhatIsLost);
  }
  return "";
}

}  // namespace lens::why
