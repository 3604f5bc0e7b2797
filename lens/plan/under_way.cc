#include "lens/plan/under_way.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/eviction.h"
#include "tool/console.h"

namespace lens::plan {
namespace {

std::string From(const std::string& cluster, size_t count) {
  return absl::StrCat(tool::Count(count, "eviction"), " from ", cluster,
                      count == 1 ? " is " : " are ");
}

// What becomes of copies whose eviction has not ended when the cluster changes.
std::string IfTheyHaveNot(const std::string& cluster, const std::vector<FleetEdit>& edits) {
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
    auto& counts = task["suppressDeletion"].AsBool() ? of_users : begun;
    ++counts[task["fromCluster"].ToString()];
  }
}

void EvictionsUnderWay::CountPending(const std::vector<Departure>& departures) {
  for (const Departure& departure : departures) ++pending[departure.cluster];
}

std::vector<std::string> EvictionsUnderWay::Notes(const std::vector<FleetEdit>& edits) const {
  std::vector<std::string> notes;
  for (const auto& [cluster, count] : begun) {
    notes.push_back(absl::StrCat(From(cluster, count),
                                 "under way, and taken to have ended before the change.",
                                 IfTheyHaveNot(cluster, edits)));
  }
  for (const auto& [cluster, count] : pending) {
    notes.push_back(absl::StrCat(
        From(cluster, count), "about to begin because of a taint that is there already, and taken ",
        "to have ended before the change.", IfTheyHaveNot(cluster, edits)));
  }
  for (const auto& [cluster, count] : of_users) {
    notes.push_back(absl::StrCat(From(cluster, count), "under way until a user ends ",
                                 count == 1 ? "it" : "them", " (suppressDeletion).",
                                 IfTheyHaveNot(cluster, edits)));
  }
  return notes;
}

}  // namespace lens::plan
