#include "config/options.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/tls.h"
#include "config/admission_flags.h"
#include "config/command_line.h"
#include "config/version.h"
#include "tests/support/temp_directory.h"

namespace {

using config::Options;
using config::Parsed;

Parsed Parse(std::vector<std::string> arguments) {
  std::vector<const char*> argv = {"karmada-controller-manager"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return config::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

Options MustParse(std::vector<std::string> arguments) {
  const Parsed parsed = Parse(std::move(arguments));
  INFO(parsed.output);
  REQUIRE(parsed.outcome == Parsed::Outcome::kRun);
  return parsed.options;
}

// Returns the message with which the flags are refused.
std::string Refusal(std::vector<std::string> arguments) {
  const Parsed parsed = Parse(std::move(arguments));
  REQUIRE(parsed.outcome == Parsed::Outcome::kExit);
  CHECK(parsed.exit_code == config::kUsageExitCode);
  return parsed.output;
}

TEST_CASE("malformed values are refused at the start, naming flag and value") {
  for (const char* flag : {"--metrics-bind-address=foo", "--metrics-bind-address=:70000",
                           "--health-probe-bind-address=1.2.3.4", "--vmodule=a=b", "--vmodule=a",
                           "--vmodule=a=1,b=-1", "--leader-elect-resource-namespace=A b"}) {
    INFO(flag);
    const std::string text = flag;
    const std::string refusal = Refusal({text});
    INFO(refusal);
    const size_t equals = text.find('=');
    CHECK(absl::StrContains(refusal, text.substr(0, equals)));
    const std::string value = text.substr(equals + 1);
    CHECK(absl::StrContains(refusal, value.substr(value.find(',') + 1)));
  }
  CHECK(absl::StrContains(Refusal({"--leader-elect-retry-period=0s"}), "greater than 0"));
  for (const char* fine : {"--metrics-bind-address=0", "--metrics-bind-address=",
                           "--health-probe-bind-address=[::]:1", "--vmodule=a=1,b*=2,"}) {
    MustParse({fine});
  }
}

TEST_CASE("an empty address is the default for metrics, and none for probes, as upstream's") {
  const Options o = MustParse({"--metrics-bind-address=", "--health-probe-bind-address="});
  CHECK(o.metrics_bind_address == ":8080");
  CHECK(o.health_probe_bind_address.empty());
  CHECK(MustParse({"--metrics-bind-address=0"}).metrics_bind_address == "0");
}

TEST_CASE("the flags of admission come together, with files that can be read") {
  const auto refusal = [](const std::vector<std::string>& words) {
    const std::string text = Refusal(words);
    INFO(text);
    return text;
  };
  const std::string address = "--interpreter-admission-bind-address=:8443";
  const std::string certificate = "--interpreter-admission-tls-cert-file=";
  const std::string key = "--interpreter-admission-tls-private-key-file=";
  CHECK(absl::StrContains(refusal({address}), "needs --interpreter-admission-tls-cert-file"));
  CHECK(absl::StrContains(refusal({key + "k"}), "=k has no effect without"));
  CHECK(absl::StrContains(refusal({address, certificate + "/none", key + "/none"}),
                          "/none does not exist"));
  CHECK(absl::StrContains(refusal({"--interpreter-admission-bind-address=foo"}), "\"foo\""));
  MustParse({"--interpreter-admission-bind-address=0"});
  config::AdmissionFlags admission;
  CHECK(absl::StrContains(
      refusal({address, certificate + "docs/support.md", key + "docs/support.md"}),
      "--interpreter-admission-tls-cert-file: docs/support.md: certificate: no PEM block found"));
  const tests::TempDirectory directory;
  const auto pair = tls::CertificateAuthority::Create("ca").value()->Issue({.common_name = "x"});
  REQUIRE(pair.ok());
  directory.Write("crt", pair->cert_pem);
  directory.Write("key", pair->key_pem);
  const std::string key_file = directory.path() + "/key";
  const std::vector<std::string> words = {"karmada-controller-manager", address,
                                          absl::StrCat(certificate, directory.path(), "/crt"),
                                          absl::StrCat(key, key_file)};
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const Parsed parsed =
      config::ParseCommandLine(static_cast<int>(argv.size()), argv.data(), admission);
  INFO(parsed.output);
  CHECK(parsed.outcome == Parsed::Outcome::kRun);
  CHECK(admission.IsOn());
  CHECK(admission.key_file == key_file);
}

TEST_CASE("without flags the defaults are upstream's") {
  const Options o = MustParse({});
  CHECK(o.controllers == std::vector<std::string>{"*"});
  CHECK(o.leader_election.enabled);
  CHECK(o.leader_election.resource_namespace == "karmada-system");
  CHECK(o.leader_election.lease_duration == absl::Seconds(15));
  CHECK(o.leader_election.renew_deadline == absl::Seconds(10));
  CHECK(o.leader_election.retry_period == absl::Seconds(2));
  CHECK(o.metrics_bind_address == ":8080");
  CHECK(o.health_probe_bind_address == ":10357");
  CHECK(o.skipped_propagating_namespaces == std::vector<std::string>{"kube-.*"});
  CHECK(o.concurrency.work == 5);
  CHECK(o.concurrency.namespace_ == 1);
  CHECK(o.concurrency.propagation_policy == 1);
  CHECK(o.clusters.status_update_frequency == absl::Seconds(10));
  CHECK(o.clusters.monitor_grace_period == absl::Seconds(40));
  CHECK(o.clusters.startup_grace_period == absl::Seconds(60));
  CHECK(o.clusters.cache_sync_timeout == absl::Minutes(2));
  CHECK(o.clusters.resource_modeling);
  CHECK(o.rate_limits.max_delay == absl::Seconds(1000));
  CHECK(o.logging.format == config::LogFormat::kText);
}

TEST_CASE("values of every kind are read, after = or as the next argument") {
  const Options o = MustParse(
      {"--kubeconfig=/etc/kubeconfig", "--concurrent-work-syncs", "20", "--kube-api-qps=12.5",
       "--kube-api-burst=60", "--cluster-monitor-period", "1m5s", "--rate-limiter-max-delay=16m40s",
       "--health-probe-bind-address=0", "--v=4", "--vmodule=a=1,b*=2", "--logging-format=json",
       "--skipped-propagating-apis=a.io;v1/Pod,Secret", "--enable-cluster-resource-modeling=false",
       "--leader-elect-resource-namespace=other"});
  CHECK(o.kubeconfig == "/etc/kubeconfig");
  CHECK(o.concurrency.work == 20);
  CHECK(o.kube_api_qps == 12.5);
  CHECK(o.kube_api_burst == 60);
  CHECK(o.clusters.monitor_period == absl::Seconds(65));
  CHECK(o.rate_limits.max_delay == absl::Seconds(1000));
  CHECK(o.health_probe_bind_address == "0");
  CHECK(o.logging.verbosity == 4);
  CHECK(o.logging.vmodule == "a=1,b*=2");
  CHECK(o.logging.format == config::LogFormat::kJson);
  CHECK(o.skipped_propagating_apis == "a.io;v1/Pod,Secret");
  CHECK_FALSE(o.clusters.resource_modeling);
  CHECK(o.leader_election.resource_namespace == "other");
}

TEST_CASE("a switch may stand alone or be set in Go's words") {
  CHECK(MustParse({"--leader-elect"}).leader_election.enabled);
  for (const char* off : {"false", "0", "False", "FALSE", "f", "F"}) {
    INFO(off);
    CHECK_FALSE(MustParse({absl::StrCat("--leader-elect=", off)}).leader_election.enabled);
  }
  for (const char* on : {"true", "1", "True", "TRUE", "t", "T"}) {
    INFO(on);
    CHECK(MustParse({absl::StrCat("--leader-elect=", on)}).leader_election.enabled);
  }
}

TEST_CASE("a list is split at commas, and may be given several times") {
  CHECK(MustParse({"--controllers=*,-binding", "--controllers", "cluster"}).controllers ==
        std::vector<std::string>{"*", "-binding", "cluster"});
  CHECK(MustParse({"--skipped-propagating-namespaces=kube-.*,infra"})
            .skipped_propagating_namespaces == std::vector<std::string>{"kube-.*", "infra"});
}

TEST_CASE("an empty value is a value") {
  const Options o = MustParse({"--kubeconfig=", "--controllers=", "--vmodule=", "--v=1"});
  CHECK(o.kubeconfig.empty());
  CHECK_FALSE(o.ControllerEnabled("binding"));
  CHECK(o.logging.verbosity == 1);
}

TEST_CASE("the last of repeated values counts") {
  CHECK(MustParse({"--v=1", "--v=3"}).logging.verbosity == 3);
  CHECK(MustParse({"--cluster-monitor-period=1s", "--cluster-monitor-period=2s"})
            .clusters.monitor_period == absl::Seconds(2));
  CHECK_FALSE(MustParse({"--leader-elect", "--leader-elect=false"}).leader_election.enabled);
}

TEST_CASE("underscores in names are dashes, in values they stay") {
  const Options o = MustParse({"--kube_api_burst=7", "--skipped_propagating_namespaces=a_b"});
  CHECK(o.kube_api_burst == 7);
  CHECK(o.skipped_propagating_namespaces == std::vector<std::string>{"a_b"});
}

TEST_CASE("the short form of the verbosity is known") {
  CHECK(MustParse({"-v", "3"}).logging.verbosity == 3);
  CHECK(MustParse({"-v=3"}).logging.verbosity == 3);
  CHECK(MustParse({"-v3"}).logging.verbosity == 3);
}

TEST_CASE("feature gates can be given in one flag or in several") {
  const Options o = MustParse(
      {"--feature-gates=AllAlpha=true,Failover=true", "--feature-gates=WorkloadAffinity=false"});
  CHECK(o.gates.Enabled(config::Gate::kFailover));
  CHECK(o.gates.Enabled(config::Gate::kMultiClusterService));
  CHECK_FALSE(o.gates.Enabled(config::Gate::kWorkloadAffinity));
}

TEST_CASE("refused flags and values are named") {
  struct Case {
    std::vector<std::string> arguments;
    const char* named;
  };
  const std::vector<Case> cases = {
      {{"--no-such-flag"}, "no-such-flag"},
      {{"--no-such-flag=1"}, "no-such-flag"},
      {{"stray"}, "stray"},
      {{"--concurrent-work-syncs=many"}, "--concurrent-work-syncs"},
      {{"--concurrent-work-syncs=1.5"}, "--concurrent-work-syncs"},
      {{"--kube-api-qps=fast"}, "--kube-api-qps"},
      {{"--cluster-monitor-period=5"}, "--cluster-monitor-period"},
      {{"--cluster-monitor-period=soon"}, "--cluster-monitor-period"},
      {{"--cluster-monitor-period=inf"}, "--cluster-monitor-period"},
      {{"--cluster-monitor-period=0"}, "--cluster-monitor-period"},
      {{"--cluster-status-update-frequency=-1s"}, "--cluster-status-update-frequency"},
      {{"--cluster-monitor-grace-period=0s"}, "--cluster-monitor-grace-period"},
      {{"--cluster-startup-grace-period=0s"}, "--cluster-startup-grace-period"},
      {{"--leader-elect=maybe"}, "--leader-elect"},
      {{"--lua-timeout=0s"}, "--lua-timeout"},
      {{"--lua-memory-mib=0"}, "--lua-memory-mib"},
      {{"--cluster-memory-mib=-1"}, "--cluster-memory-mib"},
      {{"--feature-gates=Nonsense=true"}, "Nonsense"},
      {{"--feature-gates=Failover=perhaps"}, "Failover"},
      {{"--logging-format=xml"}, "--logging-format"},
      {{"--success-events=none"}, "--success-events"},
      {{"--skipped-propagating-namespaces=("}, "--skipped-propagating-namespaces"},
      {{"--leader-elect-lease-duration=5s"}, "--leader-elect-lease-duration"},
      {{"--leader-elect-retry-period=9s"}, "--leader-elect-retry-period"},
      {{"--kubeconfig"}, "--kubeconfig"},
      {{"--skipped-propagating-apis=a/b/c/d"}, "a/b/c/d"},
  };
  for (const Case& c : cases) {
    INFO(c.arguments[0]);
    const std::string message = Refusal(c.arguments);
    INFO(message);
    CHECK(absl::StartsWith(message, "Error: "));
    CHECK(absl::StrContains(message, c.named));
  }
}

TEST_CASE("a slip on the command line is named in words, with what was probably meant") {
  struct Case {
    std::vector<std::string> arguments;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{"--concurrent-work-sync=3"},
       "there is no flag --concurrent-work-sync; did you mean --concurrent-work-syncs?"},
      {{"--kubeconfg", "x"}, "there is no flag --kubeconfg; did you mean --kubeconfig?"},
      {{"--leader_elct=true"}, "there is no flag --leader-elct; did you mean --leader-elect?"},
      {{"--frobnicate"}, "there is no flag --frobnicate\n"},
      {{"versoin"}, "there is no command \"versoin\"; did you mean version?"},
      {{"start"},
       "there is no command \"start\"; there are permissions, version, completion, help\n"},
      {{"version", "now"}, "version takes no argument \"now\"\n"},
      {{"--concurrent-work-syncs=many"}, "--concurrent-work-syncs: \"many\" is not a whole number"},
      {{"--kube-api-qps=fast"}, "--kube-api-qps: \"fast\" is not a number"},
      {{"--leader-elect=flase"}, "--leader-elect: \"flase\" is not true or false"},
      {{"--kubeconfig"}, "--kubeconfig: the value is missing\n"},
      {{"--feature-gates=Failovr=true"},
       "unrecognized feature gate: Failovr; did you mean Failover?"},
  };
  for (const Case& c : cases) {
    INFO(c.arguments[0]);
    const std::string message = Refusal(c.arguments);
    INFO(message);
    CHECK(absl::StrContains(message, c.says));
  }
}

TEST_CASE("timings of an election that is not held do not matter") {
  CHECK(MustParse({"--leader-elect=false", "--leader-elect-lease-duration=1s"})
            .leader_election.lease_duration == absl::Seconds(1));
}

TEST_CASE("a warm stand-by without an election is warned of") {
  for (const char* without : {"--leader-elect=false", "--shadow"}) {
    const Options options = MustParse({"--warm-stand-by", without});
    CHECK(options.warm_stand_by);
    CHECK(std::any_of(options.warnings.begin(), options.warnings.end(), [](const auto& warning) {
      return absl::StartsWith(warning.text, "--warm-stand-by has no effect with ");
    }));
  }
  CHECK(MustParse({"--warm-stand-by"}).warnings.empty());
}

TEST_CASE("a shadow is announced") {
  CHECK_FALSE(MustParse({}).shadow);
  const Options options = MustParse({"--shadow"});
  CHECK(options.shadow);
  REQUIRE(options.warnings.size() == 2);
  CHECK(absl::StrContains(options.warnings[0].text, "nothing is written"));
  CHECK(absl::StrContains(options.warnings[1].text, "no leader election"));
  CHECK(options.settings.at("shadow") == "true");
}

TEST_CASE("a shadow warns that it does not show joins of Cluster API") {
  const Options options = MustParse({"--shadow", "--cluster-api-kubeconfig=/k"});
  REQUIRE(options.warnings.size() == 3);
  CHECK(absl::StrContains(options.warnings[2].text, "does not show the joins of Cluster API"));
}

TEST_CASE("the report of a shadow needs a shadow, and a time that has not passed") {
  CHECK(absl::StrContains(Refusal({"--shadow-report=-"}), "--shadow-report: \"-\" needs --shadow"));
  CHECK(absl::StrContains(Refusal({"--shadow", "--shadow-report=-", "--shadow-time-limit=-1s"}),
                          "--shadow-time-limit: must not be negative"));
  CHECK(absl::StrContains(Refusal({"--shadow", "--shadow-time-limit=1m"}),
                          "--shadow-time-limit: needs --shadow-report"));
  CHECK(MustParse({"--shadow", "--shadow-report=-"}).settings.at("shadow-report") == "-");
}

TEST_CASE("the environment changes no flag") {
  setenv("CONCURRENT_WORK_SYNCS", "99", 1);
  setenv("KARMADA_CONCURRENT_WORK_SYNCS", "99", 1);
  CHECK(MustParse({}).concurrency.work == 5);
  unsetenv("CONCURRENT_WORK_SYNCS");
  unsetenv("KARMADA_CONCURRENT_WORK_SYNCS");
}

TEST_CASE("help and version are printed and end the program well") {
  const Parsed help = Parse({"--help"});
  CHECK(help.outcome == Parsed::Outcome::kExit);
  CHECK(help.exit_code == 0);
  CHECK(absl::StrContains(help.output, "--skipped-propagating-apis"));
  CHECK(absl::StrContains(help.output, "Failover=true|false"));
  CHECK_FALSE(absl::StrContains(help.output, "--logtostderr"));
  const Parsed version = Parse({"version"});
  CHECK(version.exit_code == 0);
  CHECK(version.output == config::VersionText("karmada-controller-manager"));
  CHECK(absl::StartsWith(version.output, absl::StrCat("karmada-controller-manager version: "
                                                      "version.Info{GitVersion:\"",
                                                      config::Version(), "\"")));
  CHECK(Parse({"--version"}).output == absl::StrCat(config::Version(), "\n"));
  CHECK(config::UserAgent("a-program") == absl::StrCat("a-program/", config::Version()));
  CHECK(Parse({"--version"}).exit_code == 0);
  CHECK(Parse({"help"}).output == help.output);
  CHECK(Parse({"help"}).exit_code == 0);
  CHECK_FALSE(absl::StartsWith(Parse({"help", "version"}).output, "karmada-controller-manager"));
  CHECK(Parse({"help", "version"}).output == Parse({"version", "--help"}).output);
}

TEST_CASE("the autoscaler's flags have upstream's defaults, and effect") {
  const config::PodAutoscaling standard = MustParse({}).pod_autoscaling;
  CHECK(standard.sync_period == absl::Seconds(15));
  CHECK(standard.tolerance == 0.1);
  CHECK(standard.downscale_stabilization == absl::Minutes(5));
  CHECK(standard.cpu_initialization_period == absl::Minutes(5));
  CHECK(standard.initial_readiness_delay == absl::Seconds(30));
  const Parsed parsed = Parse({"--horizontal-pod-autoscaler-sync-period=1m",
                               "--horizontal-pod-autoscaler-tolerance=0.25",
                               "--horizontal-pod-autoscaler-downscale-stabilization=2m",
                               "--horizontal-pod-autoscaler-cpu-initialization-period=3m",
                               "--horizontal-pod-autoscaler-initial-readiness-delay=4s"});
  REQUIRE(parsed.outcome == Parsed::Outcome::kRun);
  const config::PodAutoscaling& given = parsed.options.pod_autoscaling;
  CHECK(given.sync_period == absl::Minutes(1));
  CHECK(given.tolerance == 0.25);
  CHECK(given.downscale_stabilization == absl::Minutes(2));
  CHECK(given.cpu_initialization_period == absl::Minutes(3));
  CHECK(given.initial_readiness_delay == absl::Seconds(4));
  CHECK(parsed.options.warnings.empty());
}

TEST_CASE("the first entry that names a controller decides whether it runs, else the star") {
  Options o;
  CHECK(o.ControllerEnabled("binding"));
  CHECK_FALSE(o.ControllerEnabled("hpaScaleTargetMarker", false));
  o.controllers = {"*", "-binding", "hpaScaleTargetMarker"};
  CHECK_FALSE(o.ControllerEnabled("binding"));
  CHECK(o.ControllerEnabled("cluster"));
  CHECK(o.ControllerEnabled("hpaScaleTargetMarker", false));
  o.controllers = {"binding", "-binding"};
  CHECK(o.ControllerEnabled("binding"));
  CHECK_FALSE(o.ControllerEnabled("cluster"));
}

TEST_CASE("durations are read as Go reads them") {
  const auto parse = [](const char* text) {
    absl::Duration d = absl::Seconds(-77);
    return config::ParseGoDuration(text, d).ok() ? d : absl::Seconds(-77);
  };
  CHECK(parse("0") == absl::ZeroDuration());
  CHECK(parse("1h0m5s") == absl::Seconds(3605));
  CHECK(parse("1.5h") == absl::Minutes(90));
  CHECK(parse("300ms") == absl::Milliseconds(300));
  CHECK(parse("10us") == absl::Microseconds(10));
  CHECK(parse("10\xc2\xb5s") == absl::Microseconds(10));
  CHECK(parse("10\xce\xbcs") == absl::Microseconds(10));
  CHECK(parse("-5s") == absl::Seconds(-5));
  CHECK(parse("1ns") == absl::Nanoseconds(1));
  for (const char* text : {"", "5", "1d", "s", "1 s", "inf", "-inf", "9999999h", "1h 5m", "abc"}) {
    INFO(text);
    CHECK(parse(text) == absl::Seconds(-77));
  }
}

}  // namespace
