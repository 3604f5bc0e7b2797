#include "cmd/controller-manager/settings_page.h"

#include <catch2/catch.hpp>

#include "base/json.h"

namespace cmd {
namespace {

json::Value PageOf(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "karmada-controller-manager");
  const config::Parsed parsed =
      config::ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
  REQUIRE(parsed.outcome == config::Parsed::Outcome::kRun);
  const auto page = json::Parse(SettingsPage(parsed.options));
  REQUIRE(page.ok());
  return (*page)["karmada-controller-manager"];
}

}  // namespace

TEST_CASE("the page of settings has given values and defaults") {
  const json::Value page =
      PageOf({"--controllers=*,-remedy", "--feature-gates=Failover=true", "--cluster-api-qps=7",
              "--cluster-api-qps=8", "--leader-elect=false", "--log-dir=/x"});
  CHECK(page["version"].AsString() != "");
  const json::Value& flags = page["flags"];
  CHECK(flags["cluster-api-qps"].AsString() == "8");
  CHECK(flags["leader-elect"].AsString() == "false");
  CHECK(flags["enable-pprof"].AsString() == "false");
  CHECK(flags["controllers"].AsString() == "*,-remedy");
  CHECK(flags["skipped-propagating-namespaces"].AsString() == "kube-.*");
  CHECK(flags["cluster-monitor-period"].AsString() == "5s");
  CHECK(flags["kubeconfig"].AsString() == "");
  CHECK_FALSE(flags.Has("log-dir"));  // It has no effect.
  CHECK_FALSE(flags.Has("help"));
  CHECK(page["featureGates"]["Failover"].AsBool());
  CHECK(page["featureGates"]["PropagateDeps"].AsBool());
  CHECK_FALSE(page["featureGates"]["WorkloadAffinity"].AsBool(true));
  CHECK(json::Write(page["controllersOff"]) == R"(["remedy"])");
  CHECK(page["controllers"].size() > 10);
  CHECK(page["warnings"].size() == 1);
}

}  // namespace cmd
