// Settings without effect are reported, and docs/support.md lists the same ones.
#include "config/support.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "config/command_line.h"
#include "config/feature_gates.h"
#include "config/options.h"

namespace {

using config::Parsed;
using config::State;

Parsed Parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"karmada-controller-manager"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return config::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

std::vector<std::string> Warnings(const std::vector<std::string>& arguments) {
  const Parsed parsed = Parse(arguments);
  INFO(parsed.output);
  REQUIRE(parsed.outcome == Parsed::Outcome::kRun);
  return config::TextsOf(parsed.options.warnings);
}

std::string Refusal(const std::vector<std::string>& arguments) {
  const Parsed parsed = Parse(arguments);
  INFO(absl::StrJoin(arguments, " "));
  REQUIRE(parsed.outcome == Parsed::Outcome::kExit);
  CHECK(parsed.exit_code == config::kUsageExitCode);
  return parsed.output;
}

std::string Read(const std::string& path) { return base::ReadFile(path).value(); }

TEST_CASE("a flag without effect is accepted with one warning that says what it would do") {
  CHECK(Warnings({"--log-dir=/x"}).size() == 1);
  CHECK(Warnings({"--log-flush-frequency", "3s"}) ==
        std::vector<std::string>{"--log-flush-frequency=3s has no effect: every line is written "
                                 "to standard error at once"});
  CHECK(Warnings({"--log-dir=/x", "--v=2", "--enable-no-execute-taint-eviction=true"}).size() == 2);
}

TEST_CASE("settings that ask for the fixed behaviour need no warning") {
  CHECK(Warnings({}).empty());
  CHECK(Warnings({"--enable-taint-manager=false", "--logtostderr", "--enable-pprof=false",
                  "--resync-period=10m", "--feature-gates=Failover=false,ContextualLogging=true",
                  "--controllers=*,-cronFederatedHorizontalPodAutoscaler",
                  "--cluster-api-kubeconfig=", "--cluster-api-context="})
            .empty());
  CHECK(Warnings({"--concurrent-work-syncs=20", "--kube-api-qps=100", "--kube-api-burst=200"})
            .empty());
}

TEST_CASE("values of flags without effect are checked as upstream checks them") {
  CHECK(absl::StrContains(Refusal({"--resource-eviction-rate=-1"}), "--resource-eviction-rate"));
  CHECK(absl::StrContains(Refusal({"--resource-eviction-rate=much"}), "--resource-eviction"));
  CHECK(absl::StrContains(Refusal({"--federated-resource-quota-sync-period=0s"}), "greater than"));
  CHECK(absl::StrContains(Refusal({"--graceful-eviction-timeout=5"}), "is not a duration"));
  CHECK(absl::StrContains(Refusal({"--concurrent-dependent-resource-syncs=x"}), "not an integer"));
  CHECK(absl::StrContains(Refusal({"--enable-taint-manager=maybe"}), "--enable-taint-manager"));
  const std::string mode = "--no-execute-taint-eviction-purge-mode=Never";
  CHECK(Warnings({mode}).size() == 1);  // Upstream checks it only together with the next flag.
  CHECK(absl::StrContains(Refusal({mode, "--enable-no-execute-taint-eviction"}), "Gracefully"));
}

TEST_CASE("a context of Cluster API needs its kubeconfig, and times of a resync have a limit") {
  CHECK(Warnings({"--cluster-api-context=c"}) ==
        std::vector<std::string>{
            "--cluster-api-context has no effect without --cluster-api-kubeconfig"});
  CHECK(Warnings({"--cluster-api-context=c", "--cluster-api-kubeconfig=/k"}).empty());
  const Parsed parsed = Parse({"--resync-period=1ms"});
  CHECK(parsed.options.resync_period == absl::Seconds(1));
  CHECK(config::TextsOf(parsed.options.warnings) ==
        std::vector<std::string>{"--resync-period=1ms is too short: 1s is used"});
  CHECK(Parse({"--resync-period=-5m"}).options.resync_period == absl::ZeroDuration());
  CHECK(Warnings({"--resync-period=-5m"}) ==
        std::vector<std::string>{"--resync-period=-5m is negative: 0 is used, which means never"});
  CHECK(Parse({}).options.resync_period == absl::ZeroDuration());
}

TEST_CASE("a gate without effect gets a warning, a whole stage one warning for all its gates") {
  CHECK(Warnings({"--feature-gates=PropagateDeps=true"}).empty());
  CHECK(Warnings({"--feature-gates=ControllerPriorityQueue=false"}) ==
        std::vector<std::string>{"--feature-gates=ControllerPriorityQueue=false has no effect: "
                                 "queues always have priorities"});
  const auto all = Warnings({"--feature-gates=AllAlpha=true,FederatedQuotaEnforcement=false"});
  REQUIRE(all.size() == 1);
  CHECK(absl::StrContains(all[0], "LoggingAlphaOptions"));
  CHECK_FALSE(absl::StrContains(all[0], "FederatedQuotaEnforcement"));
  CHECK_FALSE(absl::StrContains(all[0], "ResourceQuotaEstimate"));
}

TEST_CASE("numbers that stop upstream from working are replaced, with a warning") {
  const Parsed parsed = Parse({"--concurrent-work-syncs=0", "--kube-api-qps=-1",
                               "--rate-limiter-qps=0", "--rate-limiter-base-delay=-1s"});
  REQUIRE(parsed.outcome == Parsed::Outcome::kRun);
  CHECK(parsed.options.concurrency.work == 1);
  CHECK(parsed.options.kube_api_qps == 0);
  CHECK(parsed.options.rate_limits.qps == 10);
  CHECK(parsed.options.rate_limits.base_delay == absl::Milliseconds(5));
  CHECK(config::TextsOf(parsed.options.warnings) ==
        std::vector<std::string>{"--concurrent-work-syncs=0 is too small: 1 is used",
                                 "--kube-api-qps=-1 is too small: 0 is used",
                                 "--rate-limiter-base-delay=-1s is not positive: 5ms is used",
                                 "--rate-limiter-qps=0 is not positive: 10 is used"});
  CHECK(Warnings({"--kube-api-burst=100"}).size() == 1);
}

TEST_CASE("the flags of evictions are read and checked") {
  const Parsed parsed =
      Parse({"--feature-gates=Failover=true", "--enable-no-execute-taint-eviction",
             "--no-execute-taint-eviction-purge-mode=Directly", "--resource-eviction-rate=2.5"});
  REQUIRE(parsed.outcome == Parsed::Outcome::kRun);
  const config::TaintEviction& flags = parsed.options.taint_eviction;
  CHECK(flags.manager);
  CHECK(flags.no_execute);
  CHECK(flags.purge_mode == "Directly");
  CHECK(flags.rate == 2.5);
  CHECK(parsed.options.warnings.empty());
  CHECK_FALSE(Parse({"--enable-taint-manager=false"}).options.taint_eviction.manager);
  CHECK(absl::StrContains(Refusal({"--resource-eviction-rate=nan"}), "--resource-eviction-rate"));
  const std::string no_execute = "--enable-no-execute-taint-eviction";
  const std::string gate = "--feature-gates=Failover=true";
  CHECK(Warnings({no_execute}) ==
        std::vector<std::string>{no_execute +
                                 " has no effect without --feature-gates=Failover=true"});
  CHECK(Warnings({no_execute, gate, "--enable-taint-manager=false"}).size() == 1);
  CHECK(Warnings({no_execute, gate, "--controllers=*,-cluster"}).size() == 1);
  CHECK(Warnings({"--resource-eviction-rate=2"}).size() == 1);
  CHECK(Warnings({"--no-execute-taint-eviction-purge-mode=Directly"}).size() == 1);
  CHECK(Warnings({"--controllers=clustertaintpolicy"}).size() == 1);
  CHECK(Warnings({"--controllers=clustertaintpolicy", gate, no_execute, "--controllers=cluster"})
            .empty());
  CHECK(Warnings({gate}) == std::vector<std::string>{
                                "the gate Failover moves nothing away from clusters with NoExecute "
                                "taints without --enable-no-execute-taint-eviction"});
  for (const char* name :
       {"multiclusterservice", "endpointsliceCollect", "endpointsliceDispatch"}) {
    const std::string controller = absl::StrCat("--controllers=*,", name);
    CHECK(Warnings({controller}).size() == 1);
    CHECK(Warnings({controller, "--feature-gates=MultiClusterService=true"}).empty());
  }
  CHECK(Warnings({"--feature-gates=TransitiveDependencies=true,PropagateDeps=false"}).size() == 1);
  const std::string enforced = "--feature-gates=FederatedQuotaEnforcement=true";
  CHECK(Warnings({"--controllers=*,federatedResourceQuotaEnforcement"}).size() == 1);
  CHECK(Warnings({"--federated-resource-quota-sync-period=1m"}).size() == 1);
  CHECK(Warnings({"--controllers=*,federatedResourceQuotaEnforcement",
                  "--federated-resource-quota-sync-period=1m", enforced})
            .empty());
}

TEST_CASE("flags of the election have no effect without it, and say so") {
  const std::string off = "--leader-elect=false";
  CHECK(Warnings({off}).empty());
  CHECK(Warnings({"--leader-elect-retry-period=3s"}).empty());
  CHECK(Warnings({off, "--leader-elect-retry-period=3s"}) ==
        std::vector<std::string>{
            "--leader-elect-retry-period has no effect with --leader-elect=false"});
  CHECK(Warnings({off, "--leader-elect-lease-duration=30s", "--leader-elect-renew-deadline=20s",
                  "--leader-elect-release-on-exit"})
            .size() == 3);
}

TEST_CASE("an unknown controller has no effect, as upstream, and a warning with what was meant") {
  CHECK(Warnings({"--controllers=*,-bindng,+cluster,,execution"}) ==
        std::vector<std::string>{
            "--controllers: -bindng has no effect: there is no controller \"bindng\"; did you mean "
            "binding?",
            "--controllers: +cluster has no effect: there is no controller \"+cluster\"; did you "
            "mean cluster?"});
  const Parsed parsed = Parse({"--controllers=fooooooo,remedy"});
  REQUIRE(parsed.options.warnings.size() == 1);
  CHECK(
      parsed.options.warnings[0].text ==
      "--controllers: fooooooo has no effect: there is no controller \"fooooooo\"; the list has no "
      "\"*\", so only the controllers that it names are on");
  CHECK(parsed.options.ControllerEnabled("remedy"));
  CHECK_FALSE(parsed.options.ControllerEnabled("binding"));
}

TEST_CASE("numbers of the autoscaler that upstream starts with are accepted with a warning") {
  const Parsed parsed = Parse(
      {"--horizontal-pod-autoscaler-sync-period=0s", "--horizontal-pod-autoscaler-tolerance=-0.5"});
  CHECK(config::TextsOf(parsed.options.warnings) ==
        std::vector<std::string>{
            "--horizontal-pod-autoscaler-sync-period=0 is not positive: 15s is used",
            "--horizontal-pod-autoscaler-tolerance=-0.5 is too small: 0 is used"});
  CHECK(parsed.options.pod_autoscaling.sync_period == absl::Seconds(15));
  CHECK(parsed.options.pod_autoscaling.tolerance == 0);
}

TEST_CASE("flags of earlier releases are refused with what takes their place") {
  CHECK(absl::StrContains(Refusal({"--secure_port=10357"}),
                          "--secure-port: Karmada v1.12 removed this flag; use "
                          "--health-probe-bind-address=ADDRESS:PORT"));
  for (const char* flag :
       {"--bind-address", "--cluster-lease-duration", "--cluster-lease-renew-interval-fraction",
        "--failover-eviction-timeout"}) {
    CHECK(absl::StrContains(Refusal({flag, "1"}), absl::StrCat(flag, ": Karmada v1.")));
  }
}

TEST_CASE("every flag of upstream is known") {
  std::set<std::string> known;
  for (const config::FlagSupport& flag : config::Flags()) known.insert(flag.name);
  std::stringstream names(Read("tests/config/data/upstream_flags.txt"));
  for (std::string name; std::getline(names, name);) {
    INFO(name);
    CHECK(known.erase(name) == 1);
  }
  CHECK(known ==
        std::set<std::string>{
            "--cluster-memory-mib", "--emulated-karmada-version",
            "--interpreter-admission-bind-address", "--interpreter-admission-tls-cert-file",
            "--interpreter-admission-tls-private-key-file", "--leader-elect-release-on-exit",
            "--lua-memory-mib", "--lua-timeout", "--member-server-side-apply", "--shadow",
            "--shadow-report", "--shadow-time-limit", "--success-events", "--warm-stand-by"});
}

TEST_CASE("what was changed from the defaults is known for the log") {
  CHECK(Parse({"--v=2", "--concurrent-work-syncs=5", "--controllers=*,-binding",
               "--feature-gates=WorkloadAffinity=true", "--cluster-monitor-period=10s",
               "--add-dir-header"})
            .options.changed_flags ==
        "--controllers=*,-binding --feature-gates=WorkloadAffinity=true "
        "--cluster-monitor-period=10s --v=2 --add-dir-header=true");
}

// ---- docs/support.md ------------------------------------------------------------------------

std::string Row(absl::string_view name, State state, absl::string_view note) {
  return absl::StrCat("| `", name, "` | ", config::StateText(state), " | ", note, " |\n");
}

// Returns "on", or "off as v1.18, on as v1.19" where the releases differ.
std::string DefaultOf(const std::string& gate) {
  std::vector<std::string> defaults;
  for (const absl::string_view release : config::kReleases.Texts()) {
    config::FeatureGates gates;
    gates.Emulate(*config::kReleases.Named(release));
    const std::string value = gates.All().at(gate) ? "on" : "off";
    const std::string dated = absl::StrCat(value, " as ", release);
    if (defaults.empty() || !absl::StartsWith(defaults.back(), value + " "))
      defaults.push_back(dated);
  }
  if (defaults.size() > 1) return absl::StrJoin(defaults, ", ");
  return defaults[0].substr(0, defaults[0].find(' '));
}

std::map<std::string, std::string> Tables() {
  std::map<std::string, std::string> tables;
  for (const auto& c : config::Controllers()) {
    tables["controllers"] +=
        Row(c.name, c.state, absl::StrCat(c.note, c.on_by_default ? "" : " (off by default)"));
  }
  for (const auto& s : config::LoopsWithoutSwitch()) {
    tables["loops"] +=
        absl::StrCat("| ", s.name, " | ", config::StateText(s.state), " | ", s.note, " |\n");
  }
  for (const auto& k : config::Kinds()) {
    tables["kinds"] += Row(absl::StrCat(k.resource, ".", k.group), k.state, k.note);
  }
  for (const auto& g : config::GateSupport()) {
    tables["gates"] += absl::StrCat("| `", g.name, "` | ", config::StateText(g.state), " | ",
                                    DefaultOf(std::string(g.name)), " | ", g.note, " |\n");
  }
  for (const auto& f : config::Flags()) {
    tables["flags"] += Row(f.name, f.state, f.note);
  }
  for (const auto& c : config::AgentControllers()) {
    tables["agent controllers"] +=
        Row(c.name, c.state, absl::StrCat(c.note, c.on_by_default ? "" : " (off by default)"));
  }
  for (const auto& f : config::AgentFlags()) {
    tables["agent flags"] += Row(f.name, f.state, f.note);
  }
  return tables;
}

// Returns the page with each table between its marks replaced.
std::string WithTables(std::string page) {
  for (const auto& [name, rows] : Tables()) {
    const std::string begin = absl::StrCat("<!-- ", name, " -->\n"), end = "<!-- end -->";
    const size_t from = page.find(begin);
    INFO(name);
    REQUIRE(from != std::string::npos);
    const size_t to = page.find(end, from);
    REQUIRE(to != std::string::npos);
    const absl::string_view head = name == "gates"
                                       ? "| name | here | by default | note |\n|---|---|---|---|\n"
                                       : "| name | here | note |\n|---|---|---|\n";
    page.replace(from, to - from, absl::StrCat(begin, head, rows));
  }
  return page;
}

TEST_CASE("docs/support.md has the tables of config/support.h") {
  const std::string path = "docs/support.md";
  const std::string page = Read(path);
  const std::string wanted = WithTables(page);
  if (std::getenv("UPDATE_DOCS") != nullptr) std::ofstream(path) << wanted;
  INFO("UPDATE_DOCS=1 build/release/bin/config_test writes the tables again");
  CHECK(page == wanted);
}

// Returns the text with what stands between `begin` and `end` replaced.
std::string WithPart(std::string text, const std::string& begin, const std::string& end,
                     const std::string& part) {
  const size_t from = text.find(begin);
  INFO(begin);
  REQUIRE(from != std::string::npos);
  const size_t to = text.find(end, from + begin.size());
  REQUIRE(to != std::string::npos);
  return text.replace(from + begin.size(), to - from - begin.size(), part);
}

// A word that the program would refuse is refused by Helm, before a pod of the old version ends.
TEST_CASE("the chart's schema knows the gates and the controllers") {
  std::vector<std::string> gates = {"\"AllAlpha\"", "\"AllBeta\""}, controllers;
  for (const auto& gate : config::GateSupport())
    gates.push_back(absl::StrCat("\"", gate.name, "\""));
  for (const auto& c : config::Controllers()) controllers.emplace_back(c.name);
  const std::string name = absl::StrCat("(\\\\*|-?(", absl::StrJoin(controllers, "|"), "))?");
  const std::string path = "charts/karmada-controller-manager/values.schema.json";
  const std::string schema = Read(path);
  std::string wanted = WithPart(schema, R"("controllers": {"type": "string", "pattern": ")",
                                R"("})", absl::StrCat("^", name, "(,", name, ")*$"));
  wanted = WithPart(wanted,
                    "\"featureGates\": {\n          \"type\": \"object\",\n"
                    "          \"propertyNames\": {\"enum\": [",
                    "]}", absl::StrJoin(gates, ", "));
  if (std::getenv("UPDATE_DOCS") != nullptr) std::ofstream(path) << wanted;
  INFO("UPDATE_DOCS=1 build/release/bin/config_test writes the names again");
  CHECK(schema == wanted);
}

TEST_CASE("a row with a gate says so in its note, and no other row does") {
  const auto note_of = [](const std::optional<config::Gate>& gate) {
    return gate.has_value()
               ? absl::StrCat("only with the gate ", config::FeatureGates::NameOf(*gate))
               : std::string();
  };
  const auto check = [&](const auto& row) {
    INFO(row.note);
    if (row.gate.has_value()) CHECK(row.note == note_of(row.gate));
    if (!row.gate.has_value()) CHECK_FALSE(absl::StartsWith(row.note, "only with the gate"));
  };
  for (const config::ControllerSupport& controller : config::Controllers()) check(controller);
  for (const config::KindSupport& kind : config::Kinds()) check(kind);
}

}  // namespace
