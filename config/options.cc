// Turns the command line of karmada-controller-manager into Options, in this order: flags that were
// removed are refused; the words are parsed; values that upstream refuses, too, are refused (the
// first mistake ends the program with exit code 2); warnings are collected about flags and gates
// that have no effect; values that upstream accepts although they stop it from working are
// adjusted, with a warning. Warnings are returned and not logged, because logging is configured by
// the same flags.

#include "config/options.h"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/listen_address.h"
#include "base/pem_files.h"
#include "base/status.h"
#include "config/admission_flags.h"
#include "config/command_line.h"
#include "config/flag_types.h"
#include "config/internal/option_checks.h"
#include "config/internal/parse_end.h"
#include "config/internal/removed_flags.h"
#include "config/internal/unused_flags.h"
#include "config/internal/used_flags.h"
#include "config/permission_flags.h"
#include "config/shadow_flags.h"
#include "config/skipped_apis.h"
#include "config/skipped_namespaces.h"
#include "config/support.h"
#include "kube/meta/selector.h"

namespace config {
namespace {

absl::Status Positive(const char* flag, absl::Duration d) {
  if (d > absl::ZeroDuration()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, ": must be greater than 0"));
}

// "0" switches the server off, and so does "", but for --metrics-bind-address.
absl::Status CheckAddress(absl::string_view flag, const std::string& address) {
  if (address.empty() || address == "0") return absl::OkStatus();
  return base::Annotate(base::ParseListenAddress(address).status(), flag);
}

absl::Status ValidateElection(const LeaderElection& l) {
  if (!l.enabled) return absl::OkStatus();
  // The rules are client-go's: a leader has to notice that it cannot renew before others take its
  // lease.
  if (l.lease_duration <= l.renew_deadline || l.renew_deadline <= l.retry_period * 1.2) {
    return absl::InvalidArgumentError(
        "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline, which "
        "must be greater than --leader-elect-retry-period * 1.2");
  }
  RETURN_IF_ERROR(Positive("--leader-elect-retry-period", l.retry_period));
  return base::Annotate(kube::ValidateDns1123Label(l.resource_namespace),
                        "--leader-elect-resource-namespace \"", l.resource_namespace, "\"");
}

absl::Status ValidateEviction(const TaintEviction& e) {
  if (!(e.rate >= 0)) {
    return absl::InvalidArgumentError(
        "--resource-eviction-rate: must be greater than or equal to 0");
  }
  // Upstream looks at the mode only when there are evictions, too.
  if (e.no_execute && e.purge_mode != "Gracefully" && e.purge_mode != "Directly") {
    return absl::InvalidArgumentError(
        "--no-execute-taint-eviction-purge-mode: must be Gracefully or Directly");
  }
  return absl::OkStatus();
}

absl::Status Validate(const Options& o) {
  RETURN_IF_ERROR(ValidateElection(o.leader_election));
  RETURN_IF_ERROR(ValidateEviction(o.taint_eviction));
  RETURN_IF_ERROR(CheckAddress("--metrics-bind-address", o.metrics_bind_address));
  RETURN_IF_ERROR(CheckAddress("--health-probe-bind-address", o.health_probe_bind_address));
  RETURN_IF_ERROR(CheckVmodule(o.logging.vmodule));
  RETURN_IF_ERROR(
      Positive("--cluster-status-update-frequency", o.clusters.status_update_frequency));
  RETURN_IF_ERROR(Positive("--cluster-monitor-period", o.clusters.monitor_period));
  RETURN_IF_ERROR(Positive("--cluster-monitor-grace-period", o.clusters.monitor_grace_period));
  RETURN_IF_ERROR(Positive("--cluster-startup-grace-period", o.clusters.startup_grace_period));
  RETURN_IF_ERROR(Positive("--federated-resource-quota-sync-period", o.quota_sync_period));
  RETURN_IF_ERROR(Positive("--lua-timeout", o.scripts.timeout));
  if (o.scripts.memory_mib < 1) {
    return absl::InvalidArgumentError("--lua-memory-mib: must be greater than 0");
  }
  if (o.clusters.memory_mib < 0) {
    return absl::InvalidArgumentError("--cluster-memory-mib: must not be negative");
  }
  if (o.profiling.enabled) {
    RETURN_IF_ERROR(CheckAddress("--profiling-bind-address", o.profiling.bind_address));
  }
  RETURN_IF_ERROR(SkippedApis::Parse(o.skipped_propagating_apis).status());
  return SkippedNamespaces::Create(o.skipped_propagating_namespaces).status();
}

absl::Status ValidateAdmission(const AdmissionFlags& a) {
  constexpr char kAddress[] = "--interpreter-admission-bind-address";
  constexpr char kCertificate[] = "--interpreter-admission-tls-cert-file";
  constexpr char kKey[] = "--interpreter-admission-tls-private-key-file";
  RETURN_IF_ERROR(CheckAddress(kAddress, a.bind_address));
  if (!a.IsOn()) {
    if (a.certificate_file.empty() && a.key_file.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(a.certificate_file.empty() ? kKey : kCertificate, "=",
                     a.certificate_file.empty() ? a.key_file : a.certificate_file,
                     " has no effect without ", kAddress));
  }
  if (a.certificate_file.empty() || a.key_file.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kAddress, " needs ", kCertificate, " and ", kKey));
  }
  return tls::ReadKeyPair({kCertificate, a.certificate_file}, {kKey, a.key_file}).status();
}

