#include "config/options.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/regex.h"
#include "base/status.h"
#include "config/version.h"

namespace config {
namespace {

void AddDuration(CLI::App& app, const std::string& name, absl::Duration& target,
                 const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&target, name](const std::string& text) {
           const absl::Status parsed = ParseGoDuration(text, target);
           if (!parsed.ok()) throw CLI::ValidationError(name, std::string(parsed.message()));
         },
         help)
      ->type_name("duration")
      ->default_str(absl::FormatDuration(target));
}

template <class T>
void AddValue(CLI::App& app, const std::string& name, T& target, const std::string& help) {
  app.add_option(name, target, help)->capture_default_str();
}

void AddList(CLI::App& app, const std::string& name, std::vector<std::string>& target,
             const std::string& help) {
  app.add_option(name, target, help)
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
}

void AddSwitch(CLI::App& app, const std::string& name, bool& target, const std::string& help) {
  app.add_flag(name, target, help)->capture_default_str();
}

void AddServerFlags(CLI::App& app, Options& o) {
  AddValue(app, "--kubeconfig", o.kubeconfig, "kubeconfig of the Karmada control plane");
  AddList(app, "--controllers", o.controllers,
          "controllers to run: * (all that are on by default), name, -name");
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
      ->type_name("pairs");
  AddValue(app, "--metrics-bind-address", o.metrics_bind_address,
           "address of /metrics; 0 for none");
  AddValue(app, "--health-probe-bind-address", o.health_probe_bind_address,
           "address of /healthz and /readyz; 0 for none");
  LeaderElection& l = o.leader_election;
  AddSwitch(app, "--leader-elect", l.enabled, "run only while holding the leader lease");
  AddValue(app, "--leader-elect-resource-namespace", l.resource_namespace,
           "namespace of the lease");
  AddDuration(app, "--leader-elect-lease-duration", l.lease_duration,
              "how long others wait before they take a silent leader's lease");
  AddDuration(app, "--leader-elect-renew-deadline", l.renew_deadline,
              "how long the leader tries to renew before it gives up");
  AddDuration(app, "--leader-elect-retry-period", l.retry_period, "wait between attempts");
}

void AddLimitFlags(CLI::App& app, Options& o) {
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
  Concurrency& c = o.concurrency;
  AddValue(app, "--concurrent-work-syncs", c.work, "workers for Works");
  AddValue(app, "--concurrent-resourcebinding-syncs", c.resource_binding,
           "workers for ResourceBindings");
  AddValue(app, "--concurrent-clusterresourcebinding-syncs", c.cluster_resource_binding,
           "workers for ClusterResourceBindings");
  AddValue(app, "--concurrent-cluster-syncs", c.cluster, "workers for Clusters");
  AddValue(app, "--concurrent-namespace-syncs", c.namespace_, "workers for Namespaces");
  AddValue(app, "--concurrent-resource-template-syncs", c.resource_template,
           "workers for templates");
  AddValue(app, "--concurrent-propagation-policy-syncs", c.propagation_policy,
           "workers for PropagationPolicies");
  AddValue(app, "--concurrent-cluster-propagation-policy-syncs", c.cluster_propagation_policy,
           "workers for ClusterPropagationPolicies");
  AddValue(app, "--concurrent-dependent-resource-syncs", c.dependent_resource,
           "workers for dependencies");
}

void AddClusterFlags(CLI::App& app, Options& o) {
  ClusterMonitoring& c = o.clusters;
  AddDuration(app, "--cluster-status-update-frequency", c.status_update_frequency,
              "how often a cluster's status is collected");
  AddDuration(app, "--cluster-success-threshold", c.success_threshold,
              "how long a cluster must be healthy again before it counts as ready");
  AddDuration(app, "--cluster-failure-threshold", c.failure_threshold,
              "how long a cluster must be unhealthy before it counts as not ready");
  AddDuration(app, "--cluster-monitor-period", c.monitor_period, "period of the health monitor");
  AddDuration(app, "--cluster-monitor-grace-period", c.monitor_grace_period,
              "silence after which a pull cluster becomes Unknown");
  AddDuration(app, "--cluster-startup-grace-period", c.startup_grace_period,
              "the same while the cluster never reported");
  AddDuration(app, "--cluster-cache-sync-timeout", c.cache_sync_timeout,
              "how long informers may take to sync");
  AddSwitch(app, "--enable-cluster-resource-modeling", c.resource_modeling,
            "collect members' nodes and pods into Cluster.status");
  AddValue(app, "--skipped-propagating-apis", o.skipped_propagating_apis,
           "semicolon separated: group, group/version or group/version/Kind,Kind");
  AddList(app, "--skipped-propagating-namespaces", o.skipped_propagating_namespaces,
          "regular expressions of namespaces that are never propagated");
}

// Flags of controllers that are not part of this program yet and of Go's runtime: accepted, so that
// an existing deployment's arguments keep working.
void AddAcceptedFlags(CLI::App& app, std::vector<std::string>& sink) {
  for (const char* name : {"--resync-period",
                           "--profiling-bind-address",
                           "--enable-pprof",
                           "--enable-taint-manager",
                           "--enable-no-execute-taint-eviction",
                           "--no-execute-taint-eviction-purge-mode",
                           "--resource-eviction-rate",
                           "--graceful-eviction-timeout",
                           "--cluster-api-kubeconfig",
                           "--cluster-api-context",
                           "--federated-resource-quota-sync-period",
                           "--horizontal-pod-autoscaler-sync-period",
                           "--horizontal-pod-autoscaler-upscale-delay",
                           "--horizontal-pod-autoscaler-downscale-delay",
                           "--horizontal-pod-autoscaler-downscale-stabilization",
                           "--horizontal-pod-autoscaler-tolerance",
                           "--horizontal-pod-autoscaler-cpu-initialization-period",
                           "--horizontal-pod-autoscaler-initial-readiness-delay",
                           "--log-flush-frequency",
                           "--log-text-info-buffer-size",
                           "--log-text-split-stream",
                           "--log-json-info-buffer-size",
                           "--log-json-split-stream",
                           "--add-dir-header",
                           "--alsologtostderr",
                           "--log-backtrace-at",
                           "--log-dir",
                           "--log-file",
                           "--log-file-max-size",
                           "--logtostderr",
                           "--one-output",
                           "--skip-headers",
                           "--skip-log-headers",
                           "--stderrthreshold"}) {
    app.add_option(name, sink, "accepted for compatibility")->expected(0, 1)->group("");
  }
}

