// Turns the command line of karmada-agent into AgentOptions, as options.cc does for the controller
// manager, whose flags the agent has where they are about the same thing. Values that upstream
// refuses are refused, with exit code 2; flags and gates without effect are answered by warnings.
// An unknown secret in --report-secrets, which upstream ignores, is a warning as well.

#include "config/agent_options.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "config/command_line.h"
#include "config/flag_types.h"
#include "config/internal/option_checks.h"
#include "config/internal/parse_end.h"
#include "config/internal/unused_flags.h"
#include "config/internal/used_flags.h"
#include "config/support.h"
#include "kube/meta/selector.h"

namespace config {
namespace {

// The execution namespace has this name behind a prefix.
constexpr size_t kLongestClusterName = 48;

constexpr char kCredentials[] = "KubeCredentials";
constexpr char kImpersonator[] = "KubeImpersonator";
constexpr char kNone[] = "None";
constexpr char kCertRotation[] = "certRotation";

void AddOwnFlags(CLI::App& app, AgentFlagValues& a) {
  AddValue(app, "--karmada-kubeconfig", a.karmada_kubeconfig,
           "kubeconfig of the Karmada control plane")
      ->type_name("FILE");
  AddValue(app, "--karmada-context", a.karmada_context,
           "context of --karmada-kubeconfig; empty for the current one")
      ->type_name("NAME");
  AddValue(app, "--clusters-from", a.clusters_from,
           "directory with a folder NAME for each cluster, with its karmada-kubeconfig and its "
           "kubeconfig: be the agent of all of them, and follow the directory")
      ->type_name("DIRECTORY");
  AddValue(
      app, "--clusters-from-secrets", a.clusters_from_secrets,
      "labels of the Secrets of clusters in the cluster that hosts this process, each with the "
      "cluster's name and the keys karmada-kubeconfig and kubeconfig: be the agent of all of "
      "them, and follow the Secrets")
      ->type_name("SELECTOR");
  AddValue(app, "--hosting-kubeconfig", a.hosting_kubeconfig,
           "kubeconfig of that cluster; empty inside of it")
      ->type_name("FILE");
  AddValue(app, "--hosting-namespace", a.hosting_namespace,
           "namespace there of the Secrets and of the leases of this process")
      ->type_name("NAME");
  AddSwitch(app, "--shard-clusters", a.shard_clusters,
            "share the clusters among the replicas; otherwise one of them serves all");
  AddValue(app, "--cluster-name", a.cluster_name, "name of the cluster in the control plane")
      ->type_name("NAME");
  AddValue(app, "--cluster-namespace", a.cluster_namespace,
           "namespace of the Secrets by which the control plane reaches clusters")
      ->type_name("NAME");
  AddValue(app, "--cluster-api-endpoint", a.api_endpoint,
           "address at which the control plane reaches the cluster's API server")
      ->type_name("URL");
  AddValue(app, "--proxy-server-address", a.proxy_server_address,
           "proxy by which the control plane reaches the cluster")
      ->type_name("URL");
  AddList(app, "--report-secrets", a.report_secrets,
          "tokens that are reported to the control plane: KubeCredentials, KubeImpersonator; None")
      ->type_name("NAMES");
  AddValue(app, "--cluster-provider", a.provider, "provider of the cluster")->type_name("NAME");
  AddValue(app, "--cluster-region", a.region, "region of the cluster")->type_name("NAME");
  AddList(app, "--cluster-zones", a.zones, "zones of the cluster")->type_name("NAMES");
  AddDuration(app, "--cluster-lease-duration", a.lease_duration,
              "how long the cluster's Lease is valid");
  AddValue(app, "--cluster-lease-renew-interval-fraction", a.lease_renew_fraction,
           "part of that time after which it is renewed");
  AddDuration(app, "--cert-rotation-checking-interval", a.rotation_interval,
              "how often the certificate in the agent's kubeconfig is looked at");
  AddValue(app, "--cert-rotation-remaining-time-threshold", a.rotation_threshold,
           "part of the certificate's life that is left when a new one is asked for");
  AddValue(app, "--karmada-kubeconfig-namespace", a.karmada_kubeconfig_namespace,
           "namespace of the Secret karmada-kubeconfig in the cluster")
      ->type_name("NAME");
}

void AddLoopFlags(CLI::App& app, Options& o) {
  AddValue(app, "--kubeconfig", o.kubeconfig, "kubeconfig of the cluster; empty inside of it")
      ->type_name("FILE");
  AddList(app, "--controllers", o.controllers,
          "controllers to run: * (all that are on by default), name, -name")
      ->type_name("NAMES");
  internal::AddCommonFlags(app, o);
  AddValue(app, "--metrics-bind-address", o.metrics_bind_address, "address of /metrics; 0 for none")
      ->type_name("HOST:PORT");
  internal::AddMemberFlags(app, o);
}

void AddFlags(CLI::App& app, AgentOptions& options) {
  AddOwnFlags(app, options.agent);
  AddLoopFlags(app, options.loops);
}

absl::Status ValidateClusters(const AgentFlagValues& a) {
  if (!a.ServesMany()) return ValidateClusterName(a.cluster_name);
  const char* const flag = a.clusters_from.empty() ? "--clusters-from-secrets" : "--clusters-from";
  if (!a.cluster_name.empty() || !a.karmada_kubeconfig.empty() || !a.api_endpoint.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag,
                     ": --cluster-name, --karmada-kubeconfig and --cluster-api-endpoint are those "
                     "of one cluster"));
  }
  if (a.clusters_from_secrets.empty()) return absl::OkStatus();
  if (!a.clusters_from.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": --clusters-from-secrets is given, too"));
  }
  RETURN_IF_ERROR(base::Annotate(kube::LabelSelector::Parse(a.clusters_from_secrets).status(),
                                 "--clusters-from-secrets \"", a.clusters_from_secrets, "\""));
  return base::Annotate(kube::ValidateDns1123Label(a.hosting_namespace), "--hosting-namespace \"",
                        a.hosting_namespace, "\"");
}

