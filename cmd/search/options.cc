// Declares the flags of karmada-search by group, parses them, and checks what CLI11 cannot. Flags
// that upstream has, too, have its names, types and defaults, unless docs/differences.md says
// otherwise. The order after parsing: header names are made lower-case, values are validated (the
// first mistake ends the program with exit code 2), then warnings are collected for flags that were
// given and have no effect. Flags of upstream that this program does not have are in
// other_flags.cc.

#include "cmd/search/options.h"

#include <initializer_list>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/enumerated.h"
#include "base/listen_address.h"
#include "base/status.h"
#include "cmd/search/kubernetes_gates.h"
#include "cmd/search/other_flags.h"
#include "cmd/search/tls_flags.h"
#include "config/command_line.h"
#include "config/flag_types.h"
#include "config/release.h"

namespace cmd {
namespace {

using config::AddDuration;
using config::AddList;
using config::AddSwitch;
using config::AddValue;

constexpr char kName[] = "karmada-search";

void AddFeatureFlags(CLI::App& app, SearchOptions& o) {
  AddValue(app, "--kubeconfig", o.kubeconfig, "kubeconfig of the Karmada control plane")
      ->type_name("FILE");
  AddSwitch(app, "--disable-search", o.disable_search,
            "serve no view of all clusters and no mirror in OpenSearch");
  AddSwitch(app, "--disable-proxy", o.disable_proxy, "serve no global proxy");
  AddSwitch(app, "--authorize-cached-reads", o.authorize_cached_reads,
            "check each read from the cache or OpenSearch against the caller's rights in the "
            "control plane; this includes finding out which cluster has an object");
  AddSwitch(
      app, "--require-complete-answers", o.require_complete_answers,
      "answer by an error, instead of a warning, when an answer of the proxy or the view would "
      "lack objects of a member or show old ones; a request with requireComplete=false gets "
      "what there is");
  AddValue(app, "--kube-api-qps", o.kube_api_qps,
           "requests per second of this program's caches and writes to the control plane, not of "
           "reviews "
           "nor of callers' requests; 0: no limit");
  AddValue(app, "--kube-api-burst", o.kube_api_burst, "burst of --kube-api-qps");
  AddValue(app, "--cluster-api-qps", o.cluster_api_qps,
           "requests per second to each member cluster for the lists and watches of its cache, not "
           "for the questions on which reads wait; 0: no limit");
  AddValue(app, "--cluster-api-burst", o.cluster_api_burst, "burst of --cluster-api-qps");
  AddValue(app, "--cluster-memory-mib", o.cluster_memory_mib,
           "MiB that the cached objects of one member cluster may take; 0: three quarters of the "
           "memory limit, or anything without one");
  AddDuration(app, "--watch-history", o.watch_history,
              "how long watches and pages can go back to a state; longer takes more memory");
  AddValue(app, "--watch-history-mebibytes", o.watch_history_mebibytes,
           "the most that is kept for that of each kind in each cluster");
  AddDuration(app, "--storage-initialization-timeout", o.storage_initialization_timeout,
              "after this time /readyz no longer waits for the first lists of members");
}

void AddServingFlags(CLI::App& app, ServingOptions& s) {
  AddValue(app, "--bind-address", s.bind_address, "address to listen on")->type_name("IP");
  AddValue(app, "--secure-port", s.secure_port, "port to listen on")->type_name("PORT");
  AddValue(app, "--tls-cert-file", s.tls_cert_file,
           "certificate of this server; read again when it changes")
      ->type_name("FILE");
  AddValue(app, "--tls-private-key-file", s.tls_private_key_file, "private key of --tls-cert-file")
      ->type_name("FILE");
  AddTlsFlags(app, s);
  AddDuration(
      app, "--request-timeout", s.request_timeout,
      "how long a request may take that is not a watch, session, log or list that is passed on");
  AddValue(app, "--min-request-timeout", s.min_request_timeout_seconds,
           "seconds that watches get at least; twice as many at most");
  AddValue(app, "--max-requests-inflight", s.max_in_flight,
           "reads at the same time, half of them of one user at most; 0: no limit");
  AddValue(app, "--max-mutating-requests-inflight", s.max_mutating_in_flight,
           "writes at the same time, half of them of one user at most; 0: no limit");
  AddValue(app, "--max-connections", s.max_connections,
           "connections at the same time; for a further one the one that waits longest is closed");
  AddValue(app, "--server-threads", s.server_threads,
           "threads that receive and send, and as many that write watches; 0: one for each "
           "processor, two to eight");
  AddValue(app, "--goaway-chance", s.goaway_chance,
           "probability with which an answer closes its connection, so that clients spread again");
  AddDuration(app, "--shutdown-delay-duration", s.shutdown_delay,
              "how long the service goes on, not ready, after the signal to stop");
}

void AddAuthenticationFlags(CLI::App& app, DelegationOptions& d) {
  kube::aggregation::AuthenticationOptions& a = d.authentication;
  AddValue(app, "--authentication-kubeconfig", d.authentication_kubeconfig,
           "kubeconfig with the right to review tokens; default: --kubeconfig")
      ->type_name("FILE");
  AddSwitch(app, "--authentication-skip-lookup", a.skip_lookup,
            "do not read the control plane's authorities of clients and front proxies");
  AddSwitch(app, "--authentication-tolerate-lookup-failure", a.tolerate_lookup_failure,
            "start without them, and go on looking");
  AddDuration(app, "--authentication-token-webhook-cache-ttl", d.token_ttl,
              "how long the answer to a token counts");
  AddValue(app, "--client-ca-file", a.client_ca_file, "authorities of client certificates")
      ->type_name("FILE");
  AddValue(app, "--requestheader-client-ca-file", a.requestheader_client_ca_file,
           "authorities of front proxies")
      ->type_name("FILE");
  AddList(app, "--requestheader-allowed-names", a.requestheader_allowed_names,
          "common names of front proxies; none: all")
      ->type_name("NAMES");
  AddList(app, "--requestheader-username-headers", a.requestheader_names.user,
          "headers with the user")
      ->type_name("NAMES");
  AddList(app, "--requestheader-uid-headers", a.requestheader_names.uid,
          "headers with the user's uid")
      ->type_name("NAMES");
  AddList(app, "--requestheader-group-headers", a.requestheader_names.group,
          "headers with the user's groups")
      ->type_name("NAMES");
  AddList(app, "--requestheader-extra-headers-prefix", a.requestheader_names.extra_prefix,
          "prefixes of the headers with extra attributes of the user")
      ->type_name("NAMES");
}

void AddAuthorizationFlags(CLI::App& app, DelegationOptions& d) {
  AddValue(app, "--authorization-kubeconfig", d.authorization_kubeconfig,
           "kubeconfig with the right to review accesses; default: --kubeconfig")
      ->type_name("FILE");
  AddDuration(app, "--authorization-webhook-cache-authorized-ttl", d.allowed_ttl,
              "how long a permission counts");
  AddDuration(app, "--authorization-webhook-cache-unauthorized-ttl", d.denied_ttl,
              "how long a refusal counts");
  AddList(app, "--authorization-always-allow-paths", d.always_allow_paths,
          "paths that everybody may read; a final * stands for any end")
      ->type_name("PATHS");
}

void AddStorageFlags(CLI::App& app, RegistryStorageOptions& s) {
  constexpr auto kBackends = base::Enumerate<RegistryBackend>(
      {{RegistryBackend::kEtcd, "etcd"}, {RegistryBackend::kCustomResources, "custom-resources"}});
  config::AddChoice(app, "--registry-storage", s.backend, kBackends,
                    "where ResourceRegistries are stored")
      ->type_name("BACKEND");
  AddList(app, "--etcd-servers", s.etcd_servers, "URLs of etcd")->type_name("URLS");
  AddValue(app, "--etcd-prefix", s.etcd_prefix, "beginning of all keys");
  AddValue(app, "--etcd-cafile", s.etcd_ca_file, "authorities of etcd's certificate")
      ->type_name("FILE");
  AddValue(app, "--etcd-certfile", s.etcd_cert_file, "client certificate for etcd")
      ->type_name("FILE");
  AddValue(app, "--etcd-keyfile", s.etcd_key_file, "private key of --etcd-certfile")
      ->type_name("FILE");
  AddDuration(app, "--etcd-healthcheck-timeout", s.etcd_health_timeout,
              "how long the storage may take to say that it is healthy; the smaller of this and "
              "--etcd-readycheck-timeout counts");
  AddDuration(app, "--etcd-readycheck-timeout", s.etcd_ready_timeout,
              "see --etcd-healthcheck-timeout");
  AddDuration(app, "--etcd-compaction-interval", s.etcd_compaction_interval,
              "time between two compactions of etcd; 0: this program compacts nothing");
}

void AddAuditFlags(CLI::App& app, AuditOptions& a) {
  constexpr auto kLevels = base::Enumerate<AuditLevel>(
      {{AuditLevel::kNone, "None"}, {AuditLevel::kMetadata, "Metadata"}});
  config::AddChoice(
      app, "--audit-level", a.level, kLevels,
      "what the audit log has: nothing, as upstream without a policy, or who did what")
      ->type_name("LEVEL");
  AddValue(app, "--audit-log-path", a.path, "file of the audit log; - is standard output")
      ->type_name("FILE");
  AddValue(app, "--audit-log-maxsize", a.max_megabytes,
           "megabytes after which the file is renamed; 0: never");
  app.add_option("--audit-log-maxbackup", a.max_files,
                 "renamed files that are kept; 0: all; default: 100 as Karmada v1.19, 0 as v1.18");
  app.add_option(
      "--audit-log-maxage", a.max_age_days,
      "days after which renamed files are removed, by the time in their names; 0: never; "
      "default: 366 as Karmada v1.19, 0 as v1.18");
}

void AddLoggingFlags(CLI::App& app, config::Logging& logging) {
  AddValue(app, "-v,--v", logging.verbosity, "log verbosity");
  AddValue(app, "--vmodule", logging.vmodule, "verbosity per file: pattern=N,...")
      ->type_name("LEVELS");
  config::AddChoice(app, "--logging-format", logging.format, config::kLogFormats,
                    "how to write the log")
      ->type_name("FORMAT");
}

absl::Status Refused(absl::string_view flag, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", why));
}

// kInvalidArgument unless both or none of two flags are set.
absl::Status CheckPair(const std::string& a, const std::string& b, absl::string_view flags) {
  if (a.empty() == b.empty()) return absl::OkStatus();
  return Refused(flags, "must be set together");
}

absl::Status NotNegative(absl::string_view flag, absl::Duration d) {
  return d < absl::ZeroDuration() ? Refused(flag, "must not be negative") : absl::OkStatus();
}

absl::Status NotNegative(absl::string_view flag, double number) {
  return number < 0 ? Refused(flag, "must not be negative") : absl::OkStatus();
}

absl::Status ValidateServing(const ServingOptions& s) {
  if (s.secure_port < 0 || s.secure_port > 65535) {
    return Refused("--secure-port", absl::StrCat(s.secure_port, " is not a port"));
  }
  RETURN_IF_ERROR(
      base::Annotate(base::ParseListenAddress(ListenAddressOf(s)).status(), "--bind-address"));
  RETURN_IF_ERROR(CheckPair(s.tls_cert_file, s.tls_private_key_file,
                            "--tls-cert-file and --tls-private-key-file"));
  if (s.request_timeout <= absl::ZeroDuration()) {
    return Refused("--request-timeout", "must be greater than 0");
  }
  RETURN_IF_ERROR(NotNegative("--min-request-timeout", s.min_request_timeout_seconds));
  RETURN_IF_ERROR(NotNegative("--max-requests-inflight", s.max_in_flight));
  RETURN_IF_ERROR(NotNegative("--max-mutating-requests-inflight", s.max_mutating_in_flight));
  RETURN_IF_ERROR(NotNegative("--shutdown-delay-duration", s.shutdown_delay));
  if (s.max_connections < 1) return Refused("--max-connections", "must be above 0");
  if (s.server_threads < 0 || s.server_threads > 256) {
    return Refused("--server-threads", "must be between 0 and 256");
  }
  // Upstream's limit.
  if (!(s.goaway_chance >= 0 && s.goaway_chance <= 0.02)) {
    return Refused("--goaway-chance", "must be between 0 and 0.02");
  }
  return absl::OkStatus();
}

absl::Status ValidateStorage(const RegistryStorageOptions& s) {
  RETURN_IF_ERROR(
      CheckPair(s.etcd_cert_file, s.etcd_key_file, "--etcd-certfile and --etcd-keyfile"));
  RETURN_IF_ERROR(NotNegative("--etcd-healthcheck-timeout", s.etcd_health_timeout));
  RETURN_IF_ERROR(NotNegative("--etcd-readycheck-timeout", s.etcd_ready_timeout));
  RETURN_IF_ERROR(NotNegative("--etcd-compaction-interval", s.etcd_compaction_interval));
  if (s.backend == RegistryBackend::kEtcd && s.etcd_servers.empty()) {
    return Refused("--etcd-servers", "must be set, unless --registry-storage=custom-resources is");
  }
  return absl::OkStatus();
}

absl::Status Validate(const SearchOptions& o, const CLI::App& app) {
  RETURN_IF_ERROR(CheckOtherFlags(app));
  RETURN_IF_ERROR(config::CheckVmodule(o.logging.vmodule));
  RETURN_IF_ERROR(ValidateServing(o.serving));
  RETURN_IF_ERROR(ValidateStorage(o.storage));
  RETURN_IF_ERROR(kube::aggregation::Validate(o.delegation.authentication));
  RETURN_IF_ERROR(NotNegative("--authentication-token-webhook-cache-ttl", o.delegation.token_ttl));
  RETURN_IF_ERROR(
      NotNegative("--authorization-webhook-cache-authorized-ttl", o.delegation.allowed_ttl));
  RETURN_IF_ERROR(
      NotNegative("--authorization-webhook-cache-unauthorized-ttl", o.delegation.denied_ttl));
  RETURN_IF_ERROR(NotNegative("--cluster-memory-mib", o.cluster_memory_mib));
  RETURN_IF_ERROR(NotNegative("--watch-history", o.watch_history));
  RETURN_IF_ERROR(NotNegative("--watch-history-mebibytes", o.watch_history_mebibytes));
  RETURN_IF_ERROR(NotNegative("--audit-log-maxsize", o.audit.max_megabytes));
  RETURN_IF_ERROR(NotNegative("--audit-log-maxbackup", o.audit.max_files.value_or(0)));
  RETURN_IF_ERROR(NotNegative("--audit-log-maxage", o.audit.max_age_days.value_or(0)));
  for (const auto& [flag, rate] : std::initializer_list<std::pair<const char*, double>>{
           {"--kube-api-qps", o.kube_api_qps}, {"--cluster-api-qps", o.cluster_api_qps}}) {
    RETURN_IF_ERROR(NotNegative(flag, rate));
  }
  RETURN_IF_ERROR(NotNegative("--kube-api-burst", o.kube_api_burst));
  return NotNegative("--cluster-api-burst", o.cluster_api_burst);
}

// Warns of each of the flags that was given.
void WarnOfGiven(const CLI::App& app, std::initializer_list<const char*> flags,
                 absl::string_view why, SearchOptions& o) {
  for (const char* flag : flags) {
    if (config::IsGiven(app, flag)) {
      o.warnings.push_back(absl::StrCat(flag, " has no effect ", why));
    }
  }
}

// Warns of combinations of flags whose effect is not obvious.
void WarnOfCombinations(const CLI::App& app, SearchOptions& o) {
  if (o.storage.backend != RegistryBackend::kEtcd) {
    WarnOfGiven(
        app,
        {"--etcd-servers", "--etcd-prefix", "--etcd-cafile", "--etcd-certfile", "--etcd-keyfile",
         "--etcd-healthcheck-timeout", "--etcd-readycheck-timeout", "--etcd-compaction-interval"},
        "with --registry-storage=custom-resources", o);
  }
  if (o.delegation.authentication.requestheader_client_ca_file.empty()) {
    WarnOfGiven(app,
                {"--requestheader-username-headers", "--requestheader-uid-headers",
                 "--requestheader-group-headers", "--requestheader-extra-headers-prefix"},
                "without --requestheader-client-ca-file: the names that the control plane "
                "publishes count",
                o);
  }
  if (o.audit.path.empty()) {
    WarnOfGiven(app, {"--audit-log-maxsize", "--audit-log-maxbackup", "--audit-log-maxage"},
                "without --audit-log-path", o);
    if (o.audit.level != AuditLevel::kNone) {
      o.warnings.push_back("--audit-level=Metadata has no effect without --audit-log-path");
    }
  }
  if (!o.audit.path.empty() && o.audit.level == AuditLevel::kNone) {
    o.warnings.push_back(
        "--audit-log-path has no effect without --audit-level=Metadata: upstream writes nothing "
        "either without --audit-policy-file");
  }
  if (o.disable_proxy && o.disable_search && o.authorize_cached_reads) {
    o.warnings.push_back(
        "--authorize-cached-reads has no effect with --disable-proxy and --disable-search");
  }
}

// Names of header fields are compared in lower case.
void LowerNames(kube::aggregation::RequestHeaderNames& names) {
  for (auto* list : {&names.user, &names.uid, &names.group, &names.extra_prefix}) {
    for (std::string& name : *list) absl::AsciiStrToLower(&name);
  }
}

ParsedSearchFlags Exit(int code, std::string output) {
  ParsedSearchFlags parsed;
  parsed.exit_code = code;
  parsed.output = std::move(output);
  return parsed;
}

ParsedSearchFlags Refusal(absl::string_view why) {
  return Exit(config::kUsageExitCode,
              absl::StrCat("Error: ", why, "\nRun ", kName, " --help for the flags.\n"));
}

}  // namespace

void SearchOptions::Emulate(config::Release as) {
  constexpr int kFilesSinceV1_19 = 100, kDaysSinceV1_19 = 366;
  const bool is_old = as == config::Release::kV1_18;
  release = as;
  if (!audit.max_files.has_value()) audit.max_files = is_old ? 0 : kFilesSinceV1_19;
  if (!audit.max_age_days.has_value()) audit.max_age_days = is_old ? 0 : kDaysSinceV1_19;
}

std::string ListenAddressOf(const ServingOptions& serving) {
  // The port would not be recognizable behind a bare IPv6 address.
  const bool is_ipv6 = absl::StrContains(serving.bind_address, ':');
  return absl::StrCat(is_ipv6 ? "[" : "", serving.bind_address, is_ipv6 ? "]" : "", ":",
                      serving.secure_port);
}

ParsedSearchFlags ParseSearchFlags(int argc, const char* const* argv) {
  ParsedSearchFlags parsed;
  SearchOptions& options = parsed.options;
  CLI::App app("One cache of all member clusters of a Karmada control plane: search and proxy.",
               kName);
  // The last value of a flag that is given twice counts, as in Go programs.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  config::AddHelpAndVersion(app);
  AddFeatureFlags(app, options);
  AddServingFlags(app, options.serving);
  AddAuthenticationFlags(app, options.delegation);
  AddAuthorizationFlags(app, options.delegation);
  AddStorageFlags(app, options.storage);
  AddAuditFlags(app, options.audit);
  AddLoggingFlags(app, options.logging);
  AddKubernetesGates(app, options.gates);
  config::AddReleaseFlag(app, options.wanted_release,
                         "release of Karmada whose defaults this program has; without it that of "
                         "the control plane at the start, as its definitions show");
  AddOtherFlags(app);
  const absl::StatusOr<std::string> answer =
      config::ParseWords(app, config::NormalizedWords(argc, argv));
  if (!answer.ok()) return Refusal(answer.status().message());
  if (!answer->empty()) return Exit(0, *answer);
  // It precedes the validation, which compares them.
  LowerNames(options.delegation.authentication.requestheader_names);
  const absl::Status valid = Validate(options, app);
  if (!valid.ok()) return Refusal(valid.message());
  options.warnings = OtherFlagWarnings(app);
  for (std::string& warning : options.gates.Warnings()) {
    options.warnings.push_back(std::move(warning));
  }
  WarnOfCombinations(app, options);
  options.changed_flags = config::ChangedFlags(app);
  return parsed;
}

}  // namespace cmd