void AddLoggingFlags(CLI::App& app, Options& o) {
  AddValue(app, "-v,--v", o.logging.verbosity, "log verbosity");
  AddValue(app, "--vmodule", o.logging.vmodule, "verbosity per file: pattern=N,...");
  app.add_option("--logging-format", o.logging.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

absl::Status Positive(const char* flag, absl::Duration d) {
  if (d > absl::ZeroDuration()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, ": must be greater than 0"));
}

absl::Status Validate(const Options& o) {
  const LeaderElection& l = o.leader_election;
  if (l.enabled &&
      (l.lease_duration <= l.renew_deadline || l.renew_deadline <= l.retry_period * 1.2)) {
    return absl::InvalidArgumentError(
        "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline, which "
        "must "
        "be greater than --leader-elect-retry-period * 1.2");
  }
  RETURN_IF_ERROR(
      Positive("--cluster-status-update-frequency", o.clusters.status_update_frequency));
  RETURN_IF_ERROR(Positive("--cluster-monitor-period", o.clusters.monitor_period));
  RETURN_IF_ERROR(Positive("--cluster-monitor-grace-period", o.clusters.monitor_grace_period));
  RETURN_IF_ERROR(Positive("--cluster-startup-grace-period", o.clusters.startup_grace_period));
  RETURN_IF_ERROR(Positive("--lua-timeout", o.scripts.timeout));
  if (o.scripts.memory_mib < 1) {
    return absl::InvalidArgumentError("--lua-memory-mib: must be greater than 0");
  }
  for (const std::string& pattern : o.skipped_propagating_namespaces) {
    RETURN_IF_ERROR(base::Annotate(base::Regex::Compile(absl::StrCat("^", pattern, "$")).status(),
                                   "--skipped-propagating-namespaces"));
  }
  return absl::OkStatus();
}

// Underscores in flag names count as dashes.
std::vector<std::string> NormalizedArguments(int argc, const char* const* argv) {
  std::vector<std::string> out;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes them last to first.
    std::string argument = argv[i];
    if (absl::StartsWith(argument, "--")) {
      const auto name_end = argument.begin() + static_cast<std::ptrdiff_t>(
                                                   std::min(argument.find('='), argument.size()));
      std::replace(argument.begin(), name_end, '_', '-');
    }
    if (absl::StartsWith(argument, "-v=")) argument.insert(0, "-");  // Go's form of -v3.
    out.push_back(std::move(argument));
  }
  return out;
}

Parsed Exit(int code, std::string output) {
  Parsed parsed;
  parsed.outcome = Parsed::Outcome::kExit;
  parsed.exit_code = code;
  parsed.output = std::move(output);
  return parsed;
}

}  // namespace

absl::Status ParseGoDuration(const std::string& text, absl::Duration& out) {
  // Go has two letters for the micro sign, and no endless durations.
  const std::string ascii = absl::StrReplaceAll(text, {{"\xc2\xb5s", "us"}, {"\xce\xbcs", "us"}});
  absl::Duration parsed;
  if (absl::ParseDuration(ascii, &parsed) && absl::AbsDuration(parsed) < absl::InfiniteDuration()) {
    out = parsed;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no duration (write 300ms, 10s, 1m40s, ...)"));
}

bool Options::ControllerEnabled(const std::string& name, bool on_by_default) const {
  bool all = false;
  for (const std::string& token : controllers) {
    if (token == name) return true;
    if (token == absl::StrCat("-", name)) return false;
    all = all || token == "*";
  }
  return all && on_by_default;
}

Parsed ParseCommandLine(int argc, const char* const* argv) {
  Parsed parsed;
  std::vector<std::string> ignored;
  CLI::App app("The controllers of a Karmada control plane.", "karmada-controller-manager");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // As in Go.
  app.set_version_flag("--version", config::Version());
  app.add_subcommand("version", "Print the version and how it was built.");
  app.add_subcommand("help", "Print this help message.");
  AddServerFlags(app, parsed.options);
  AddLimitFlags(app, parsed.options);
  AddClusterFlags(app, parsed.options);
  AddLoggingFlags(app, parsed.options);
  AddAcceptedFlags(app, ignored);
  try {
    app.parse(NormalizedArguments(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return Exit(0, app.help());
  } catch (const CLI::CallForVersion& e) {
    return Exit(0, absl::StrCat(e.what(), "\n"));
  } catch (const CLI::ParseError& e) {
    return Exit(1, absl::StrCat("Error: ", e.what(),
                                "\nRun karmada-controller-manager --help for the flags.\n"));
  }
  if (app.got_subcommand("help")) {
    app.clear();  // Else it is the sub-command's own help.
    return Exit(0, app.help());
  }
  if (app.got_subcommand("version")) return Exit(0, VersionText());
  const absl::Status valid = Validate(parsed.options);
  if (!valid.ok()) return Exit(1, absl::StrCat("Error: ", valid.message(), "\n"));
  return parsed;
}

}  // namespace config
