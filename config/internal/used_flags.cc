// Declares every flag that has an effect, by group, with the text of --help. The defaults are those
// of the fields of Options: AddValue and the others show them in the help, so they stand in one
// place. What a combination of flags means is checked in config/options.cc, after all of them are
// parsed. UsedFlagNotes has remarks for docs/support.md; a test compares the two.

#include "config/internal/used_flags.h"

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "base/enumerated.h"
#include "config/flag_types.h"
#include "config/shadow_flags.h"

namespace config::internal {
namespace {

void AddGatesAndRelease(CLI::App& app, Options& o) {
  app.add_option_function<std::vector<std::string>>(
         "--feature-gates",
         [&o](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const absl::Status set = o.gates.Set(text);
             if (!set.ok())
               throw CLI::ValidationError("--feature-gates", std::string(set.message()));
           }
         },
         absl::StrCat("Name=true|false pairs:\n", FeatureGates::Describe()))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("PAIRS");
  AddReleaseFlag(
      app, o.wanted_release,
      "release of Karmada whose defaults, reasons and metrics this program has; without it "
      "that of the control plane, as its definitions show");
}

void AddHealthAddress(CLI::App& app, Options& o) {
  AddValue(app, "--health-probe-bind-address", o.health_probe_bind_address,
           "address of /healthz, /livez and /readyz; 0 for none")
      ->type_name("HOST:PORT");
}

void AddElectionFlags(CLI::App& app, Options& o) {
  LeaderElection& l = o.leader_election;
  AddSwitch(app, "--leader-elect", l.enabled, "run only while holding the leader lease");
  AddValue(app, "--leader-elect-resource-namespace", l.resource_namespace, "namespace of the lease")
      ->type_name("NAME");
  AddDuration(app, "--leader-elect-lease-duration", l.lease_duration,
              "how long others wait before they take a silent leader's lease");
  AddDuration(app, "--leader-elect-renew-deadline", l.renew_deadline,
              "how long the leader tries to renew before it gives up");
  AddDuration(app, "--leader-elect-retry-period", l.retry_period, "wait between attempts");
  AddSwitch(app, "--leader-elect-release-on-exit", l.release_on_exit,
            "give the lease up when this process has stopped, so that a stand-by with this flag "
            "leads at once");
}

void AddProfilingFlags(CLI::App& app, Options& o) {
  AddSwitch(app, "--enable-pprof", o.profiling.enabled,
            "serve CPU and heap profiles for go tool pprof; the process then runs with tcmalloc");
  AddValue(app, "--profiling-bind-address", o.profiling.bind_address, "address of /debug/pprof/")
      ->type_name("HOST:PORT");
}

void AddServerFlags(CLI::App& app, Options& o) {
  AddValue(app, "--kubeconfig", o.kubeconfig, "kubeconfig of the Karmada control plane")
      ->type_name("FILE");
  AddList(app, "--controllers", o.controllers,
          "controllers to run: * (all that are on by default), name, -name")
      ->type_name("NAMES");
  AddGatesAndRelease(app, o);
  AddValue(app, "--metrics-bind-address", o.metrics_bind_address,
           "address of /metrics, /configz and, with --shadow, /shadow; 0 for none")
      ->type_name("HOST:PORT");
  AddHealthAddress(app, o);
  AddElectionFlags(app, o);
  AddSwitch(app, "--shadow", o.shadow,
            "write nothing, neither to the control plane nor to members, and report what would be "
            "written; without leader election, beside another controller manager");
  AddSwitch(app, "--warm-stand-by", o.warm_stand_by,
            "while another process leads, follow the members as well, so that this one is at work "
            "at once when it leads; one more watch for each kind in each member");
  AddProfilingFlags(app, o);
}

// Rates are per second, sizes in MiB.
void AddRateFlags(CLI::App& app, Options& o) {
  AddValue(app, "--kube-api-qps", o.kube_api_qps,
           "requests per second to the control plane; 0: as fast as it answers");
  AddValue(app, "--kube-api-burst", o.kube_api_burst, "burst of --kube-api-qps");
  AddValue(app, "--cluster-api-qps", o.cluster_api_qps,
           "requests per second to each member cluster; 0: as fast as it answers");
  AddValue(app, "--cluster-api-burst", o.cluster_api_burst, "burst of --cluster-api-qps");
  AddDuration(app, "--rate-limiter-base-delay", o.rate_limits.base_delay,
              "first back-off of a failing key");
  AddDuration(app, "--rate-limiter-max-delay", o.rate_limits.max_delay,
              "longest back-off of a failing key");
  AddValue(app, "--rate-limiter-qps", o.rate_limits.qps, "re-queues per second of one queue");
  AddValue(app, "--rate-limiter-bucket-size", o.rate_limits.bucket_size,
           "burst of --rate-limiter-qps");
  AddDuration(app, "--lua-timeout", o.scripts.timeout,
              "how long one run of a customization's script may take");
  AddValue(app, "--lua-memory-mib", o.scripts.memory_mib,
           "MiB that one run of a customization's script may hold");
}

void AddConcurrencyFlags(CLI::App& app, Options& o) {
  Concurrency& c = o.concurrency;
  AddValue(app, "--concurrent-resourcebinding-syncs", c.resource_binding,
           "workers for ResourceBindings");
  AddValue(app, "--concurrent-clusterresourcebinding-syncs", c.cluster_resource_binding,
           "workers for ClusterResourceBindings");
  AddValue(app, "--concurrent-namespace-syncs", c.namespace_, "workers for Namespaces");
  AddValue(app, "--concurrent-resource-template-syncs", c.resource_template,
           "workers for templates");
  AddValue(app, "--concurrent-propagation-policy-syncs", c.propagation_policy,
           "workers for PropagationPolicies");
  AddValue(app, "--concurrent-cluster-propagation-policy-syncs", c.cluster_propagation_policy,
           "workers for ClusterPropagationPolicies");
}

void AddClusterApiFlags(CLI::App& app, Options& o) {
  AddValue(app, "--cluster-api-kubeconfig", o.cluster_api_kubeconfig,
           "kubeconfig of the management cluster of Cluster API, whose clusters are then joined")
      ->type_name("FILE");
  AddValue(app, "--cluster-api-context", o.cluster_api_context,
           "context of --cluster-api-kubeconfig; empty for the current one")
      ->type_name("NAME");
}

void AddClusterFlags(CLI::App& app, Options& o) {
  ClusterMonitoring& c = o.clusters;
  AddDuration(app, "--cluster-monitor-period", c.monitor_period, "period of the health monitor");
  AddDuration(app, "--cluster-monitor-grace-period", c.monitor_grace_period,
              "silence after which a pull cluster becomes Unknown");
  AddDuration(app, "--cluster-startup-grace-period", c.startup_grace_period,
              "the same while the cluster never reported");
  AddDuration(app, "--graceful-eviction-timeout", o.graceful_eviction_timeout,
              "how long a workload that is moved stays in its old cluster at most");
  AddDuration(app, "--federated-resource-quota-sync-period", o.quota_sync_period,
              "how often FederatedResourceQuotas are added up again");
  AddValue(app, "--skipped-propagating-apis", o.skipped_propagating_apis,
           "semicolon separated: group, group/version or group/version/Kind,Kind")
      ->type_name("APIS");
  AddList(app, "--skipped-propagating-namespaces", o.skipped_propagating_namespaces,
          "regular expressions of namespaces that are never propagated")
      ->type_name("NAMES");
}

void AddEvictionFlags(CLI::App& app, Options& o) {
  TaintEviction& e = o.taint_eviction;
  AddSwitch(app, "--enable-taint-manager", e.manager,
            "run the taint manager, if the gate Failover is on");
  AddSwitch(app, "--enable-no-execute-taint-eviction", e.no_execute,
            "let the taint manager evict from clusters with NoExecute taints");
  AddValue(app, "--no-execute-taint-eviction-purge-mode", e.purge_mode,
           "how what it evicts is removed, unless the policy says it: Gracefully or Directly")
      ->type_name("MODE");
  AddValue(app, "--resource-eviction-rate", e.rate,
           "evictions per second of each of its workers; 0: one in 1800 s");
}

void AddAutoscalingFlags(CLI::App& app, Options& o) {
  PodAutoscaling& a = o.pod_autoscaling;
  AddDuration(app, "--horizontal-pod-autoscaler-sync-period", a.sync_period,
              "how often the target of each FederatedHPA is computed again");
  AddValue(app, "--horizontal-pod-autoscaler-tolerance", a.tolerance,
           "by how much a metric may differ from its target without a change: 0.1 is ten percent");
  AddDuration(app, "--horizontal-pod-autoscaler-downscale-stabilization", a.downscale_stabilization,
              "for how long a higher number that was asked for holds back a lower one");
  AddDuration(app, "--horizontal-pod-autoscaler-cpu-initialization-period",
              a.cpu_initialization_period,
              "for how long after its start the CPU use of a pod may count for nothing");
  AddDuration(app, "--horizontal-pod-autoscaler-initial-readiness-delay", a.initial_readiness_delay,
              "a pod that became unready within this time after its start counts as never ready");
}

void AddLoggingFlags(CLI::App& app, Options& o) {
  AddValue(app, "-v,--v", o.logging.verbosity, "log verbosity");
  AddValue(app, "--vmodule", o.logging.vmodule,
           "verbosity of controllers, by their names in the log, and of files: pattern=N,...")
      ->type_name("LEVELS");
  constexpr auto kSets = base::Enumerate<SuccessEvents>(
      {{SuccessEvents::kConcise, "concise"}, {SuccessEvents::kUpstream, "upstream"}});
  AddChoice(app, "--success-events", o.success_events, kSets,
            "successes that become events: what users wait for and ends of failures, or all that "
            "upstream reports, once per change")
      ->type_name("SET");
  AddChoice(app, "--logging-format", o.logging.format, kLogFormats, "how to write the log")
      ->type_name("FORMAT");
}

}  // namespace

