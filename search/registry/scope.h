// What the caches have to hold: which resources of which member clusters, in which namespaces, and
// on behalf of which ResourceRegistries.
//
//   CacheScope scope(resolver, clock);
//   scope.Subscribe([&](const ScopePtr& before, const ScopePtr& after) { ... });
//   scope.SetCluster(cluster); scope.SetRegistry(registry);   // From informers and the feed.
//   scope.Run(stop);                                          // On a thread of its own.
//
// A scope is an immutable snapshot. Two snapshots share the parts of clusters that did not change,
// so comparing the pointers of a cluster's part is enough to see whether it changed.
#ifndef SEARCH_REGISTRY_SCOPE_H_
#define SEARCH_REGISTRY_SCOPE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "api/resource_registry.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "search/registry/kind_table.h"

namespace search {

// One resource of one cluster that at least one registry asks for.
struct WantedResource {
  kube::Resource resource;
  // Empty stands for all namespaces; always empty for cluster-scoped resources.
  std::set<std::string> namespaces;
  std::set<std::string> registries;  // Names of the registries that ask for it.
  // The namespaces of each of them that does not ask for all: what one registry asks for may not
  // go to the OpenSearch of another.
  std::map<std::string, std::set<std::string>> narrowed;

  // Returns whether objects of this namespace ("" for cluster-scoped objects) are wanted.
  bool Covers(absl::string_view ns) const;
  friend bool operator==(const WantedResource&, const WantedResource&) = default;
};

// The part of one cluster that at least one registry matches.
struct ClusterScope {
  // Whether the condition Ready is True. Upstream drops the caches of a cluster that is not; here
  // its resources stay listed, and who holds the cache decides.
  bool ready = false;
  std::map<kube::Gvr, WantedResource> resources;
  // Kinds that the control plane serves and this cluster does not, by the registry that names them.
  std::map<std::string, std::set<kube::Gvk>> unserved;
  friend bool operator==(const ClusterScope&, const ClusterScope&) = default;
};

struct Scope {
  // By name; clusters that no registry matches, or that are being deleted, are missing.
  std::map<std::string, std::shared_ptr<const ClusterScope>> clusters;
  // All resources that registries name, whether or not a cluster has them now: the global proxy
  // routes by this set.
  std::map<kube::Gvr, kube::Resource> registered;
  // What each registry asks OpenSearch for, by the registry's name.
  std::map<std::string, api::OpenSearchTarget> open_search;
  // Kinds that the control plane does not serve (yet), with the reason, by registry.
  std::map<std::string, std::map<kube::Gvk, std::string>> unresolved;
  // Those of them of which discovery could not say whether they are served.
  std::set<kube::Gvk> undetermined;
  // The clusters that each registry matches, by the registry's name; every registry is listed.
  std::map<std::string, std::set<std::string>> matches;
  // The clusters that a registry names in targetCluster.clusterNames and that do not exist (or are
  // being deleted), by the registry's name.
  std::map<std::string, std::set<std::string>> absent;

  // What is wrong with targetCluster of a registry that matches no cluster because of it, by the
  // registry's name.
  std::map<std::string, std::string> malformed;
  // Registries without a single resourceSelector.
  std::set<std::string> without_selectors;

  // The spec of each registry that the scope was computed from, by the registry's name.
  std::map<std::string, json::Value> specs;

  // Returns nullptr when the cluster does not have to hold the resource.
  const WantedResource* Find(absl::string_view cluster, const kube::Gvr& gvr) const;
  // Compares the parts of clusters by their pointers.
  friend bool operator==(const Scope&, const Scope&) = default;
};
using ScopePtr = std::shared_ptr<const Scope>;

// Thread-safe. Set and Remove functions only note what changed; Run does the work.
class CacheScope {
 public:
  // Called on Run's thread, one call at a time, after Current() returns `after`.
  using Listener = std::function<void(const ScopePtr& before, const ScopePtr& after)>;

  // REQUIRES: `clock` outlives the scope.
  CacheScope(KindResolver resolver, const base::Clock& clock);
  ~CacheScope();

  // Note the present state of a registry or a Cluster. A state that changes nothing that counts
  // here, such as a heartbeat in a Cluster's status, causes no work and no call of a listener.
  void SetRegistry(const kube::ObjectPtr& registry);
  void RemoveRegistry(absl::string_view name);
  void SetCluster(const kube::ObjectPtr& cluster);
  void RemoveCluster(absl::string_view name);
  // Call it when all registries and Clusters that exist have been set once. Before, the scope stays
  // empty, so that a start does not look like a removal of everything.
  void SetSynced();

  // Never null. Empty before the first pass after SetSynced.
  ScopePtr Current() const;
  // Returns whether a pass after SetSynced has been made, with the kinds that discovery could
  // resolve, and the listeners have returned from it; the first one waits for discovery.
  bool HasSynced() const;
  // The listener gets every later change. REQUIRES: called before Run.
  void Subscribe(Listener listener);

  // Computes until stopped. Kinds are asked for again every half minute, whenever a registry
  // changes, and every five seconds while discovery denies one that it has just served. Blocks.
  void Run(const base::StopToken& stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_SCOPE_H_
