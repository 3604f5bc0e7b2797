// status.conditions of ResourceRegistries, which upstream never writes: what the caches hold of
// each cluster that a registry means.
//
// A registry gets these conditions:
//   Synced            True when everything that the registry names is there, and every resource of
//                     every matching cluster is in the cache and followed
//   KindsResolved     False when the control plane, or none of the matching clusters, serves a kind
//                     that the registry names
//   ClustersResolved  False when a cluster that the registry names does not exist
//   Mirrored          of registries that name an OpenSearch: whether it has everything
//   <cluster>/Synced  for each matching cluster: objects, lag and last error; clusters with trouble
//                     come first, and only the first 50 are listed
#ifndef SEARCH_REGISTRY_STATUS_CONDITIONS_H_
#define SEARCH_REGISTRY_STATUS_CONDITIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"
#include "search/registry/scope.h"
#include "search/registry/store.h"

namespace search {

// What a cache knows of one resource of one cluster.
struct CachedSlice {
  bool synced = false;
  int64_t objects = 0;
  // How far the copy may be behind the member: the time since the member last confirmed it.
  absl::Duration lag;
  std::string last_error;  // "" when there is none.
};

// What is known of the OpenSearch of a registry.
struct MirrorState {
  bool complete = false;  // It has all objects.
  std::string reason;     // Of the condition: "NotConnected".
  std::string message;    // For people; without secrets.
};

// Implemented by the cache. Thread-safe; must not block.
class CacheStates {
 public:
  virtual ~CacheStates() = default;
  // Returns nullopt when the cache does not know of the resource (yet).
  virtual std::optional<CachedSlice> StateOf(const std::string& cluster,
                                             const kube::Gvr& gvr) const = 0;
  // Returns nullopt when nothing is mirrored there (yet).
  virtual std::optional<MirrorState> MirrorOf(const api::OpenSearchTarget& /*target*/) const {
    return std::nullopt;
  }
};

// Returns the conditions that a registry should have. Times are taken over from `present` where a
// condition's status stays; conditions in `present` that are not ours are kept. Objects and lag
// change all the time, so their text in `present` stays while they are about the same (within a
// tenth and in the same class of lag: under a minute, under ten, under an hour, longer).
json::Value RegistryConditions(const std::string& registry, const Scope& scope,
                               const CacheStates& states, const json::Value& present,
                               absl::Time now);

// Makes the summarizing conditions Unknown, until they have been computed for the present spec: a
// client that waits for one after an edit must not find what was true before. (ResourceRegistries
// have no generation that the conditions could name.)
void MarkConditionsOutdated(kube::Object& registry, absl::Time now);

// Writes the conditions of all registries. Only one replica may run it (the one that holds the
// lease), because each replica has a cache of its own and they would overwrite one another.
class StatusWriter {
 public:
  struct Options {
    // A registry is looked at, and written at most, once in this time.
    absl::Duration period = absl::Seconds(2);
  };
  // REQUIRES: all outlive the writer.
  struct Parts {
    RegistryStore& store;
    const CacheScope& scope;
    const CacheStates& states;
    const base::Clock& clock;
  };
  StatusWriter(Parts parts, Options options) : parts_(parts), options_(options) {}

  // Looks at all registries once; returns how many were written. Failures are logged and tried
  // again in the next pass.
  int Pass(const base::StopToken& stop);
  // Makes passes until stopped. Blocks.
  void Run(const base::StopToken& stop);

 private:
  absl::StatusOr<bool> Write(const kube::ObjectPtr& registry, const base::StopToken& stop);

  Parts parts_;
  Options options_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_STATUS_CONDITIONS_H_