void AddMemberFlags(CLI::App& app, Options& o) {
  AddValue(app, "--concurrent-work-syncs", o.concurrency.work, "workers for Works");
  AddValue(app, "--concurrent-cluster-syncs", o.concurrency.cluster, "workers for Clusters");
  ClusterMonitoring& c = o.clusters;
  AddDuration(app, "--cluster-status-update-frequency", c.status_update_frequency,
              "how often a cluster's status is collected");
  AddDuration(app, "--cluster-success-threshold", c.success_threshold,
              "how long a cluster must be healthy again before it counts as ready");
  AddDuration(app, "--cluster-failure-threshold", c.failure_threshold,
              "how long a cluster must be unhealthy before it counts as not ready");
  AddDuration(app, "--cluster-cache-sync-timeout", c.cache_sync_timeout,
              "how long informers may take to sync while no page of a list arrives");
  AddValue(app, "--cluster-memory-mib", c.memory_mib,
           "MiB that the cached objects of one member cluster may take; 0: three quarters of the "
           "memory limit, or 1024 without one");
  AddDuration(app, "--resync-period", o.resync_period,
              "hand every object to its controllers again after this time; 0: never");
  AddSwitch(app, "--member-server-side-apply", o.server_side_apply,
            "put objects into members by server-side apply, where the template's annotation "
            "resourcetemplate.karmada.io/server-side-apply does not say otherwise");
  AddSwitch(app, "--enable-cluster-resource-modeling", c.resource_modeling,
            "collect members' nodes and pods into Cluster.status");
}

