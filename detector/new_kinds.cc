#include "detector/new_kinds.h"

#include <algorithm>
#include <iterator>

#include "api/cluster.h"

namespace detector {

void NewKinds::SetServed(const std::set<kube::Gvk>& served, base::SteadyTime now) {
  for (const kube::Gvk& gvk : served) {
    if (served_.count(gvk) == 0) waiting_[gvk] = {.since = now};
  }
  served_ = served;
  std::erase_if(waiting_, [&](const auto& entry) { return served.count(entry.first) == 0; });
}

void NewKinds::SetClusters(const std::vector<kube::ObjectPtr>& clusters, base::SteadyTime now) {
  for (auto entry = waiting_.begin(); entry != waiting_.end();) {
    auto& [gvk, wait] = *entry;
    int listing = 0, missing = 0;
    for (const kube::ObjectPtr& object : clusters) {
      const api::ClusterView cluster(*object);
      if (!cluster.IsReady() || object->IsDeleting()) continue;
      ++(cluster.HasApi(gvk) ? listing : missing);
    }
    if (listing > 0) wait.first_listed = std::min(wait.first_listed, now);
    const bool done = (listing > 0 && missing == 0) || now >= wait.first_listed + patience_ ||
                      now >= wait.since + kLongestWait;
    entry = done ? waiting_.erase(entry) : std::next(entry);
  }
}

}  // namespace detector
