#include "config/agent_options.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "config/command_line.h"
#include "config/support.h"

namespace {

using config::AgentOptions;
using config::ParsedAgent;

ParsedAgent Parse(std::vector<std::string> arguments) {
  std::vector<const char*> argv = {"karmada-agent"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return config::ParseAgentCommandLine(static_cast<int>(argv.size()), argv.data());
}

AgentOptions MustParse(std::vector<std::string> arguments) {
  const ParsedAgent parsed = Parse(std::move(arguments));
  INFO(parsed.output);
  REQUIRE(parsed.outcome == config::Parsed::Outcome::kRun);
  return parsed.options;
}

std::string Refusal(std::vector<std::string> arguments) {
  const ParsedAgent parsed = Parse(std::move(arguments));
  REQUIRE(parsed.outcome == config::Parsed::Outcome::kExit);
  CHECK(parsed.exit_code == config::kUsageExitCode);
  return parsed.output;
}

std::string WarningsOf(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--cluster-name=m1");
  std::string all;
  for (const config::Warning& warning : MustParse(std::move(arguments)).loops.warnings) {
    absl::StrAppend(&all, warning.text, "\n");
  }
  return all;
}

TEST_CASE("the command line of karmadactl register is understood, without a warning") {
  const AgentOptions o = MustParse(
      {"--karmada-kubeconfig=/etc/kubeconfig/karmada-kubeconfig", "--cluster-name=m1",
       "--cluster-api-endpoint=https://10.0.0.1:6443", "--cluster-provider=", "--cluster-region=",
       "--cluster-zones=", "--controllers=*,certRotation",
       "--proxy-server-address=", "--leader-elect-resource-namespace=karmada-system",
       "--cluster-namespace=karmada-cluster", "--cluster-status-update-frequency=10s",
       "--metrics-bind-address=:8080", "--health-probe-bind-address=0.0.0.0:10357", "--v=2"});
  CHECK(o.loops.warnings.empty());
  CHECK(o.agent.karmada_kubeconfig == "/etc/kubeconfig/karmada-kubeconfig");
  CHECK(o.agent.cluster_name == "m1");
  CHECK(o.agent.zones.empty());
  CHECK(o.agent.Reports("KubeCredentials"));
  CHECK(o.agent.Reports("KubeImpersonator"));
  CHECK(o.loops.ControllerEnabled("certRotation", false));
  CHECK(o.loops.kubeconfig.empty());
  CHECK(o.loops.logging.verbosity == 2);
}

TEST_CASE("every flag of upstream's agent is here") {
  std::set<std::string> here;
  for (const config::FlagSupport& flag : config::AgentFlags()) here.insert(flag.name);
  for (const char* flag : {"--controllers",
                           "--leader-elect",
                           "--leader-elect-resource-namespace",
                           "--leader-elect-lease-duration",
                           "--leader-elect-renew-deadline",
                           "--leader-elect-retry-period",
                           "--karmada-kubeconfig",
                           "--karmada-context",
                           "--kubeconfig",
                           "--cluster-name",
                           "--cluster-namespace",
                           "--cluster-status-update-frequency",
                           "--cluster-lease-duration",
                           "--cluster-lease-renew-interval-fraction",
                           "--cluster-success-threshold",
                           "--cluster-failure-threshold",
                           "--cluster-api-qps",
                           "--cluster-api-burst",
                           "--kube-api-qps",
                           "--kube-api-burst",
                           "--cluster-cache-sync-timeout",
                           "--cluster-api-endpoint",
                           "--proxy-server-address",
                           "--resync-period",
                           "--concurrent-cluster-syncs",
                           "--concurrent-work-syncs",
                           "--report-secrets",
                           "--metrics-bind-address",
                           "--health-probe-bind-address",
                           "--cluster-provider",
                           "--cluster-region",
                           "--cluster-zones",
                           "--enable-cluster-resource-modeling",
                           "--cert-rotation-checking-interval",
                           "--cert-rotation-remaining-time-threshold",
                           "--karmada-kubeconfig-namespace",
                           "--rate-limiter-base-delay",
                           "--rate-limiter-max-delay",
                           "--rate-limiter-qps",
                           "--rate-limiter-bucket-size",
                           "--feature-gates",
                           "--enable-pprof",
                           "--profiling-bind-address",
                           "--logging-format",
                           "--log-flush-frequency",
                           "--vmodule",
                           "--logtostderr",
                           "--stderrthreshold"}) {
    INFO(flag);
    CHECK(here.contains(flag));
  }
  // What upstream's agent does not know is refused as upstream refuses it.
  CHECK(absl::StrContains(Refusal({"--cluster-name=m1", "--concurrent-namespace-syncs=2"}),
                          "--concurrent-namespace-syncs"));
}

TEST_CASE("the agent's defaults are upstream's") {
  const AgentOptions o = MustParse({"--cluster-name=m1"});
  CHECK(o.agent.cluster_namespace == "karmada-cluster");
  CHECK(o.agent.lease_duration == absl::Seconds(40));
  CHECK(o.agent.lease_renew_fraction == 0.25);
  CHECK(o.agent.rotation_interval == absl::Minutes(5));
  CHECK(o.agent.rotation_threshold == 0.2);
  CHECK(o.agent.karmada_kubeconfig_namespace == "karmada-system");
  CHECK(o.loops.clusters.status_update_frequency == absl::Seconds(10));
  CHECK(o.loops.concurrency.work == 5);
  CHECK(o.loops.metrics_bind_address == ":8080");
  CHECK(o.loops.health_probe_bind_address == ":10357");
  CHECK(o.loops.leader_election.enabled);
}

TEST_CASE("what cannot be is refused, naming the flag") {
  CHECK(absl::StrContains(Refusal({}), "--cluster-name: must be not empty"));
  CHECK(absl::StrContains(Refusal({"--cluster-name=" + std::string(49, 'a')}),
                          "must be no more than 48 characters"));
  for (const char* flag :
       {"--cluster-name=A_b", "--cluster-lease-renew-interval-fraction=0",
        "--cluster-lease-renew-interval-fraction=1", "--cluster-lease-duration=0s",
        "--cert-rotation-checking-interval=0s", "--cert-rotation-remaining-time-threshold=1",
        "--metrics-bind-address=foo", "--leader-elect-resource-namespace=A b"}) {
    const std::string text = flag;
    INFO(text);
    std::vector<std::string> words = {"--cluster-name=m1", text};
    CHECK(absl::StrContains(Refusal(words), text.substr(0, text.find('='))));
  }
}

TEST_CASE("certificates of many clusters are not renewed, and asking for it is refused") {
  for (const std::string clusters : {"--clusters-from=/clusters", "--clusters-from-secrets=a=b"}) {
    CHECK(absl::StrContains(Refusal({clusters, "--controllers=*,certRotation"}), "certRotation"));
    CHECK(MustParse({clusters, "--controllers=*,-certRotation"}).agent.ServesMany());
  }
}

TEST_CASE("what has no effect is said to have none") {
  CHECK(absl::StrContains(WarningsOf({"--report-secrets=KubeCredential"}),
                          "KubeCredential has no effect"));
  CHECK(WarningsOf({"--report-secrets=None"}).empty());
  CHECK(absl::StrContains(WarningsOf({"--controllers=*,namespace"}),
                          "there is no controller \"namespace\""));
  CHECK(absl::StrContains(WarningsOf({"--controllers=*,endpointsliceCollect"}),
                          "--feature-gates=MultiClusterService=true"));
  CHECK(absl::StrContains(WarningsOf({"--cert-rotation-checking-interval=1m"}),
                          "without --controllers=*,certRotation"));
  CHECK(absl::StrContains(WarningsOf({"--log-dir=/tmp"}), "--log-dir=/tmp has no effect"));
  CHECK(absl::StrContains(WarningsOf({"--kube-api-burst=60"}), "without --kube-api-qps"));
}

}  // namespace
