// The command line of karmada-search: upstream's flags, each of which has its effect, is refused
// with the reason, or is answered by a warning in the log.
#ifndef CMD_SEARCH_OPTIONS_H_
#define CMD_SEARCH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cmd/search/kubernetes_gates.h"
#include "config/options.h"
#include "config/release.h"
#include "kube/aggregation/authentication_config.h"

namespace cmd {

struct ServingOptions {
  std::string bind_address = "0.0.0.0";
  int secure_port = 443;  // 0 picks a free one.
  // Set together; a self-signed certificate is made without them.
  std::string tls_cert_file, tls_private_key_file;
  bool only_tls13 = false;
  std::string tls_groups;  // As tls::KeyExchangeGroups returns them; empty: those of OpenSSL.
  absl::Duration request_timeout = absl::Seconds(60);
  int min_request_timeout_seconds = 1800;  // Watches get this to twice as much.
  int max_in_flight = 400;
  int max_mutating_in_flight = 200;
  int max_connections = 10'000;
  int server_threads = 0;  // 0: one for each processor, two to eight.
  double goaway_chance = 0;
  absl::Duration shutdown_delay = absl::ZeroDuration();
};

// Returns "0.0.0.0:443" or "[::]:443".
std::string ListenAddressOf(const ServingOptions& serving);

// Connections to the control plane for questions of authentication and authorization.
struct DelegationOptions {
  std::string authentication_kubeconfig, authorization_kubeconfig;
  kube::aggregation::AuthenticationOptions authentication;
  absl::Duration token_ttl = absl::Seconds(10);
  absl::Duration allowed_ttl = absl::Seconds(10);
  absl::Duration denied_ttl = absl::Seconds(10);
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
};

enum class RegistryBackend { kEtcd, kCustomResources };

// Where ResourceRegistries are stored.
struct RegistryStorageOptions {
  RegistryBackend backend = RegistryBackend::kEtcd;
  std::vector<std::string> etcd_servers;
  std::string etcd_prefix = "/registry";
  std::string etcd_ca_file, etcd_cert_file, etcd_key_file;
  absl::Duration etcd_health_timeout = absl::Seconds(2);
  absl::Duration etcd_ready_timeout = absl::Seconds(2);
  absl::Duration etcd_compaction_interval = absl::Minutes(5);  // 0: never.
};

// What the audit log has: nothing, or who did what.
enum class AuditLevel { kNone, kMetadata };

struct AuditOptions {
  AuditLevel level = AuditLevel::kNone;
  std::string path;  // "-" is standard output; "" is none.
  int max_megabytes = 100;
  // Without the flags the defaults of the emulated release count: see Emulate.
  std::optional<int> max_files, max_age_days;
};

struct SearchOptions {
  std::string kubeconfig;
  bool disable_search = false;
  bool disable_proxy = false;
  bool authorize_cached_reads = false;
  bool require_complete_answers = false;
  double kube_api_qps = 40;
  int kube_api_burst = 60;
  double cluster_api_qps = 40;
  int cluster_api_burst = 60;
  int cluster_memory_mib = 0;  // See kube::MemberBytes; 0 without a memory limit: no bound.
  // What watches and pages can go back to, of each resource of each cluster.
  absl::Duration watch_history = absl::Seconds(75);
  int watch_history_mebibytes = 8;
  // How long /readyz waits for the caches at most.
  absl::Duration storage_initialization_timeout = absl::Minutes(1);
  // How often the conditions of each registry are looked at. There is no flag for it.
  absl::Duration status_period = absl::Seconds(2);
  ServingOptions serving;
  DelegationOptions delegation;
  RegistryStorageOptions storage;
  AuditOptions audit;
  config::Logging logging;
  KubernetesGates gates;
  // The release that the user wants; nullopt for that of the control plane.
  std::optional<config::Release> wanted_release;
  // The release as which the program behaves, from its start to its end: the wanted one, else v1.18
  // until Emulate is called.
  config::Release release = config::Release::kV1_18;

  // A sentence, for the log, about each flag that was given and does not have its upstream effect.
  std::vector<std::string> warnings;
  std::string changed_flags;  // "--v=2 --secure-port=8443".

  // Makes the program behave as this release: what was not given gets its defaults.
  void Emulate(config::Release as);
};

struct ParsedSearchFlags {
  // Set when there is nothing to run: 0 after help or version, 2 after a mistake.
  std::optional<int> exit_code;
  std::string output;  // The text to print then: on standard output for 0, else on standard error.
  SearchOptions options;
};
ParsedSearchFlags ParseSearchFlags(int argc, const char* const* argv);

}  // namespace cmd

#endif  // CMD_SEARCH_OPTIONS_H_
