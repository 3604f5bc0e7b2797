// Finds out which kinds an API server serves, and under which resource names: discovery with a
// cache.
#ifndef KUBE_DISCOVERY_REST_MAPPER_H_
#define KUBE_DISCOVERY_REST_MAPPER_H_

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
  bool preferred = false;  // True if this is the group's preferred version that has this kind.
  bool HasVerbs(std::initializer_list<absl::string_view> wanted) const;
  friend bool operator==(const ApiResource&, const ApiResource&) = default;
};

struct Discovery {
  // Without sub-resources; group-versions are in the server's order.
  std::vector<ApiResource> resources;
  std::vector<std::string>
      failed_groups;  // The "group/version" of each failure (the result is partial then).
  friend bool operator==(const Discovery&, const Discovery&) = default;
};

// Runs one discovery pass: aggregated discovery v2 (and v2beta1), else one request per
// group-version. Fails only when nothing at all could be read. Takes at most two minutes;
// group-versions that could not be read in that time are among the failed groups.
absl::StatusOr<Discovery> Discover(Client& client, const base::StopToken& stop);

// Shares equal discovery results, because the members of a fleet have few versions. It does not
// keep them alive. Thread-safe.
class DiscoveryPool {
 public:
  // Returns an equal result that is still in use, else `fresh`.
  std::shared_ptr<const Discovery> Share(std::shared_ptr<const Discovery> fresh);

 private:
  absl::Mutex mu_;
  std::vector<std::weak_ptr<const Discovery>> known_ ABSL_GUARDED_BY(mu_);
};

// A cached mapping from GVKs to resources; a miss runs discovery again, at most once every few
// seconds. Thread-safe.
class RestMapper {
 public:
  // `pool` may be shared with the mappers of similar servers; nullptr: results are not shared.
  RestMapper(Client& client, const base::Clock& clock,
             std::shared_ptr<DiscoveryPool> pool = nullptr);
  ~RestMapper();
  // Runs one pass like the function Discover; if the server sends ETags, only documents that have
  // changed are read. Updates the mapping. Never returns null.
  absl::StatusOr<std::shared_ptr<const Discovery>> Discover(const base::StopToken& stop);
  // kNotFound `no matches for kind "X" in version "g/v"`; other codes when discovery itself failed.
  absl::StatusOr<Resource> ForKind(const Gvk& gvk, const base::StopToken& stop);
  // As ForKind, but does not rely on a pass that is more than a few seconds old, because a kind may
  // have gone since.
  absl::StatusOr<Resource> ForKindNow(const Gvk& gvk, const base::StopToken& stop);
  // Returns what earlier passes found; never blocks, never asks the server.
  std::optional<Resource> Known(const Gvk& gvk) const;
  // Takes over a discovery result that was obtained elsewhere.
  void Update(const Discovery& discovery);
  // Forgets everything.
  void Reset();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_DISCOVERY_REST_MAPPER_H_
