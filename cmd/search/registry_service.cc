#include "cmd/search/registry_service.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/pem_files.h"
#include "base/status.h"
#include "search/registry/etcd_store.h"
#include "search/registry/record_store.h"
#include "search/registry/scope_inputs.h"

namespace cmd {
namespace {

constexpr absl::Duration kProbePeriod = absl::Seconds(5);
constexpr absl::Duration kProbeAgain = absl::Seconds(1);  // While the storage does not answer.

absl::StatusOr<search::EtcdOptions> EtcdOptionsOf(const RegistryStorageOptions& s) {
  search::EtcdOptions options;
  options.servers = s.etcd_servers;
  options.prefix = s.etcd_prefix;
  if (!s.etcd_ca_file.empty()) {
    ASSIGN_OR_RETURN(options.ca_pem, tls::ReadCertificates({"--etcd-cafile", s.etcd_ca_file}));
  }
  // These are read by who connects, again when they change; here only to refuse a mistake.
  if (!s.etcd_cert_file.empty()) {
    RETURN_IF_ERROR(
        tls::ReadKeyPair({"--etcd-certfile", s.etcd_cert_file}, {"--etcd-keyfile", s.etcd_key_file})
            .status());
  }
  options.cert_file = s.etcd_cert_file;
  options.key_file = s.etcd_key_file;
  options.health_timeout = std::min(s.etcd_health_timeout, s.etcd_ready_timeout);
  return options;
}

}  // namespace

void StorageProbe::Run(const base::StopToken& stop) {
  while (!stop.stop_requested()) {
    const absl::Status status = store_.Health(stop);
    {
      absl::MutexLock lock(&mu_);
      status_ = status;
    }
    clock_.SleepFor(status.ok() ? kProbePeriod : kProbeAgain, stop);
  }
}

RegistryService::RegistryService(std::unique_ptr<search::RegistryStore> given_store,
                                 std::unique_ptr<search::EtcdCompactor> given_compactor,
                                 const Parts& parts)
    : store(std::move(given_store)),
      compactor(std::move(given_compactor)),
      feed(*store, parts.clock, {}),
      api({*store, feed, parts.clock,
           absl::Seconds(parts.options.serving.min_request_timeout_seconds)}),
      scope(search::ResolverOf(parts.control_plane.mapper), parts.clock),
      probe(*store, parts.clock) {}

absl::StatusOr<std::unique_ptr<RegistryService>> RegistryService::Create(const Parts& parts) {
  const RegistryStorageOptions& options = parts.options.storage;
  std::unique_ptr<search::RegistryStore> store;
  std::unique_ptr<search::EtcdCompactor> compactor;
  if (options.backend == RegistryBackend::kEtcd) {
    ASSIGN_OR_RETURN(const search::EtcdOptions etcd, EtcdOptionsOf(options));
    ASSIGN_OR_RETURN(store, search::NewEtcdStore(etcd, parts.clock));
    ASSIGN_OR_RETURN(compactor, search::EtcdCompactor::Create(etcd, parts.clock));
  } else {
    store = search::NewRecordStore(parts.control_plane.client);
  }
  return std::make_unique<RegistryService>(std::move(store), std::move(compactor), parts);
}

}  // namespace cmd
