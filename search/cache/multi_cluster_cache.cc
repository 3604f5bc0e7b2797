// The caches are in a table by resource and cluster, which mu_ guards; whoever reads takes what it
// needs out of the table and goes on without the lock. Changes of the table (SetScope, and the
// thread of this object, which connects again) are made one at a time under change_mu_.
//
// The thread wakes each second: it tells open watches what time it is, for their bookmarks and
// their end, connects caches whose cluster has been connected again (ClusterSet::OnReconnected),
// and tries again, every ten seconds, those that could not be connected. When something has not
// fitted into the memory, what is not cached is read one after the other (GrowthPause): the end of
// each first list wakes the thread for the next one.
//
// A watch is registered under the same lock under which it takes the caches of its beginning; so a
// cache that joins is either among these or announced to the watch, and never both.

#include "search/cache/multi_cluster_cache.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "api/search_keys.h"
#include "base/status.h"
#include "base/threads.h"
#include "search/cache/internal/freshness.h"
#include "search/cache/internal/growth_pause.h"
#include "search/cache/internal/list_reader.h"
#include "search/cache/internal/member_cache.h"

namespace search {
namespace {

using internal::MemberCache;
using internal::MemberCachePtr;

constexpr absl::Duration kTick = absl::Seconds(1);
constexpr absl::Duration kRetry = absl::Seconds(10);

// Returns "pods" or "deployments.apps", as API servers name resources in messages.
std::string NameOf(const kube::Gvr& gvr) {
  return gvr.group.empty() ? gvr.resource : absl::StrCat(gvr.resource, ".", gvr.group);
}

// Returns whether namespaces are left out that were in before. Empty stands for all.
bool Narrows(const std::set<std::string>& before, const std::set<std::string>& after) {
  if (after.empty()) return false;
  return before.empty() || !std::includes(after.begin(), after.end(), before.begin(), before.end());
}

}  // namespace

struct MultiClusterCache::Impl {
  using Watches = std::vector<std::weak_ptr<MergedWatch>>;

  explicit Impl(Options given) : options(std::move(given)) {}

  const Options options;

  absl::Mutex change_mu;
  CachedResources scope ABSL_GUARDED_BY(change_mu);
  base::SteadyTime next_retry ABSL_GUARDED_BY(change_mu);
  GrowthPause pause ABSL_GUARDED_BY(change_mu);
  std::atomic<bool> takes_turns = false;  // Whether `pause` is active, for handlers.

  mutable absl::Mutex mu;
  std::map<kube::Gvr, std::map<std::string, MemberCachePtr>> caches ABSL_GUARDED_BY(mu);
  std::map<kube::Gvr, Watches> watches ABSL_GUARDED_BY(mu);
  // Clusters whose caches have to be connected again.
  std::set<std::string> reconnected ABSL_GUARDED_BY(mu);
  bool next_may_begin ABSL_GUARDED_BY(mu) = false;  // A first list has ended.
  bool stopped ABSL_GUARDED_BY(mu) = false;

  kube::ClusterSet::Subscription subscription;
  std::thread thread;

  // Returns the caches of the resource, of the clusters that are chosen, in the order of their
  // names.
  std::vector<MemberCachePtr> Caches(const kube::Gvr& gvr, const ClusterChoice& choice) const;
  std::vector<MemberCachePtr> AllCaches() const;
  std::vector<std::shared_ptr<MergedWatch>> OpenWatches();

  kube::InformerOptions InformerOptionsFor(const CachedResource& wanted) const;
  MemberCachePtr NewCache(const std::string& cluster, const kube::Resource& resource);
  void Connect(const MemberCachePtr& member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu);
  // Returns the caches that are not in the scope any more, taken out of the table.
  std::vector<MemberCachePtr> TakeUnwanted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu);
  void Join(const std::string& cluster, const CachedResource& wanted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu);

  void NoteFull(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu) {
    pause.Note(why);
    takes_turns = true;
  }
  void EndPauses() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu);

  void Run();
  void ConnectAgain();
};

std::vector<MemberCachePtr> MultiClusterCache::Impl::Caches(const kube::Gvr& gvr,
                                                            const ClusterChoice& choice) const {
  std::vector<MemberCachePtr> found;
  absl::ReaderMutexLock lock(&mu);
  const auto table = caches.find(gvr);
  if (table == caches.end()) return found;
  if (!choice.name().empty()) {
    const auto one = table->second.find(choice.name());
    if (one != table->second.end() && choice.Selects(one->first)) found.push_back(one->second);
    return found;
  }
  for (const auto& [name, member] : table->second) {
    if (choice.Selects(name)) found.push_back(member);
  }
  return found;
}