void AddUsedFlags(CLI::App& app, Options& options) {
  AddServerFlags(app, options);
  AddRateFlags(app, options);
  AddConcurrencyFlags(app, options);
  AddMemberFlags(app, options);
  AddClusterFlags(app, options);
  AddClusterApiFlags(app, options);
  AddEvictionFlags(app, options);
  AddAutoscalingFlags(app, options);
  AddLoggingFlags(app, options);
}

void AddCommonFlags(CLI::App& app, Options& options) {
  AddGatesAndRelease(app, options);
  AddHealthAddress(app, options);
  AddElectionFlags(app, options);
  AddProfilingFlags(app, options);
  AddRateFlags(app, options);
  AddLoggingFlags(app, options);
}

void AddShadowFlags(CLI::App& app, ShadowFlags& flags) {
  AddValue(app, "--shadow-report", flags.report,
           "with --shadow: end by itself, write a report there (- for standard output), and exit "
           "with 0 (it would write nothing else than the leader), 3 (it would) or 4 (the time was "
           "over before that was known)")
      ->type_name("FILE");
  AddDuration(app, "--shadow-time-limit", flags.time_limit,
              "with --shadow-report: when the shadow ends at the latest; 0 for no limit");
}

absl::Status ValidateShadow(const Options& options, const ShadowFlags& flags) {
  if (flags.time_limit < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--shadow-time-limit: must not be negative");
  }
  if (flags.report.empty() && flags.time_limit != ShadowFlags().time_limit) {
    return absl::InvalidArgumentError("--shadow-time-limit: needs --shadow-report");
  }
  if (flags.report.empty() || options.shadow) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--shadow-report: \"", flags.report, "\" needs --shadow"));
}

