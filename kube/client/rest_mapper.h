// What kinds an API server serves, and under which resource names. Discovery with a cache.
#ifndef KUBE_CLIENT_REST_MAPPER_H_
#define KUBE_CLIENT_REST_MAPPER_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/meta/names.h"

namespace kube {

struct ApiResource {
  Resource resource;
  std::vector<std::string> verbs;
  std::vector<std::string> short_names;  // "deploy"
  bool preferred = false;                // The group's preferred version that has this kind.
  bool HasVerbs(std::initializer_list<absl::string_view> wanted) const;
  friend bool operator==(const ApiResource&, const ApiResource&) = default;
};

struct Discovery {
  std::vector<ApiResource> resources;  // No sub-resources; group-versions in the server's order.
  std::vector<std::string>
      failed_groups;  // "group/version" whose discovery failed (partial result).
  friend bool operator==(const Discovery&, const Discovery&) = default;
};

// One discovery pass: aggregated discovery v2 (and v2beta1), else one request per group-version. An
// error only when nothing at all could be read. Takes two minutes at most; what could not be read
// in that time is among the failed groups.
absl::StatusOr<Discovery> Discover(Client& client, const base::StopToken& stop);

// One copy of what equal servers serve: members of a fleet are mostly of few versions. Keeps
// nothing alive. Thread-safe.
class DiscoveryPool {
 public:
  // An equal one that somebody still has, else `fresh`.
  std::shared_ptr<const Discovery> Share(std::shared_ptr<const Discovery> fresh);

 private:
  absl::Mutex mu_;
  std::vector<std::weak_ptr<const Discovery>> known_ ABSL_GUARDED_BY(mu_);
};

// Cached GVK -> resource mapping; a miss re-runs discovery, at most once every few seconds.
// Thread-safe.
class RestMapper {
 public:
  // `pool` is shared with the mappers of like servers; nullptr: with none.
  RestMapper(Client& client, const base::Clock& clock,
             std::shared_ptr<DiscoveryPool> pool = nullptr);
  ~RestMapper();
  // One pass as by the function of that name, which reads only what changed since the last one when
  // the server sends ETags. The mapping follows it. Never null.
  absl::StatusOr<std::shared_ptr<const Discovery>> Discover(const base::StopToken& stop);
  // kNotFound `no matches for kind "X" in version "g/v"`; other codes when discovery itself failed.
  absl::StatusOr<Resource> ForKind(const Gvk& gvk, const base::StopToken& stop);
  // As ForKind, but does not rely on what a pass of more than a few seconds ago has found: a kind
  // may have gone since.
  absl::StatusOr<Resource> ForKindNow(const Gvk& gvk, const base::StopToken& stop);
  // What earlier passes found; never blocks, never asks the server.
  std::optional<Resource> Known(const Gvk& gvk) const;
  // Feeds a discovery result obtained elsewhere.
  void Update(const Discovery& discovery);
  // Forgets everything.
  void Reset();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CLIENT_REST_MAPPER_H_