std::vector<MemberCachePtr> MultiClusterCache::Impl::AllCaches() const {
  std::vector<MemberCachePtr> all;
  absl::ReaderMutexLock lock(&mu);
  for (const auto& [gvr, table] : caches) {
    for (const auto& [name, member] : table) all.push_back(member);
  }
  return all;
}

std::vector<std::shared_ptr<MergedWatch>> MultiClusterCache::Impl::OpenWatches() {
  std::vector<std::shared_ptr<MergedWatch>> open;
  absl::MutexLock lock(&mu);
  for (auto& [gvr, list] : watches) {
    const auto gone = [](const auto& watch) { return watch.expired(); };
    list.erase(std::remove_if(list.begin(), list.end(), gone), list.end());
    for (const auto& weak : list) {
      if (auto watch = weak.lock()) open.push_back(std::move(watch));
    }
  }
  return open;
}

kube::InformerOptions MultiClusterCache::Impl::InformerOptionsFor(
    const CachedResource& wanted) const {
  kube::InformerOptions informer;
  informer.keep_text = true;
  informer.own_annotation = api::kCachedFromClusterAnnotation;
  informer.namespaces.assign(wanted.namespaces.begin(), wanted.namespaces.end());
  if (options.fields) informer.fields = options.fields(wanted.resource);
  informer.fields.push_back("metadata.labels");
  return informer;
}

MemberCachePtr MultiClusterCache::Impl::NewCache(const std::string& cluster,
                                                 const kube::Resource& resource) {
  kube::WatchCache::Options cache;
  cache.history = options.history;
  cache.history_bytes = options.history_bytes;
  if (options.on_event) {
    cache.on_event = [call = options.on_event, cluster, resource](
                         const kube::WatchCache::Event& event) { call(cluster, resource, event); };
  }
  cache.on_synced = [this, cluster, resource] {
    if (options.on_synced) options.on_synced(cluster, resource);
    if (!takes_turns) return;
    absl::MutexLock lock(&mu);
    next_may_begin = true;
  };
  return std::make_shared<MemberCache>(cluster, resource, options.clock, std::move(cache));
}

void MultiClusterCache::Impl::Connect(const MemberCachePtr& member) {
  const auto cluster = scope.find(member->cluster());
  if (cluster == scope.end()) return;
  const auto wanted = cluster->second.find(member->resource().gvr());
  if (wanted == cluster->second.end()) return;
  // A cache that has its objects already only continues, and needs no more room.
  if (options.may_grow && !member->cache()->HasSynced()) {
    absl::Status refused = options.may_grow();
    if (!refused.ok()) NoteFull(refused);
    refused.Update(pause.Check(member, options.clock.SteadyNow()));
    if (!refused.ok()) return member->Refuse(options.clusters, refused);
  }
  member->Connect(options.clusters, InformerOptionsFor(wanted->second));
}

std::vector<MemberCachePtr> MultiClusterCache::Impl::TakeUnwanted() {
  std::vector<MemberCachePtr> unwanted;
  absl::MutexLock lock(&mu);
  for (auto& [gvr, table] : caches) {
    for (auto it = table.begin(); it != table.end();) {
      const auto cluster = scope.find(it->first);
      // A resource that was deleted and created again with another scope or kind is another one.
      const bool stays = cluster != scope.end() && cluster->second.count(gvr) > 0 &&
                         cluster->second.at(gvr).resource == it->second->resource();
      if (!stays) unwanted.push_back(it->second);
      it = stays ? std::next(it) : table.erase(it);
    }
  }
  return unwanted;
}

void MultiClusterCache::Impl::Join(const std::string& cluster, const CachedResource& wanted) {
  const MemberCachePtr member = NewCache(cluster, wanted.resource);
  std::vector<std::shared_ptr<MergedWatch>> open;
  {
    absl::MutexLock lock(&mu);
    // In the table before it is connected: readers see that it is missing, not that there is none.
    caches[wanted.resource.gvr()][cluster] = member;
    for (const auto& weak : watches[wanted.resource.gvr()]) {
      if (auto watch = weak.lock()) open.push_back(std::move(watch));
    }
  }
  for (const auto& watch : open) {
    // It cannot fail, because the cluster begins with its present objects.
    if (watch->request().cluster.Selects(cluster)) (void)watch->Add(cluster, member->cache(), true);
  }
  Connect(member);
}