void Warn(Options& o, absl::string_view flag, std::string text) {
  o.warnings.push_back({{std::string(flag)}, std::move(text)});
}

// Replaces a number that is too small by `least` and adds a warning.
template <class T>
void AtLeast(T least, absl::string_view flag, T& value, Options& o) {
  if (value >= least) return;
  Warn(o, flag, absl::StrCat(flag, "=", value, " is too small: ", least, " is used"));
  value = least;
}

template <class T>
void DefaultUnlessPositive(T standard, absl::string_view flag, T& value, Options& o) {
  if (value > T{}) return;
  std::string given, used;
  if constexpr (std::is_same_v<T, absl::Duration>) {
    given = absl::FormatDuration(value), used = absl::FormatDuration(standard);
  } else {
    given = absl::StrCat(value), used = absl::StrCat(standard);
  }
  Warn(o, flag, absl::StrCat(flag, "=", given, " is not positive: ", used, " is used"));
  value = standard;
}

// A rate that is not positive means no limit; a burst has an effect only together with a rate.
void AdjustRate(absl::string_view server, double& qps, int& burst, Options& o) {
  const std::string rate_flag = absl::StrCat("--", server, "-api-qps");
  const std::string burst_flag = absl::StrCat("--", server, "-api-burst");
  AtLeast(0.0, rate_flag, qps, o);
  AtLeast(0, burst_flag, burst, o);
  if (burst > 0 && qps == 0) {
    Warn(o, burst_flag,
         absl::StrCat(burst_flag, "=", burst, " has no effect without ", rate_flag,
                      ": requests are sent as fast as the server answers"));
  }
}

// client-go's informers do not resync more often than that either.
constexpr absl::Duration kShortestResync = absl::Seconds(1);

void AdjustResync(Options& o) {
  const absl::Duration given = o.resync_period;
  if (given == absl::ZeroDuration() || given >= kShortestResync) return;
  const bool is_off = given < absl::ZeroDuration();
  o.resync_period = is_off ? absl::ZeroDuration() : kShortestResync;
  constexpr char kFlag[] = "--resync-period";
  Warn(o, kFlag,
       absl::StrCat(
           kFlag, "=", absl::FormatDuration(given),
           is_off ? " is negative: 0 is used, which means never" : " is too short: 1s is used"));
}

// Upstream accepts these values, although some of them silently stop it from working.
void Adjust(Options& o) {
  // Only "0" switches the metrics off, as in controller-runtime.
  if (o.metrics_bind_address.empty()) o.metrics_bind_address = Options().metrics_bind_address;
  AdjustResync(o);
  Concurrency& c = o.concurrency;
  AtLeast(1, "--concurrent-work-syncs", c.work, o);
  AtLeast(1, "--concurrent-resourcebinding-syncs", c.resource_binding, o);
  AtLeast(1, "--concurrent-clusterresourcebinding-syncs", c.cluster_resource_binding, o);
  AtLeast(1, "--concurrent-cluster-syncs", c.cluster, o);
  AtLeast(1, "--concurrent-namespace-syncs", c.namespace_, o);
  AtLeast(1, "--concurrent-resource-template-syncs", c.resource_template, o);
  AtLeast(1, "--concurrent-propagation-policy-syncs", c.propagation_policy, o);
  AtLeast(1, "--concurrent-cluster-propagation-policy-syncs", c.cluster_propagation_policy, o);
  AdjustRate("kube", o.kube_api_qps, o.kube_api_burst, o);
  AdjustRate("cluster", o.cluster_api_qps, o.cluster_api_burst, o);
  PodAutoscaling& a = o.pod_autoscaling;
  DefaultUnlessPositive(PodAutoscaling().sync_period, "--horizontal-pod-autoscaler-sync-period",
                        a.sync_period, o);
  AtLeast(0.0, "--horizontal-pod-autoscaler-tolerance", a.tolerance, o);
  const RateLimits standard;
  RateLimits& l = o.rate_limits;
  DefaultUnlessPositive(standard.base_delay, "--rate-limiter-base-delay", l.base_delay, o);
  DefaultUnlessPositive(standard.max_delay, "--rate-limiter-max-delay", l.max_delay, o);
  DefaultUnlessPositive(standard.qps, "--rate-limiter-qps", l.qps, o);
  DefaultUnlessPositive(standard.bucket_size, "--rate-limiter-bucket-size", l.bucket_size, o);
}

