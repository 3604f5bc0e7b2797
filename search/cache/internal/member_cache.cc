// The WatchCache lives as long as the scope asks for the resource of the cluster; informers change
// with the cluster's connection. Connect takes the present connection, removes the earlier
// informer, and attaches the cache to a new one. Refuse and BreakOff end the informer without
// another one: the objects stay readable, and error() says why they may be old. Only KeepOnly and
// Close take objects away.
//
// Two groups of state. The one thread that changes the scope uses member_ and the pause after a
// first list that had no room, without a lock. Readers ask why there is no connection
// (not_connected_, was_tried_) and until when nobody waits for a late cluster (stale_until_); these
// are under mu_, which is never held while an informer or the cache is called. All of it is memory
// of the process: after a restart each first list is read again, and pauses begin with ten seconds.

#include "search/cache/internal/member_cache.h"

#include <algorithm>
#include <utility>

namespace search::internal {

MemberCache::MemberCache(std::string cluster, kube::Resource resource, const base::Clock& clock,
                         kube::WatchCache::Options options)
    : cluster_(std::move(cluster)),
      resource_(std::move(resource)),
      cache_(std::make_shared<kube::WatchCache>(clock, std::move(options))),
      created_(clock.SteadyNow()),
      clock_(clock),
      not_connected_(absl::UnavailableError("not connected yet")) {}

void MemberCache::Connect(kube::ClusterSet& clusters, const kube::InformerOptions& options) {
  absl::StatusOr<std::shared_ptr<kube::MemberCluster>> member = clusters.Get(cluster_);
  {
    absl::MutexLock lock(&mu_);
    not_connected_ = member.status();
    if (!member.ok()) was_tried_ = true;
  }
  // The earlier informer, if there is one, is kept: its connection may still work.
  if (!member.ok()) return;
  RemoveInformer();
  member_ = *std::move(member);
  kube::InformerOptions informer = options;
  // The first list takes over what the cache holds with an equal text, so that a reconnection does
  // not hold it twice. The pointer is weak because the cache refers to the informer.
  informer.held = [cache = std::weak_ptr(cache_)](const kube::ObjectKey& key) -> kube::ObjectPtr {
    const auto held = cache.lock();
    return held == nullptr ? nullptr : held->Find(key);
  };
  member_->unfiltered().SetDefaultOptions(resource_, std::move(informer));
  cache_->Attach(member_->unfiltered().Get(resource_));
  absl::MutexLock lock(&mu_);
  was_tried_ = true;
}

// The cache lets go first, because removing waits for handlers.
void MemberCache::RemoveInformer() {
  cache_->Detach();
  if (member_ != nullptr) member_->unfiltered().Remove(resource_);
}

void MemberCache::KeepOnly(const std::set<std::string>& namespaces) {
  RemoveInformer();
  member_ = nullptr;
  // Before the first list there is nothing to drop.
  if (cache_->HasSynced()) cache_->KeepOnly(namespaces);
}

void MemberCache::Refuse(kube::ClusterSet& clusters, const absl::Status& why) {
  // The first reason that applies is kept: the connection of the cluster, then what the informer
  // said last, then the caller's.
  absl::Status error = clusters.Get(cluster_).status();
  if (member_ != nullptr) error.Update(cache_->last_error());
  error.Update(why);
  {
    absl::MutexLock lock(&mu_);
    not_connected_ = std::move(error);
    was_tried_ = true;
  }
  RemoveInformer();
  member_ = nullptr;
}

void MemberCache::BreakOff(kube::ClusterSet& clusters, const absl::Status& why) {
  ++broken_off_;
  paused_until_ = clock_.SteadyNow() + next_pause_;
  next_pause_ = std::min(2 * next_pause_, kLongestPause);
  Refuse(clusters, why);
}

void MemberCache::EndPause() {
  paused_until_ = base::SteadyTime::InfinitePast();
  next_pause_ = kFirstPause;
}

void MemberCache::Close() {
  RemoveInformer();
  cache_->Close();
}

bool MemberCache::IsConnected(const kube::ClusterSet& clusters) const {
  {
    absl::MutexLock lock(&mu_);
    if (!not_connected_.ok()) return false;
  }
  // A reconnected cluster is another MemberCluster, so that this cache has to be connected again.
  return clusters.Find(cluster_) == member_;
}

absl::Status MemberCache::error() const {
  {
    absl::MutexLock lock(&mu_);
    if (!not_connected_.ok()) return not_connected_;
  }
  return cache_->last_error();
}

bool MemberCache::WasTried() const {
  absl::MutexLock lock(&mu_);
  return was_tried_;
}

MissingCluster MemberCache::Missing() const {
  // Asked first: an error that is read afterwards is one of the connection.
  const bool was_tried = WasTried();
  const absl::Status why = error();
  MissingCluster missing{cluster_, ReasonForCallers(why)};
  missing.being_read = why.ok() || !was_tried;
  missing.just_begun = missing.being_read && IsYoung();
  if (missing.being_read) missing.reason = "its objects are still being read";
  return missing;
}

bool MemberCache::MayBeWaitedFor() {
  absl::MutexLock lock(&mu_);
  if (!stale_until_) return true;
  const base::SteadyTime now = clock_.SteadyNow();
  if (now < *stale_until_) return false;
  stale_until_ = now + kStaleTerm;  // For all others, until this one knows.
  return true;
}

void MemberCache::NoteInTime() {
  absl::MutexLock lock(&mu_);
  stale_until_.reset();
}

void MemberCache::NoteLate() {
  absl::MutexLock lock(&mu_);
  stale_until_ = clock_.SteadyNow() + kStaleTerm;
}

}  // namespace search::internal