void MultiClusterCache::Impl::ConnectAgain() {
  std::set<std::string> due;
  bool next = false;
  {
    absl::MutexLock lock(&mu);
    // Before the look at the caches; what is reported from now on wakes the thread again.
    due.swap(reconnected);
    std::swap(next, next_may_begin);
  }
  absl::MutexLock lock(&change_mu);
  const bool retry = options.clock.SteadyNow() >= next_retry || (next && pause.IsActive());
  if (retry) next_retry = options.clock.SteadyNow() + kRetry;
  if (due.empty() && !retry) return;
  std::vector<MemberCachePtr> all = AllCaches();
  // What has not fitted comes after what has not been tried.
  std::stable_sort(all.begin(), all.end(), [](const MemberCachePtr& a, const MemberCachePtr& b) {
    return a->broken_off() < b->broken_off();
  });
  for (const MemberCachePtr& member : all) {
    if (due.count(member->cluster()) > 0 || (retry && !member->IsConnected(options.clusters)))
      Connect(member);
  }
}

void MultiClusterCache::Impl::Run() {
  const auto woken = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return stopped || next_may_begin || !reconnected.empty();
  };
  while (true) {
    {
      absl::MutexLock lock(&mu);
      options.clock.AwaitUntil(mu, absl::Condition(&woken), options.clock.SteadyNow() + kTick);
      if (stopped) return;
    }
    ConnectAgain();
    for (const auto& watch : OpenWatches()) watch->OnTime();
  }
}

void MultiClusterCache::Impl::EndPauses() {
  pause.Reset();
  takes_turns = false;
  for (const MemberCachePtr& member : AllCaches()) member->EndPause();
}

MultiClusterCache::MultiClusterCache(Options options)
    : impl_(std::make_unique<Impl>(std::move(options))) {
  Impl* impl = impl_.get();
  impl->subscription = impl->options.clusters.OnReconnected([impl](const std::string& cluster) {
    absl::MutexLock lock(&impl->mu);
    impl->reconnected.insert(cluster);
  });
  impl->thread = base::StartThread("the caches of members", [impl] { impl->Run(); });
}

MultiClusterCache::~MultiClusterCache() {
  // No more reports, then no more thread; last, the caches let go of what they call.
  impl_->subscription = kube::ClusterSet::Subscription();
  {
    absl::MutexLock lock(&impl_->mu);
    impl_->stopped = true;
  }
  impl_->thread.join();
  for (const MemberCachePtr& member : impl_->AllCaches()) member->cache()->Detach();
}

void MultiClusterCache::SetScope(const CachedResources& wanted) {
  absl::MutexLock lock(&impl_->change_mu);
  const CachedResources before = std::exchange(impl_->scope, wanted);
  if (before != wanted) impl_->EndPauses();
  for (const MemberCachePtr& member : impl_->TakeUnwanted()) member->Close();
  for (const auto& [cluster, resources] : wanted) {
    for (const auto& [gvr, resource] : resources) {
      const auto old = before.find(cluster);
      const bool had = old != before.end() && old->second.count(gvr) > 0 &&
                       old->second.at(gvr).resource == resource.resource;
      if (!had) {
        impl_->Join(cluster, resource);
      } else if (!(old->second.at(gvr) == resource)) {
        const bool narrows = Narrows(old->second.at(gvr).namespaces, resource.namespaces);
        for (const MemberCachePtr& member : impl_->Caches(gvr, cluster)) {
          // Those that are no longer wanted leave at once; those that are added come with the new
          // connection.
          if (narrows) member->KeepOnly(resource.namespaces);
          impl_->Connect(member);
        }
      }
    }
  }
}

void MultiClusterCache::Retry(const std::string& cluster) {
  absl::MutexLock lock(&impl_->change_mu);
  for (const MemberCachePtr& member : impl_->AllCaches()) {
    if (member->cluster() != cluster) continue;
    if (member->IsConnected(impl_->options.clusters)) {
      member->cache()->CatchUp();
    } else {
      impl_->Connect(member);
    }
  }
}

void MultiClusterCache::RefuseUnread(const absl::Status& why) {
  absl::MutexLock lock(&impl_->change_mu);
  bool broke_off = false;
  for (const MemberCachePtr& member : impl_->AllCaches()) {
    if (member->cache()->HasSynced()) continue;
    const bool is_read = member->IsConnected(impl_->options.clusters) && member->IsBeingRead();
    broke_off |= is_read;
    if (is_read) {
      member->BreakOff(impl_->options.clusters, why);
    } else {
      member->Refuse(impl_->options.clusters, why);
    }
  }
  if (broke_off) impl_->NoteFull(why);
}