// Replicas that share the clusters know by their leases who is alive.
absl::Status ValidateShards(const AgentFlagValues& a, const Options& loops) {
  if (!a.shard_clusters) return absl::OkStatus();
  if (a.clusters_from_secrets.empty()) {
    return absl::InvalidArgumentError("--shard-clusters: it needs --clusters-from-secrets");
  }
  if (loops.leader_election.enabled) return absl::OkStatus();
  return absl::InvalidArgumentError("--shard-clusters: it needs --leader-elect");
}

// A renewed certificate is written into the cluster, and not where those of many clusters are read.
absl::Status ValidateRotation(const AgentFlagValues& a, const Options& loops) {
  if (!a.ServesMany() || !loops.ControllerEnabled(kCertRotation, /*on_by_default=*/false)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--controllers: ", kCertRotation,
                   " renews the kubeconfig of an agent of one "
                   "cluster, and not those of --clusters-from or --clusters-from-secrets"));
}

// The rules are upstream's, and one of ours: a certificate that is asked for in every moment.
absl::Status ValidateAgent(const AgentFlagValues& a) {
  RETURN_IF_ERROR(ValidateClusters(a));
  if (a.lease_duration < absl::Seconds(1)) {
    return absl::InvalidArgumentError("--cluster-lease-duration: must be at least 1s");
  }
  if (!(a.lease_renew_fraction > 0 && a.lease_renew_fraction < 1)) {
    return absl::InvalidArgumentError(
        "--cluster-lease-renew-interval-fraction: must be greater than 0 and less than 1");
  }
  if (a.rotation_interval <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--cert-rotation-checking-interval: must be greater than 0");
  }
  if (!(a.rotation_threshold >= 0 && a.rotation_threshold < 1)) {
    return absl::InvalidArgumentError(
        "--cert-rotation-remaining-time-threshold: must be at least 0 and less than 1");
  }
  return absl::OkStatus();
}

void Warn(Options& o, absl::string_view flag, std::string text) {
  o.warnings.push_back({{std::string(flag)}, std::move(text)});
}

void WarnOfSecrets(const AgentFlagValues& a, Options& o) {
  for (const std::string& secret : a.report_secrets) {
    if (secret.empty() || secret == kCredentials || secret == kImpersonator || secret == kNone) {
      continue;
    }
    Warn(o, "--report-secrets",
         absl::StrCat("--report-secrets: ", secret, " has no effect: there are ", kCredentials,
                      ", ", kImpersonator, " and ", kNone));
  }
}

void WarnOfControllers(Options& o) {
  for (Warning& warning : WarningsOfAgentControllers(o.controllers)) {
    o.warnings.push_back(std::move(warning));
  }
  internal::WarnOfControllersBehindGates(AgentControllers(), o);
}

void WarnOfRotation(const CLI::App& app, Options& o) {
  if (o.ControllerEnabled(kCertRotation, /*on_by_default=*/false)) return;
  for (const char* flag :
       {"--cert-rotation-checking-interval", "--cert-rotation-remaining-time-threshold",
        "--karmada-kubeconfig-namespace"}) {
    if (!IsGiven(app, flag)) continue;
    Warn(o, flag, absl::StrCat(flag, " has no effect without --controllers=*,", kCertRotation));
  }
}

ParsedAgent Refused(absl::string_view why) {
  return internal::Refused<ParsedAgent>(why, "karmada-agent");
}

