// ResourceRegistries in etcd, under the keys and in the form that upstream's karmada-search uses:
// <prefix>/search.karmada.io/resourceRegistries/<name>, the JSON of v1alpha1 without
// resourceVersion. What upstream has written is read and kept, and upstream can read what is
// written here.
//
// etcd is spoken to through its v3 JSON gateway (/v3/kv/range, /v3/kv/txn, /v3/watch), which every
// etcd since 3.4 serves on its client port. The resourceVersion of an object is the revision of its
// last modification.
#ifndef SEARCH_REGISTRY_ETCD_STORE_H_
#define SEARCH_REGISTRY_ETCD_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/tls.h"
#include "search/registry/store.h"

namespace search {

struct EtcdOptions {
  std::vector<std::string> servers;  // --etcd-servers: "https://host:2379"; at least one.
  std::string prefix = "/registry";  // --etcd-prefix.
  std::string ca_pem;                // Contents of --etcd-cafile; "" stands for the system's roots.
  std::string cert_file, key_file;   // --etcd-certfile and --etcd-keyfile; read again on changes.
  absl::Duration request_timeout = absl::Seconds(5);  // Of one call, on all servers together.
  absl::Duration health_timeout = absl::Seconds(2);   // --etcd-healthcheck-timeout.
};

// kInvalidArgument names the flag whose value cannot be used. No server is contacted yet. REQUIRES:
// `clock` outlives the store.
absl::StatusOr<std::unique_ptr<RegistryStore>> NewEtcdStore(const EtcdOptions& options,
                                                            const base::Clock& clock);

class EtcdGateway;
// A store over a gateway that exists already; of the options only the prefix and the times count.
std::unique_ptr<RegistryStore> NewEtcdStore(std::unique_ptr<EtcdGateway> gateway,
                                            const EtcdOptions& options);

}  // namespace search

#endif  // SEARCH_REGISTRY_ETCD_STORE_H_