absl::StatusOr<CachedObject> MultiClusterCache::Get(const GetRequest& request) const {
  CachedObject found;
  std::vector<std::string> owners;
  for (const MemberCachePtr& member : impl_->Caches(request.gvr, request.cluster)) {
    if (!member->cache()->HasSynced()) {
      found.missing.push_back(member->Missing());
      continue;
    }
    kube::ObjectPtr object = member->cache()->Find(request.key);
    if (object == nullptr) continue;
    owners.push_back(member->cluster());
    found.object = std::move(object);
  }
  if (owners.size() > 1) {
    return absl::AbortedError(AmbiguousObjects(std::move(owners)));
  }
  if (owners.empty()) {
    return absl::NotFoundError(
        absl::StrCat(NameOf(request.gvr), " \"", request.key.name, "\" not found"));
  }
  found.cluster = owners.front();
  CompositeVersion version;
  version.Set(found.cluster, found.object->resource_version());
  found.version = version.ToString();
  return found;
}

std::vector<MissingCluster> MultiClusterCache::Unread(const kube::Gvr& gvr,
                                                      const ClusterChoice& cluster) const {
  std::vector<MissingCluster> unread;
  for (const MemberCachePtr& member : impl_->Caches(gvr, cluster)) {
    const bool synced = member->cache()->HasSynced();
    if (!synced && !member->IsUnserved()) {
      unread.push_back(member->Missing());
    } else if (const absl::Status error = member->error(); synced && !error.ok()) {
      // It has objects, but may be behind: it is named, and its objects are answered all the same.
      unread.push_back({member->cluster(), ReasonForCallers(error), true});
    }
  }
  return unread;
}

absl::StatusOr<ListAnswer> MultiClusterCache::List(const ListRequest& request) const {
  return internal::ListReader(request).Read(impl_->Caches(request.gvr, request.cluster));
}

absl::StatusOr<std::shared_ptr<MergedWatch>> MultiClusterCache::Watch(
    WatchRequest request, std::function<void()> on_ready) {
  const auto watch =
      std::make_shared<MergedWatch>(std::move(request), impl_->options.clock, std::move(on_ready));
  const WatchRequest& asked = watch->request();
  std::map<std::string, MemberCachePtr> members;
  {
    absl::MutexLock lock(&impl_->mu);
    if (const auto table = impl_->caches.find(asked.gvr); table != impl_->caches.end()) {
      members = table->second;
    }
    // If what follows fails, the weak reference expires with the watch.
    impl_->watches[asked.gvr].push_back(watch);
  }
  const CompositeVersion from = CompositeVersion::Parse(asked.resource_version);
  for (const auto& [cluster, version] : from.versions()) {
    if (members.count(cluster) > 0 || asked.initial_events) continue;
    return absl::OutOfRangeError(
        absl::StrCat("too old resource version: cluster ", cluster, " is not cached any more"));
  }
  for (const auto& [cluster, member] : members) {
    if (!asked.cluster.Selects(cluster)) continue;
    RETURN_IF_ERROR(watch->Add(cluster, member->cache(), false));
  }
  watch->Begin();
  return watch;
}

std::vector<MissingCluster> MultiClusterCache::AwaitFresh(const Freshness& freshness,
                                                          base::SteadyTime deadline) const {
  return internal::AwaitFreshCaches(impl_->Caches(freshness.gvr, freshness.cluster), freshness,
                                    impl_->options.clock, deadline);
}

std::vector<CacheState> MultiClusterCache::States() const {
  std::vector<CacheState> states;
  for (const MemberCachePtr& member : impl_->AllCaches()) {
    const kube::WatchCache& cache = *member->cache();
    states.push_back({member->cluster(), member->resource().gvr(), cache.HasSynced(), cache.size(),
                      cache.progress(), member->error()});
  }
  return states;
}

std::shared_ptr<kube::WatchCache> MultiClusterCache::Find(const std::string& cluster,
                                                          const kube::Gvr& gvr) const {
  const std::vector<MemberCachePtr> found = impl_->Caches(gvr, cluster);
  return found.empty() || cluster.empty() ? nullptr : found.front()->cache();
}

}  // namespace search
