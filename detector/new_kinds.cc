// A kind waits from the first round of discovery that contains it. The wait ends when somebody asks
// (MustWait) and one of three things is true: all ready clusters list the kind, and there is one;
// some cluster has listed it for two rounds of the clusters' status, 5 s at least; or 30 s have
// passed. As long as no ready cluster has listed it, only the last of these can be true. A kind
// that is done with waiting is as any other, and waits again only after a round of discovery did
// not contain it.
//
// Nothing is known of earlier processes: all kinds of the first round wait, most of them until the
// first question, because the clusters list them.

#include "detector/new_kinds.h"

#include <algorithm>

#include "api/cluster.h"

namespace detector {
namespace {

std::vector<kube::ObjectPtr> Ready(const std::vector<kube::ObjectPtr>& clusters) {
  std::vector<kube::ObjectPtr> ready;
  for (const kube::ObjectPtr& cluster : clusters) {
    if (api::ClusterView(*cluster).IsReady() && !cluster->IsDeleting()) ready.push_back(cluster);
  }
  return ready;
}

}  // namespace

void NewKinds::SetServed(const std::set<kube::Gvk>& served, base::SteadyTime now) {
  for (const kube::Gvk& gvk : served) {
    if (waits_ && served_.count(gvk) == 0) waiting_[gvk] = {.since = now};
  }
  served_ = served;
  std::erase_if(waiting_, [&](const auto& entry) { return served.count(entry.first) == 0; });
}

bool NewKinds::MustWait(const kube::Gvk& gvk, const std::vector<kube::ObjectPtr>& clusters,
                        base::SteadyTime now) {
  const auto entry = waiting_.find(gvk);
  if (entry == waiting_.end()) return false;
  Wait& wait = entry->second;
  const std::vector<kube::ObjectPtr> ready = Ready(clusters);
  const size_t missing = ClustersWithout(gvk, ready).size();
  const bool listed = missing < ready.size();
  if (listed) wait.first_listed = std::min(wait.first_listed, now);
  const bool done = (listed && missing == 0) || now >= wait.first_listed + patience_ ||
                    now >= wait.since + kLongestWait;
  if (done) waiting_.erase(entry);
  return !done;
}

bool IsListed(const kube::Gvk& gvk, const std::vector<kube::ObjectPtr>& clusters) {
  const std::vector<kube::ObjectPtr> ready = Ready(clusters);
  return std::any_of(ready.begin(), ready.end(), [&](const kube::ObjectPtr& cluster) {
    return api::ClusterView(*cluster).HasApi(gvk);
  });
}

std::vector<std::string> ClustersWithout(const kube::Gvk& gvk,
                                         const std::vector<kube::ObjectPtr>& clusters) {
  std::vector<std::string> names;
  for (const kube::ObjectPtr& cluster : Ready(clusters)) {
    if (!api::ClusterView(*cluster).HasApi(gvk)) names.emplace_back(cluster->name());
  }
  return names;
}

}  // namespace detector
