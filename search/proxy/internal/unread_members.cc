#include "search/proxy/internal/unread_members.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

MissingCluster Beginning(const std::string& cluster) {
  return {.cluster = cluster, .reason = "its cache begins", .being_read = true, .just_begun = true};
}

}  // namespace

std::vector<MissingCluster> UnreadMembers::NotBegun(const kube::Gvr& gvr,
                                                    const ClusterChoice& choice) const {
  std::vector<MissingCluster> missing;
  for (const std::string& name : clusters_(gvr)) {
    if (choice.Selects(name) && cache_.Find(name, gvr) == nullptr)
      missing.push_back(Beginning(name));
  }
  return Judged(std::move(missing));
}

std::vector<MissingCluster> UnreadMembers::All(const kube::Gvr& gvr,
                                               const ClusterChoice& choice) const {
  return Judged(Joined(NotBegun(gvr, choice), cache_.Unread(gvr, choice)));
}

// What is unread is asked before the caches are read, and whatever has been read since is taken out
// again, so that no cluster is overlooked.
Holders UnreadMembers::HoldersOf(const kube::Gvr& gvr, const kube::ObjectKey& key) const {
  Holders holders;
  std::map<std::string, MissingCluster> unread;
  for (MissingCluster& m : All(gvr, "")) unread.emplace(m.cluster, std::move(m));
  for (const std::string& cluster : clusters_(gvr)) {
    ++holders.asked;
    const auto cache = cache_.Find(cluster, gvr);
    const auto known = unread.find(cluster);
    if (cache != nullptr && cache->HasSynced()) {
      if (known != unread.end() && !known->second.stale) unread.erase(known);
      if (cache->Find(key) != nullptr) holders.clusters.push_back(cluster);
    } else if (known == unread.end() &&
               (cache == nullptr || !absl::IsNotFound(cache->last_error()))) {
      // Its cache has been replaced in this moment.
      unread.emplace(cluster, Beginning(cluster));
    }
  }
  for (auto& [cluster, missing] : unread) holders.unread.push_back(std::move(missing));
  return holders;
}

std::vector<MissingCluster> UnreadMembers::Judged(std::vector<MissingCluster> missing) const {
  if (is_ready_ == nullptr) return missing;
  for (MissingCluster& m : missing) {
    if (!m.being_read || is_ready_(m.cluster)) continue;
    m.being_read = m.just_begun = false;
    m.reason = "its Cluster is not Ready, and its objects have not been read";
  }
  return missing;
}

std::vector<MissingCluster> Joined(std::vector<MissingCluster> a,
                                   const std::vector<MissingCluster>& b) {
  std::set<std::string> named;
  for (const MissingCluster& m : a) named.insert(m.cluster);
  for (const MissingCluster& m : b) {
    if (named.insert(m.cluster).second) a.push_back(m);
  }
  return a;
}

bool MayExist(const std::vector<MissingCluster>& unread, size_t asked) {
  const auto count = [&unread](const auto& condition) {
    return static_cast<size_t>(std::count_if(unread.begin(), unread.end(), condition));
  };
  if (count([](const auto& m) { return m.being_read; }) > 0) return true;
  return asked > 0 && count([](const auto& m) { return !m.stale; }) >= asked;
}

absl::Status LackError(absl::string_view message, const std::vector<MissingCluster>& missing) {
  const bool is_under_way = std::any_of(missing.begin(), missing.end(),
                                        [](const MissingCluster& m) { return m.being_read; });
  if (!is_under_way) return kube::server::ServiceUnavailable(message);
  return kube::server::ServiceUnavailable(message, absl::Seconds(1));
}

}  // namespace search