constexpr Support kNotes[] = {
    {"--cert-rotation-checking-interval", State::kHere, "only with the controller certRotation"},
    {"--cert-rotation-remaining-time-threshold", State::kHere,
     "only with the controller certRotation"},
    {"--cluster-api-burst", State::kHere, "only with --cluster-api-qps"},
    {"--cluster-api-qps", State::kHere, "the default is 0: as fast as the server answers"},
    {"--cluster-memory-mib", State::kHere, "of this program only"},
    {kReleaseFlag, State::kHere, "of this program only"},
    {"--clusters-from", State::kHere, "of this program only"},
    {"--clusters-from-secrets", State::kHere, "of this program only"},
    {"--health-probe-bind-address", State::kHere, "serves /livez and /readyz as well"},
    {"--hosting-kubeconfig", State::kHere, "of this program only; with --clusters-from-secrets"},
    {"--hosting-namespace", State::kHere, "of this program only; with --clusters-from-secrets"},
    {"--karmada-kubeconfig-namespace", State::kHere, "only with the controller certRotation"},
    {"--kube-api-burst", State::kHere, "only with --kube-api-qps"},
    {"--kube-api-qps", State::kHere, "the default is 0: as fast as the server answers"},
    {"--leader-elect-release-on-exit", State::kHere, "of this program only"},
    {"--lua-memory-mib", State::kHere, "of this program only"},
    {"--lua-timeout", State::kHere, "of this program only"},
    {"--member-server-side-apply", State::kHere, "of this program only"},
    {"--profiling-bind-address", State::kHere, "only with --enable-pprof"},
    {"--report-secrets", State::kHere, "a token that has changed is reported again"},
    {"--shard-clusters", State::kHere, "of this program only; with --clusters-from-secrets"},
    {"--success-events", State::kHere, "of this program only"},
};

}  // namespace

absl::Status ValidateClusterName(const std::string& name) {
  if (name.empty()) return absl::InvalidArgumentError("--cluster-name: must be not empty");
  if (name.size() > kLongestClusterName) {
    return absl::InvalidArgumentError(absl::StrCat("--cluster-name \"", name,
                                                   "\": must be no more than ", kLongestClusterName,
                                                   " characters"));
  }
  return base::Annotate(kube::ValidateDns1123Label(name), "--cluster-name \"", name, "\"");
}

bool AgentFlagValues::Reports(const std::string& secret) const {
  return std::find(report_secrets.begin(), report_secrets.end(), secret) != report_secrets.end();
}

ParsedAgent ParseAgentCommandLine(int argc, const char* const* argv) {
  PermissionFlags unused;
  return ParseAgentCommandLine(argc, argv, unused);
}

ParsedAgent ParseAgentCommandLine(int argc, const char* const* argv, PermissionFlags& permissions) {
  ParsedAgent parsed;
  Options& loops = parsed.options.loops;
  CLI::App app("The agent of a member cluster of Karmada in pull mode.", "karmada-agent");
  // As in Go, the last value counts.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  internal::AddMemberPermissions(app, permissions);
  AddHelpAndVersion(app);
  AddFlags(app, parsed.options);
  internal::AddUnusedLogFlags(app);
  const absl::StatusOr<std::string> answer = ParseWords(app, NormalizedWords(argc, argv));
  if (!answer.ok()) return Refused(answer.status().message());
  if (!answer->empty()) return internal::Exit<ParsedAgent>(0, *answer);
  // `karmadactl register` writes --cluster-zones= for none.
  std::erase(parsed.options.agent.zones, "");
  if (loops.wanted_release.has_value()) loops.Emulate(*loops.wanted_release);
  absl::Status valid = ValidateAgent(parsed.options.agent);
  valid.Update(ValidateShards(parsed.options.agent, loops));  // Keeps the first error.
  valid.Update(ValidateRotation(parsed.options.agent, loops));
  valid.Update(internal::ValidateOptions(loops));
  valid.Update(internal::ValidatePermissions(permissions));
  if (!valid.ok()) return Refused(valid.message());
  loops.warnings = internal::UnusedFlagWarnings(app);
  for (Warning& warning : loops.gates.Warnings()) loops.warnings.push_back(std::move(warning));
  WarnOfControllers(loops);
  WarnOfSecrets(parsed.options.agent, loops);
  WarnOfRotation(app, loops);
  internal::WarnAndAdjust(loops);
  loops.changed_flags = ChangedFlags(app);
  loops.settings = internal::SettingsOf(app);
  return parsed;
}

std::vector<FlagSupport> AgentFlags() {
  CLI::App app;
  AgentOptions unused;
  AddFlags(app, unused);
  return internal::FlagTable(app, kNotes, internal::UnusedLogFlagSupport());
}

}  // namespace config
