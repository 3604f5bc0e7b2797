// What a preflight makes of the arguments of upstream's controller manager.
#include "lens/preflight/arguments_check.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "config/support.h"
#include "lens/preflight/report.h"
#include "tests/lens/preflight/fake_plane.h"

namespace tests {
namespace {

using Catch::Contains;
using lens::preflight::Arguments;
using lens::preflight::CheckArguments;
using lens::preflight::CheckedArguments;
using lens::preflight::Grade;
using lens::preflight::Part;
using lens::preflight::Report;
using lens::preflight::Row;

CheckedArguments Check(std::vector<std::string> words) {
  auto checked = CheckArguments({.source = "args", .words = std::move(words)});
  INFO(checked.status());
  REQUIRE(checked.ok());
  return *std::move(checked);
}

std::vector<std::string> Lost(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (row.grade == Grade::kLost) names.push_back(row.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Row ImageRow(const std::string& image) {
  return CheckArguments({.source = "it", .image = image})->rows.front();
}

}  // namespace

TEST_CASE("Preflight: what upstream's installers give is the same here") {
  const CheckedArguments checked = Check(
      {"--kubeconfig=/etc/karmada/config/karmada.config", "--metrics-bind-address=127.0.0.1:8080",
       "--health-probe-bind-address=127.0.0.1:10357", "--cluster-status-update-frequency=10s",
       "--leader-elect-resource-namespace=ks", "--controllers=*,hpaScaleTargetMarker",
       "--feature-gates=PropagateDeps=false", "-v=2"});
  CHECK(Report{.rows = checked.rows}.Verdict() == Grade::kSame);
  CHECK(RowOf(checked.rows, "--v").use == "2");
  CHECK(RowOf(checked.rows, "PropagateDeps").use == "off");
  CHECK_FALSE(RowOf(checked.rows, "PropagateDeps").quiet);
  CHECK(RowOf(checked.rows, "GracefulEviction").quiet);
}

TEST_CASE("Preflight: every flag, gate and controller that is refused is a row of its own") {
  const CheckedArguments checked =
      Check({"--no-such-flag=1", "--bind-address", "0.0.0.0", "--v=4",
             "--controllers=*,noSuchController,-remedy",
             "--feature-gates=NoSuchGate=true,Failover=true,PropagateDeps=perhaps",
             "--cluster-monitor-period=-1s"});
  CHECK(Lost(checked.rows) == std::vector<std::string>{"--bind-address", "--cluster-monitor-period",
                                                       "--no-such-flag", "NoSuchGate",
                                                       "PropagateDeps"});
  // Upstream ignores such a name, too.
  CHECK(RowOf(checked.rows, "--controllers").part == Part::kControllers);
  CHECK_THAT(RowOf(checked.rows, "--controllers").note,
             Contains("there is no controller \"noSuchController\""));
  CHECK(RowOf(checked.rows, "NoSuchGate").part == Part::kGates);
  CHECK_THAT(RowOf(checked.rows, "--bind-address").note, Contains("v1.12 removed this flag"));
  // The rest is as the daemon would take it.
  CHECK(RowOf(checked.rows, "Failover").use == "on");
  CHECK(checked.options.logging.verbosity == 4);
  CHECK_FALSE(checked.options.ControllerEnabled("remedy"));
}

TEST_CASE("Preflight: an argument that is refused twice takes no other one with it") {
  const CheckedArguments checked = Check({"--nope", "--nope", "--feature-gates=Failover=true"});
  CHECK(Lost(checked.rows) == std::vector<std::string>{"--nope", "--nope"});
  CHECK(checked.options.gates.Enabled(config::Gate::kFailover));
}

TEST_CASE("Preflight: a flag that is right only together with another one is not lost") {
  CHECK(Lost(Check({"--leader-elect-renew-deadline=20s", "--leader-elect-lease-duration=30s",
                    "--no-such-flag"})
                 .rows) == std::vector<std::string>{"--no-such-flag"});
  CHECK(Lost(Check({"--v=1", "--leader-elect-renew-deadline=20s"}).rows) ==
        std::vector<std::string>{"--leader-elect-renew-deadline"});
}

TEST_CASE("Preflight: what the daemon would warn of differs, with its words") {
  const CheckedArguments checked =
      Check({"--log-flush-frequency=3s", "--concurrent-work-syncs=0", "--add-dir-header=false",
             "--feature-gates=AllAlpha=true,ControllerPriorityQueue=false", "--kube_api_burst=60"});
  const auto differs = [&](const std::string& name) {
    const Row row = RowOf(checked.rows, name);
    CHECK(row.grade == Grade::kDiffers);
    return row.note;
  };
  CHECK_THAT(differs("--log-flush-frequency"), Contains("has no effect"));
  CHECK_THAT(differs("--concurrent-work-syncs"), Contains("is too small: 1 is used"));
  CHECK_THAT(differs("LoggingAlphaOptions"), Contains("has no effect"));
  CHECK_THAT(differs("ControllerPriorityQueue"), Contains("queues always have priorities"));
  CHECK_THAT(differs("--kube-api-burst"), Contains("without --kube-api-qps"));
  CHECK(RowOf(checked.rows, "--add-dir-header").grade == Grade::kSame);
  CHECK(RowOf(checked.rows, "MultiClusterService").grade == Grade::kSame);
  // Each of the daemon's warnings is in a row.
  CHECK(Report{.rows = checked.rows}.Count(Grade::kDiffers) == checked.options.warnings.size());
}

TEST_CASE("Preflight: a warning about two flags grades those that were given, and no other") {
  const std::string mode = "--no-execute-taint-eviction-purge-mode";
  const std::string rate = "--resource-eviction-rate";
  const auto has = [](const std::vector<Row>& rows, const std::string& name) {
    return std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
  };
  const auto only_rate = Check({rate + "=2"}).rows;
  CHECK(RowOf(only_rate, rate).grade == Grade::kDiffers);
  CHECK_THAT(RowOf(only_rate, rate).note, Contains("have no effect without"));
  CHECK_FALSE(has(only_rate, mode));
  CHECK(Report{.rows = only_rate}.Count(Grade::kDiffers) == 1);

  const auto both = Check({rate + "=2", mode + "=Directly"}).rows;
  CHECK(RowOf(both, rate).grade == Grade::kDiffers);
  CHECK(RowOf(both, mode).grade == Grade::kDiffers);
  // Given, but as it is by default.
  const auto standard = Check({rate + "=2", mode + "=Gracefully"}).rows;
  CHECK(RowOf(standard, mode).grade == Grade::kSame);
}

TEST_CASE("Preflight: two warnings about one flag are both in its row") {
  const auto rows = Check({"--shadow"}).rows;
  const Row row = RowOf(rows, "--shadow");
  CHECK(row.grade == Grade::kDiffers);
  CHECK_THAT(row.note, Contains("nothing is written") && Contains("no leader election"));
  CHECK(Report{.rows = rows}.Count(Grade::kDiffers) == 1);
}

TEST_CASE("Preflight: a gate without the one that it needs differs") {
  const auto rows = Check({"--feature-gates=TransitiveDependencies=true,PropagateDeps=false"}).rows;
  const Row row = RowOf(rows, "TransitiveDependencies");
  CHECK(row.grade == Grade::kDiffers);
  CHECK_THAT(row.note, Contains("has no effect without PropagateDeps"));
  CHECK(Report{.rows = rows}.Count(Grade::kDiffers) == 1);
}

TEST_CASE("Preflight: warnings that concern no flag alone are rows, too") {
  const auto rows = Check({"--controllers=clustertaintpolicy", "--resource-eviction-rate=1"}).rows;
  const Row row = RowOf(rows, "--controllers");
  CHECK(row.part == Part::kControllers);
  CHECK(row.grade == Grade::kDiffers);
  CHECK_THAT(row.note, Contains("clustertaintpolicy has no effect without"));
}

TEST_CASE("Preflight: an argument whose variable is not known could not be determined") {
  const auto checked = CheckArguments({.source = "args", .unresolved = {"--vmodule=$(X)"}});
  REQUIRE(checked.ok());
  const Row row = RowOf(checked->rows, "--vmodule");
  CHECK(row.grade == Grade::kUnknown);
  CHECK(row.use == "$(X)");
}

TEST_CASE("Preflight: arguments that print something are no daemon's") {
  for (const char* word : {"--help", "version"}) {
    const auto checked = CheckArguments({.source = "Deployment a/b", .words = {word}});
    CHECK(absl::IsInvalidArgument(checked.status()));
    CHECK_THAT(std::string(checked.status().message()), Contains("Deployment a/b"));
  }
}

TEST_CASE("Preflight: an image of another release than the control plane's differs") {
  const auto note = [](const std::string& image, config::Release release) {
    return CheckArguments({.source = "it", .image = image}, release)->rows.front().note;
  };
  const std::string older = "karmada-controller-manager:v1.18.3";
  const std::string newer = "karmada-controller-manager:v1.19.1";
  CHECK(note(older, config::Release::kV1_18).empty());
  CHECK(note(newer, config::Release::kV1_19).empty());
  CHECK_THAT(note(older, config::Release::kV1_19),
             Contains("would behave as v1.19") &&
                 Contains("--emulated-karmada-version=v1.18 makes it behave as that one"));
  CHECK_THAT(note(newer, config::Release::kV1_18), Contains("would behave as v1.18"));
  CHECK_THAT(note("karmada-controller-manager:v1.20.0", config::Release::kV1_19),
             Contains("compared with upstream's v1.18.2 and v1.19.0-rc.0 (f8fdd02df);"));
}

TEST_CASE("Preflight: a gate whose default the running image has otherwise differs") {
  const auto row = [](const std::string& image, std::vector<std::string> words) {
    const auto checked = CheckArguments({.source = "it", .image = image, .words = std::move(words)},
                                        config::Release::kV1_19);
    return RowOf(checked->rows, "PriorityBasedScheduling");
  };
  const Row off = row("karmada-controller-manager:v1.18.2", {});
  CHECK(off.grade == Grade::kDiffers);
  CHECK(off.use == "on");
  CHECK_THAT(off.note, Contains("is off in the running v1.18, whose default is another one; "
                                "--feature-gates=PriorityBasedScheduling=false keeps that"));
  for (const Row& same : {row("karmada-controller-manager:v1.19.0", {}), row("", {})}) {
    CHECK(same.grade == Grade::kSame);
    CHECK(same.use == "on");
    CHECK(same.quiet);
  }
  const Row named =
      row("karmada-controller-manager:v1.18.2", {"--feature-gates=PriorityBasedScheduling=false"});
  CHECK(named.grade == Grade::kSame);
  CHECK(named.use == "off");
  // The daemon's own flag counts for more than the control plane.
  const Row as_image =
      row("karmada-controller-manager:v1.18.2", {"--emulated-karmada-version=v1.18"});
  CHECK(as_image.use == "off");
  CHECK(as_image.grade == Grade::kSame);
}

TEST_CASE("Preflight: an image of another release differs") {
  CHECK(ImageRow("docker.io/karmada/karmada-controller-manager:v1.18.0").grade == Grade::kSame);
  CHECK(ImageRow("r:5000/karmada-controller-manager:v1.18.2@sha256:1").grade == Grade::kSame);
  CHECK(ImageRow("").grade == Grade::kSame);
  for (const char* image : {"karmada-controller-manager:v1.17.3", "karmada-controller-manager",
                            "r:5000/karmada-controller-manager:latest"}) {
    INFO(image);
    CHECK(ImageRow(image).grade == Grade::kDiffers);
  }
}

TEST_CASE("Preflight: controllers that are not as by default are shown") {
  const auto rows = lens::preflight::ControllerRows(
      Check({"--controllers=*,hpaScaleTargetMarker,-remedy,multiclusterservice",
             "--feature-gates=Failover=true"})
          .options);
  CHECK(RowOf(rows, "binding").quiet);
  CHECK(RowOf(rows, "binding").use == "on");
  CHECK_FALSE(RowOf(rows, "hpaScaleTargetMarker").quiet);
  CHECK(RowOf(rows, "hpaScaleTargetMarker").use == "on");
  CHECK(RowOf(rows, "clustertaintpolicy").use == "on");  // By its gate.
  CHECK(RowOf(rows, "multiclusterservice").use == "off");
  CHECK(RowOf(rows, "remedy").use == "turned off");
  CHECK_FALSE(RowOf(rows, "remedy").quiet);
  CHECK(RowOf(rows, "deploymentReplicasSyncer").quiet);
  CHECK(rows.size() == config::Controllers().size());
}

}  // namespace tests
