// What a scope is computed from, in a running program: the registries of the feed and the Clusters
// of an informer.
#ifndef SEARCH_REGISTRY_SCOPE_INPUTS_H_
#define SEARCH_REGISTRY_SCOPE_INPUTS_H_

#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "kube/cache/informer.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/runtime/manager.h"
#include "search/registry/feed.h"
#include "search/registry/scope.h"

namespace search {

// Resolves kinds by the discovery of the control plane. REQUIRES: `mapper` outlives the resolver.
KindResolver ResolverOf(kube::RestMapper& mapper);

// Keeps the scope true to its inputs, and computes it. It runs in every replica.
class ScopeRunner : public kube::Runnable {
 public:
  // REQUIRES: all outlive the runner.
  struct Parts {
    CacheScope& scope;
    RegistryFeed& feed;
    kube::Informer& clusters;  // Of all Clusters of the control plane.
    const base::Clock& clock;
  };
  explicit ScopeRunner(const Parts& parts) : parts_(parts) {}

  std::string name() const override { return "cache-scope"; }
  // Waits for both inputs, for ever, and then runs the scope. Always OK.
  absl::Status Run(const base::StopToken& stop) override;

 private:
  bool AwaitInputs(const base::StopToken& stop);

  const Parts parts_;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_SCOPE_INPUTS_H_