void AddAdmissionFlags(CLI::App& app, AdmissionFlags& admission) {
  AddValue(app, "--interpreter-admission-bind-address", admission.bind_address,
           "address where API servers have customizations and webhook configurations reviewed; 0 "
           "for none")
      ->type_name("HOST:PORT");
  AddValue(app, "--interpreter-admission-tls-cert-file", admission.certificate_file,
           "its certificate, read again when it changes")
      ->type_name("FILE");
  AddValue(app, "--interpreter-admission-tls-private-key-file", admission.key_file,
           "the certificate's key")
      ->type_name("FILE");
}

std::vector<FlagSupport> FlagTable(const CLI::App& app, absl::Span<const Support> notes,
                                   absl::Span<const Support> unused) {
  std::map<std::string, FlagSupport> by_name;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (name != "--help") by_name[name] = {name};
  }
  for (const absl::Span<const Support> remarks : {notes, unused}) {
    for (const Support& s : remarks) {
      by_name[std::string(s.name)] = {std::string(s.name), s.state, s.note};
    }
  }
  std::vector<FlagSupport> out;
  for (const auto& [name, flag] : by_name) out.push_back(flag);
  return out;
}

absl::Span<const Support> UsedFlagNotes() {
  static constexpr Support kNotes[] = {
      {"--cluster-api-burst", State::kHere, "only with --cluster-api-qps"},
      {"--cluster-api-context", State::kHere, "only with --cluster-api-kubeconfig"},
      {"--cluster-api-kubeconfig", State::kHere,
       "see [cluster-api.md](cluster-api.md); read once, at the start"},
      {"--cluster-api-qps", State::kHere, "the default is 0: as fast as the server answers"},
      {"--cluster-memory-mib", State::kHere, "of this program only"},
      {kReleaseFlag, State::kHere, "of this program only"},
      {"--enable-no-execute-taint-eviction", State::kHere, "only with the gate Failover"},
      {"--enable-taint-manager", State::kHere, "only with the gate Failover"},
      {"--federated-resource-quota-sync-period", State::kHere,
       "only with the gate FederatedQuotaEnforcement"},
      {"--health-probe-bind-address", State::kHere, "serves /livez and /readyz as well"},
      {"--interpreter-admission-bind-address", State::kHere, "of this program only"},
      {"--interpreter-admission-tls-cert-file", State::kHere, "of this program only"},
      {"--interpreter-admission-tls-private-key-file", State::kHere, "of this program only"},
      {"--kube-api-burst", State::kHere, "only with --kube-api-qps"},
      {"--kube-api-qps", State::kHere, "the default is 0: as fast as the server answers"},
      {"--leader-elect-release-on-exit", State::kHere, "of this program only"},
      {"--lua-memory-mib", State::kHere, "of this program only"},
      {"--lua-timeout", State::kHere, "of this program only"},
      {"--member-server-side-apply", State::kHere, "of this program only"},
      {"--no-execute-taint-eviction-purge-mode", State::kHere,
       "only with --enable-no-execute-taint-eviction"},
      {"--profiling-bind-address", State::kHere, "only with --enable-pprof"},
      {"--resource-eviction-rate", State::kHere, "only with --enable-no-execute-taint-eviction"},
      {"--shadow", State::kHere, "of this program only; see [operations.md](operations.md)"},
      {"--shadow-report", State::kHere, "of this program only; only with --shadow"},
      {"--shadow-time-limit", State::kHere, "of this program only; only with --shadow-report"},
      {"--success-events", State::kHere, "of this program only"},
      {"--warm-stand-by", State::kHere, "of this program only"},
  };
  return kNotes;
}

}  // namespace config::internal
