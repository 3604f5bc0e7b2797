#include "lens/plan/under_way.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/eviction.h"
#include "tool/console.h"

namespace lens::plan {
namespace {

constexpr size_t kMostNames = 3;

// Returns "2 evictions from m1 (Deployment shop/api, Deployment shop/web) are ".
std::string From(const std::string& cluster, EvictionsUnderWay::Templates names) {
  const size_t count = names.size();
  std::sort(names.begin(), names.end());
  std::string more;
  if (count > kMostNames) {
    names.resize(kMostNames);
    more = absl::StrCat(" and ", count - kMostNames, " more");
  }
  return absl::StrCat(tool::Count(count, "eviction"), " from ", cluster, " (",
                      absl::StrJoin(names, ", "), more, ")", count == 1 ? " is " : " are ");
}

// What becomes of copies whose eviction has not ended when the cluster changes.
std::string IfTheyHaveNot(const std::string& cluster, const std::vector<FleetEdit>& edits,
                          const AbandonedClusters& abandoned) {
  if (abandoned.contains(cluster)) {
    return " Copies that are still there run on, and belong to nobody.";
  }
  const auto is = [&](FleetEdit::Kind kind) {
    return std::any_of(edits.begin(), edits.end(), [&](const FleetEdit& edit) {
      return edit.kind == kind && edit.cluster == cluster;
    });
  };
  const bool leaves = is(FleetEdit::Kind::kWithout), lost = is(FleetEdit::Kind::kLost);
  if (!leaves && !lost) return "";
  return absl::StrCat(" Copies that are still there ", leaves ? "go" : "are lost",
                      " with it, whether the others are healthy or not.");
}

}  // namespace

void EvictionsUnderWay::CountTasks(const kube::Object& binding) {
  for (const json::Value& task : binding.spec()["gracefulEvictionTasks"].items()) {
    if (api::KeepsAway(task)) continue;
    auto& evictions = task["suppressDeletion"].AsBool() ? of_users : begun;
    const api::ObjectReference of = api::BindingView(binding).Resource();
    evictions[task["fromCluster"].ToString()].push_back(
        ObjectId{of.gvk().group, of.kind, of.ns, of.name}.ToString());
  }
}

void EvictionsUnderWay::CountPending(const std::vector<Departure>& departures) {
  for (const Departure& departure : departures) {
    pending[departure.cluster].push_back(departure.id.ToString());
  }
}

std::vector<std::string> EvictionsUnderWay::Notes(const std::vector<FleetEdit>& edits,
                                                  const AbandonedClusters& abandoned) const {
  std::vector<std::string> notes;
  for (const auto& [cluster, names] : begun) {
    notes.push_back(absl::StrCat(From(cluster, names),
                                 "under way, and taken to have ended before the change.",
                                 IfTheyHaveNot(cluster, edits, abandoned)));
  }
  for (const auto& [cluster, names] : pending) {
    notes.push_back(absl::StrCat(
        From(cluster, names), "about to begin because of a taint that is there already, and taken ",
        "to have ended before the change.", IfTheyHaveNot(cluster, edits, abandoned)));
  }
  for (const auto& [cluster, names] : of_users) {
    notes.push_back(absl::StrCat(From(cluster, names), "under way until a user ends ",
                                 names.size() == 1 ? "it" : "them", " (suppressDeletion).",
                                 IfTheyHaveNot(cluster, edits, abandoned)));
  }
  return notes;
}

}  // namespace lens::plan