// Upstream does nothing in these cases either, without saying so.
void WarnOfGates(Options& o) {
  internal::WarnOfControllersBehindGates(Controllers(), o);
  if (o.quota_sync_period != Options().quota_sync_period &&
      !o.gates.Enabled(Gate::kFederatedQuotaEnforcement)) {
    constexpr char kFlag[] = "--federated-resource-quota-sync-period";
    Warn(o, kFlag,
         absl::StrCat(kFlag,
                      " has no effect without --feature-gates=FederatedQuotaEnforcement=true"));
  }
  if (o.gates.Enabled(Gate::kTransitiveDependencies) && !o.gates.Enabled(Gate::kPropagateDeps)) {
    o.warnings.push_back({{"--feature-gates"},
                          "the gate TransitiveDependencies has no effect without PropagateDeps",
                          {std::string(FeatureGates::NameOf(Gate::kTransitiveDependencies))}});
  }
}

// Each of these combinations leaves the taint manager without any eviction.
void WarnOfEviction(Options& o) {
  static constexpr char kFlag[] = "--enable-no-execute-taint-eviction";
  constexpr char kMode[] = "--no-execute-taint-eviction-purge-mode";
  constexpr char kRate[] = "--resource-eviction-rate";
  const TaintEviction standard;
  const TaintEviction& given = o.taint_eviction;
  if (!given.no_execute) {
    if (o.gates.Enabled(Gate::kFailover)) {
      o.warnings.push_back({{"--feature-gates"},
                            absl::StrCat("the gate Failover moves nothing away from clusters with "
                                         "NoExecute taints without ",
                                         kFlag),
                            {std::string(FeatureGates::NameOf(Gate::kFailover))},
                            /*as_upstream=*/true});
    }
    std::vector<std::string> flags;
    if (given.purge_mode != standard.purge_mode) flags.emplace_back(kMode);
    if (given.rate != standard.rate) flags.emplace_back(kRate);
    if (flags.empty()) return;
    o.warnings.push_back(
        {std::move(flags), absl::StrCat(kMode, " and ", kRate, " have no effect without ", kFlag)});
    return;
  }
  const auto warn = [&o](absl::string_view why) {
    Warn(o, kFlag, absl::StrCat(kFlag, " has no effect ", why));
  };
  if (!o.gates.Enabled(Gate::kFailover)) {
    warn("without --feature-gates=Failover=true");
  } else if (!given.manager) {
    warn("with --enable-taint-manager=false");
  } else if (!o.ControllerEnabled("cluster")) {
    warn("without the controller \"cluster\"");
  }
}

void WarnOfElection(Options& o) {
  const LeaderElection standard;
  const LeaderElection& given = o.leader_election;
  if (given.enabled || o.shadow) return;
  if (o.warm_stand_by) {
    Warn(o, "--warm-stand-by", "--warm-stand-by has no effect with --leader-elect=false");
  }
  const std::pair<const char*, bool> flags[] = {
      {"--leader-elect-lease-duration", given.lease_duration != standard.lease_duration},
      {"--leader-elect-renew-deadline", given.renew_deadline != standard.renew_deadline},
      {"--leader-elect-retry-period", given.retry_period != standard.retry_period},
      {"--leader-elect-release-on-exit", given.release_on_exit}};
  for (const auto& [flag, is_given] : flags) {
    if (!is_given) continue;
    Warn(o, flag, absl::StrCat(flag, " has no effect with --leader-elect=false"));
    o.warnings.back().as_upstream = true;
  }
}

void WarnOfClusterApi(Options& o) {
  if (o.cluster_api_context.empty() || !o.cluster_api_kubeconfig.empty()) return;
  Warn(o, "--cluster-api-context",
       "--cluster-api-context has no effect without --cluster-api-kubeconfig");
}

void WarnOfShadow(Options& o) {
  if (!o.shadow) return;
  constexpr char kFlag[] = "--shadow";
  Warn(o, kFlag,
       "--shadow: nothing is written; writes that would be made are reported in this log, at "
       "/shadow beside /metrics, and in karmada_shadow_writes_total");
  Warn(o, kFlag,
       "--shadow: there is no leader election: this process neither waits for the lease nor takes "
       "it, and it records no events");
  if (o.warm_stand_by) Warn(o, "--warm-stand-by", "--warm-stand-by has no effect with --shadow");
  if (o.cluster_api_kubeconfig.empty()) return;
  Warn(o, "--cluster-api-kubeconfig",
       "--cluster-api-kubeconfig: a shadow does not show the joins of Cluster API, because they "
       "need tokens that are not made for it");
}

