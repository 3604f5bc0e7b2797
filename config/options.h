// The command-line flags of karmada-controller-manager, with upstream's names, defaults and checks.
#ifndef CONFIG_OPTIONS_H_
#define CONFIG_OPTIONS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/enumerated.h"
#include "config/duration.h"
#include "config/feature_gates.h"
#include "config/release.h"
#include "config/warning.h"

namespace config {

struct LeaderElection {
  bool enabled = true;
  std::string resource_namespace = "karmada-system";
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
  // A leader that stops gives the lease up, and a stand-by takes it at once.
  bool release_on_exit = false;
};

// Profiles for go tool pprof.
struct Profiling {
  bool enabled = false;
  std::string bind_address = ":6060";
};

// The number of workers for each kind of object.
struct Concurrency {
  int work = 5;
  int resource_binding = 5;
  int cluster_resource_binding = 5;
  int cluster = 5;
  int namespace_ = 1;
  int resource_template = 5;
  int propagation_policy = 1;
  int cluster_propagation_policy = 1;
};

struct ClusterMonitoring {
  absl::Duration status_update_frequency = absl::Seconds(10);
  absl::Duration success_threshold = absl::Seconds(30);
  absl::Duration failure_threshold = absl::Seconds(30);
  absl::Duration monitor_period = absl::Seconds(5);
  absl::Duration monitor_grace_period = absl::Seconds(40);
  absl::Duration startup_grace_period = absl::Seconds(60);
  absl::Duration cache_sync_timeout = absl::Minutes(2);
  // The MiB that the cached objects of one member may take; 0: as the memory limit determines.
  int memory_mib = 0;
  bool resource_modeling = true;
};

struct RateLimits {
  absl::Duration base_delay = absl::Milliseconds(5);
  absl::Duration max_delay = absl::Seconds(1000);
  double qps = 10;
  int bucket_size = 100;
};

// Evictions from clusters with NoExecute taints. They need the gate Failover.
struct TaintEviction {
  bool manager = true;                    // False: the taint manager does not run.
  bool no_execute = false;                // False: it evicts nothing.
  std::string purge_mode = "Gracefully";  // For policies without failover.cluster; or "Directly".
  double rate = 0.5;                      // Evictions per second and worker; 0: one in 1800 s.
};

// How FederatedHPAs scale; the fields have the names of the flags --horizontal-pod-autoscaler-*.
struct PodAutoscaling {
  absl::Duration sync_period = absl::Seconds(15);
  double tolerance = 0.1;
  absl::Duration downscale_stabilization = absl::Minutes(5);
  absl::Duration cpu_initialization_period = absl::Minutes(5);
  absl::Duration initial_readiness_delay = absl::Seconds(30);
};

// The limits of one run of a customization's script.
struct Scripts {
  absl::Duration timeout = absl::Seconds(1);
  int memory_mib = 64;
};

enum class LogFormat { kText, kJson };
inline constexpr auto kLogFormats =
    base::Enumerate<LogFormat>({{LogFormat::kText, "text"}, {LogFormat::kJson, "json"}});

struct Logging {
  int verbosity = 0;
  std::string vmodule;
  LogFormat format = LogFormat::kText;
};

// Which successes events report: those that users wait for, and the end of each failure; or all
// that upstream reports, once per change.
enum class SuccessEvents { kConcise, kUpstream };

struct Options {
  std::string kubeconfig;
  std::vector<std::string> controllers = {"*"};
  FeatureGates gates;
  // The release that the user wants; nullopt for that of the control plane.
  std::optional<Release> wanted_release;
  // The release as which the program behaves: the wanted one, else v1.18 until Emulate is called.
  Release release = Release::kV1_18;
  LeaderElection leader_election;
  std::string metrics_bind_address = ":8080";        // "0" for none.
  std::string health_probe_bind_address = ":10357";  // "0" or "" for none.
  // Leads to the management cluster of Cluster API; "" for none.
  std::string cluster_api_kubeconfig;
  std::string cluster_api_context;  // "" for the current one.
  // Fixed rate limits; 0 (not given) leaves only the adaptive one.
  double kube_api_qps = 0;
  int kube_api_burst = 0;
  double cluster_api_qps = 0;
  int cluster_api_burst = 0;
  std::string skipped_propagating_apis;
  std::vector<std::string> skipped_propagating_namespaces = {"kube-.*"};
  Concurrency concurrency;
  ClusterMonitoring clusters;
  // After this time an eviction task without a grace period of its own ends.
  absl::Duration graceful_eviction_timeout = absl::Minutes(10);
  // After this time FederatedResourceQuotas are added up again.
  absl::Duration quota_sync_period = absl::Minutes(5);
  // After this time every object is handed to its controllers again; 0: never.
  absl::Duration resync_period;
  RateLimits rate_limits;
  TaintEviction taint_eviction;
  PodAutoscaling pod_autoscaling;
  Scripts scripts;
  // Objects whose template does not say otherwise are put into members by server-side apply.
  bool server_side_apply = false;
  SuccessEvents success_events = SuccessEvents::kConcise;
  // Nothing is written, neither to the control plane nor to members; writes are reported instead.
  bool shadow = false;
  // While another process leads, members are followed as the leader does.
  bool warm_stand_by = false;
  Logging logging;
  Profiling profiling;

  // What of these settings does not have the effect that it has upstream.
  std::vector<Warning> warnings;
  // The given flags that differ from their defaults: "--v=2 --controllers=*,-binding".
  std::string changed_flags;
  // Every flag that has an effect, without its dashes, and the value that was given or is the
  // default.
  std::map<std::string, std::string> settings;

  // Makes the program behave as this release: also the gates have its defaults. Called before any
  // loop is built; a program that has found another release begins again.
  void Emulate(Release as) {
    release = as;
    gates.Emulate(as);
  }
  // Returns whether the controller of this name runs: the first token "name" or "-name" decides,
  // else "*".
  bool ControllerEnabled(const std::string& name, bool on_by_default = true) const;
};

// What to do after parsing.
struct Parsed {
  enum class Outcome { kRun, kExit } outcome = Outcome::kRun;
  int exit_code = 0;  // Set with kExit.
  // The text to print with kExit: help or version on stdout (code 0), else on stderr.
  std::string output;
  Options options;
};

// Underscores in flag names count as dashes; lists are comma separated and may be repeated.
// `version` and `--help` give kExit with code 0, an unknown flag or a value that fails validation
// kUsageExitCode.
Parsed ParseCommandLine(int argc, const char* const* argv);

}  // namespace config

#endif  // CONFIG_OPTIONS_H_
