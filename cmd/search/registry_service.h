// ResourceRegistries as this server stores and serves them, and what they ask for.
#ifndef CMD_SEARCH_REGISTRY_SERVICE_H_
#define CMD_SEARCH_REGISTRY_SERVICE_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "cmd/search/connections.h"
#include "cmd/search/options.h"
#include "search/registry/etcd_compactor.h"
#include "search/registry/feed.h"
#include "search/registry/registry_api.h"
#include "search/registry/scope.h"
#include "search/registry/store.h"

namespace cmd {

// Asks the storage from time to time whether it can serve, so that probes need not wait for it.
class StorageProbe {
 public:
  // REQUIRES: both outlive the object.
  StorageProbe(search::RegistryStore& store, const base::Clock& clock)
      : store_(store), clock_(clock) {}
  absl::Status status() const {
    absl::MutexLock lock(&mu_);
    return status_;
  }
  void Run(const base::StopToken& stop);  // Blocks.

 private:
  search::RegistryStore& store_;
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_) = absl::UnavailableError("not asked yet");
};

// REQUIRES: clock and control plane outlive the object.
struct RegistryService {
  struct Parts {
    const SearchOptions& options;
    ControlPlane& control_plane;
    const base::Clock& clock;
  };
  // Errors name the flag that cannot be used. No server is contacted yet.
  static absl::StatusOr<std::unique_ptr<RegistryService>> Create(const Parts& parts);

  const std::unique_ptr<search::RegistryStore> store;
  const std::unique_ptr<search::EtcdCompactor> compactor;  // nullptr without etcd.
  search::RegistryFeed feed;
  search::RegistryApi api;
  search::CacheScope scope;
  StorageProbe probe;

  RegistryService(std::unique_ptr<search::RegistryStore> given_store,
                  std::unique_ptr<search::EtcdCompactor> given_compactor, const Parts& parts);
};

}  // namespace cmd

#endif  // CMD_SEARCH_REGISTRY_SERVICE_H_