Parsed Refused(absl::string_view why) {
  return internal::Refused<Parsed>(why, "karmada-controller-manager");
}

}  // namespace

namespace internal {

absl::Status ValidateOptions(const Options& options) { return Validate(options); }

void WarnOfControllersBehindGates(absl::Span<const ControllerSupport> known, Options& options) {
  for (const ControllerSupport& controller : known) {
    const bool named = std::find(options.controllers.begin(), options.controllers.end(),
                                 controller.name) != options.controllers.end();
    if (!named || !controller.gate.has_value() || options.gates.Enabled(*controller.gate)) continue;
    Warn(options, "--controllers",
         absl::StrCat("--controllers: ", controller.name, " has no effect without --feature-gates=",
                      FeatureGates::NameOf(*controller.gate), "=true"));
  }
}

void WarnAndAdjust(Options& options) {
  if (!options.profiling.enabled && options.profiling.bind_address != Profiling().bind_address) {
    Warn(options, "--profiling-bind-address",
         "--profiling-bind-address has no effect without --enable-pprof");
  }
  WarnOfElection(options);
  // It is the last one to change values, so that the warnings speak of what the user gave.
  Adjust(options);
}

}  // namespace internal

bool Options::ControllerEnabled(const std::string& name, bool on_by_default) const {
  // The first token that names the controller counts, and "*" only if none does, wherever it
  // stands.
  bool all = false;
  for (const std::string& token : controllers) {
    if (token == name) return true;
    if (token == absl::StrCat("-", name)) return false;
    all = all || token == "*";
  }
  return all && on_by_default;
}

Parsed ParseCommandLine(int argc, const char* const* argv) {
  AdmissionFlags unused;
  return ParseCommandLine(argc, argv, unused);
}

Parsed ParseCommandLine(int argc, const char* const* argv, AdmissionFlags& admission) {
  PermissionFlags unused;
  return ParseCommandLine(argc, argv, admission, unused);
}

Parsed ParseCommandLine(int argc, const char* const* argv, AdmissionFlags& admission,
                        PermissionFlags& permissions) {
  ShadowFlags unused;
  return ParseCommandLine(argc, argv, admission, permissions, unused);
}

Parsed ParseCommandLine(int argc, const char* const* argv, AdmissionFlags& admission,
                        PermissionFlags& permissions, ShadowFlags& shadow) {
  Parsed parsed;
  Options& options = parsed.options;
  CLI::App app("The controllers of a Karmada control plane.", "karmada-controller-manager");
  // As in Go, the last value counts.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  internal::AddPermissions(app, permissions);
  AddHelpAndVersion(app);
  internal::AddUsedFlags(app, options);
  internal::AddAdmissionFlags(app, admission);
  internal::AddShadowFlags(app, shadow);
  internal::AddUnusedFlags(app);
  std::vector<std::string> arguments = NormalizedWords(argc, argv);
  const absl::Status known = internal::CheckForRemovedFlags(arguments);
  if (!known.ok()) return Refused(known.message());
  const absl::StatusOr<std::string> answer = ParseWords(app, std::move(arguments));
  if (!answer.ok()) return Refused(answer.status().message());
  if (!answer->empty()) return internal::Exit<Parsed>(0, *answer);
  if (options.wanted_release.has_value()) options.Emulate(*options.wanted_release);
  absl::Status valid = Validate(options);
  // Update keeps the first error.
  valid.Update(ValidateAdmission(admission));
  valid.Update(internal::ValidatePermissions(permissions));
  valid.Update(internal::ValidateShadow(options, shadow));
  if (!valid.ok()) return Refused(valid.message());
  options.warnings = internal::UnusedFlagWarnings(app);
  for (Warning& warning : options.gates.Warnings()) options.warnings.push_back(std::move(warning));
  for (Warning& warning : WarningsOfControllers(options.controllers)) {
    options.warnings.push_back(std::move(warning));
  }
  WarnOfGates(options);
  WarnOfEviction(options);
  WarnOfClusterApi(options);
  WarnOfShadow(options);
  internal::WarnAndAdjust(options);
  options.changed_flags = ChangedFlags(app);
  options.settings = internal::SettingsOf(app);
  return parsed;
}

std::vector<FlagSupport> Flags() {
  CLI::App app;
  Options unused;
  AdmissionFlags unused_admission;
  ShadowFlags unused_shadow;
  internal::AddUsedFlags(app, unused);
  internal::AddAdmissionFlags(app, unused_admission);
  internal::AddShadowFlags(app, unused_shadow);
  return internal::FlagTable(app, internal::UsedFlagNotes(), internal::UnusedFlagSupport());
}

}  // namespace config
