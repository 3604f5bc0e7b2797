// What kinds an API server serves, and under which resource names. Discovery with a cache.
#ifndef KUBE_CLIENT_REST_MAPPER_H_
#define KUBE_CLIENT_REST_MAPPER_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
};

struct Discovery {
  std::vector<ApiResource> resources;  // No sub-resources; group-versions in the server's order.
  std::vector<std::string>
      failed_groups;  // "group/version" whose discovery failed (partial result).
};

// One discovery pass: aggregated discovery v2 (and v2beta1), else one request per group-version. An
// error only when nothing at all could be read. Takes two minutes at most; what could not be read
// in that time is among the failed groups.
absl::StatusOr<Discovery> Discover(Client& client, const base::StopToken& stop);

// Cached GVK -> resource mapping; a miss re-runs discovery, at most once every few seconds.
// Thread-safe.
class RestMapper {
 public:
  explicit RestMapper(Client& client, const base::Clock& clock);
  ~RestMapper();
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
