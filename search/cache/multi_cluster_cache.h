// One cache of many member clusters: gets, lists and watches of a resource over all of them.
//
//   MultiClusterCache cache({.clusters = clusters, .clock = clock});
//   cache.SetScope(scope);                              // What the registries ask for.
//   auto behind = cache.AwaitFresh({.gvr = pods, .need = Freshness::kNow}, deadline);
//   ASSIGN_OR_RETURN(ListAnswer answer, cache.List({.gvr = pods, .limit = 500}));
//   ListText text(answer, pods_list_kind);
//   while (text.Append(chunk, 64 << 10)) ...
//
// Get, List and Watch read memory and never wait. Clusters that have not listed yet, or cannot,
// contribute nothing and are named in the answer. AwaitFresh waits, before them, until the caches
// are as new as a request demands.
#ifndef SEARCH_CACHE_MULTI_CLUSTER_CACHE_H_
#define SEARCH_CACHE_MULTI_CLUSTER_CACHE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/watch_cache.h"
#include "kube/meta/names.h"
#include "kube/runtime/cluster_set.h"
#include "search/cache/cluster_choice.h"
#include "search/cache/list_answer.h"
#include "search/cache/merged_watch.h"
#include "search/cache/object_filter.h"

namespace search {

// What is to be cached of one resource of one cluster.
struct CachedResource {
  kube::Resource resource;
  std::set<std::string> namespaces;  // Empty: all.
  friend bool operator==(const CachedResource&, const CachedResource&) = default;
};
// By cluster and resource.
using CachedResources = std::map<std::string, std::map<kube::Gvr, CachedResource>>;

struct GetRequest {
  kube::Gvr gvr;
  kube::ObjectKey key;
  ClusterChoice cluster;
};

struct ListRequest {
  kube::Gvr gvr;
  std::string ns;  // "": all namespaces.
  ClusterChoice cluster;
  ObjectFilter filter;
  size_t limit = 0;  // 0: no limit.
  std::string continue_token;
  std::string resource_version;  // A composite, "0" or "".
  bool exact = false;            // resourceVersionMatch=Exact.
  // Ends the search for objects: nobody wants the answer any more.
  base::StopToken stop;
};

// How new the caches have to be.
struct Freshness {
  enum Need { kAny, kNotOlderThan, kNow };
  kube::Gvr gvr;
  Need need = kAny;
  std::string resource_version;  // For kNotOlderThan: a composite.
  ClusterChoice cluster;         // As in the request that follows.
  // For kNow: the only object that the request reads. Without a name: it may read all.
  kube::ObjectKey object;
};

// The state of one resource of one cluster, for conditions and metrics.
struct CacheState {
  std::string cluster;
  kube::Gvr gvr;
  bool synced = false;
  size_t objects = 0;
  kube::Progress progress;
  absl::Status error;  // Why it cannot be followed at the moment; OK if it is.
};

// Thread-safe.
class MultiClusterCache {
 public:
  struct Options {
    // Connects to members. The caches use the unfiltered() informers of a member.
    kube::ClusterSet& clusters;
    const base::Clock& clock;
    absl::Duration history = absl::Seconds(75);
    size_t history_bytes = 8 << 20;  // Per resource and cluster.
    // Asked before the first list of a cache begins. While this is an error, which says why, the
    // cache stays unread; it is tried again after pauses that become longer (GrowthPause), one
    // cache after the other. Optional.
    std::function<absl::Status()> may_grow;
    // Fields of a resource that are kept as values, for selectors: {"spec.nodeName"}. Optional.
    std::function<std::vector<std::string>(const kube::Resource&)> fields;
    // Called for each change in a cache, in order per cluster and resource, and when its contents
    // are complete; not for what is removed because the scope has changed. Called on threads of
    // informers, and on that of SetScope. Must not block. Optional.
    std::function<void(const std::string& cluster, const kube::Resource& resource,
                       const kube::WatchCache::Event& event)>
        on_event;
    std::function<void(const std::string& cluster, const kube::Resource& resource)> on_synced;
  };
  // REQUIRES: what the options refer to outlives this object.
  explicit MultiClusterCache(Options options);
  ~MultiClusterCache();
  MultiClusterCache(const MultiClusterCache&) = delete;

  // Starts, changes and ends caches, so that they hold this. Open watches report what leaves the
  // scope as deleted and what joins it as added. What leaves it, also a namespace, cannot be read
  // any more when this returns, whether or not its cluster can be reached; no state of before can
  // be read either (410) of a resource whose namespaces were narrowed. Calls are made one at a
  // time; REQUIRES: not from a handler.
  void SetScope(const CachedResources& wanted);
  // To be called when the credentials of a cluster may have changed. Connects its caches that could
  // not be connected (this is also tried every ten seconds), and asks the cluster once for each of
  // the others: an open watch goes on with the old credentials and does not show that the new ones
  // are refused. Does not wait for the answers.
  void Retry(const std::string& cluster);

  // Breaks off first lists that are under way, as if may_grow had refused them, and has each of
  // these wait before the next try, ten seconds at first and an hour at last. What is not cached is
  // read one after the other from then on, until the scope changes. Clusters that cannot be reached
  // keep the error that says so.
  void RefuseUnread(const absl::Status& why);

  // kNotFound (see Unread); kAborted when several clusters have such an object: the message is that
  // of AmbiguousObjects.
  absl::StatusOr<CachedObject> Get(const GetRequest& request) const;
  // Returns the clusters of the scope (of all, or the caller's choice) that may have objects which
  // gets and watches do not show: those that have not been listed, and, as stale ones, those that
  // cannot be followed at the moment. One that does not serve the resource has none.
  std::vector<MissingCluster> Unread(const kube::Gvr& gvr, const ClusterChoice& cluster) const;
  // kOutOfRange (410) when the version of `exact` or of the token is not in the history any more,
  // or names a cluster that is not cached any more; kDeadlineExceeded (504) when a version has not
  // been reached yet; kCancelled after a stop.
  absl::StatusOr<ListAnswer> List(const ListRequest& request) const;
  // `on_ready` is called, on any thread and with no lock held, when Take may have something; it
  // must not block. kOutOfRange (410): the watch cannot continue at this version.
  absl::StatusOr<std::shared_ptr<MergedWatch>> Watch(WatchRequest request,
                                                     std::function<void()> on_ready);
  // Waits until the caches are as new as demanded, or the deadline. Returns which are not, and why;
  // clusters without a list yet or without connection are not waited for, unless they have been in
  // the scope for less than ten seconds. REQUIRES: not called in a handler.
  std::vector<MissingCluster> AwaitFresh(const Freshness& freshness,
                                         base::SteadyTime deadline) const;

  std::vector<CacheState> States() const;
  // The cache of one resource of one cluster ("" is none); nullptr when the scope does not have it.
  std::shared_ptr<kube::WatchCache> Find(const std::string& cluster, const kube::Gvr& gvr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace search

#endif  // SEARCH_CACHE_MULTI_CLUSTER_CACHE_H_
