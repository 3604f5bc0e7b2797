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
  CHECK(page["controllers"].size() > 10);
  CHECK(page["warnings"].size() == 2);  // Of --log-dir, and of the gate without its flag.
}

TEST_CASE("the page of settings says of each controller that does not run why it is off") {
  const json::Value page = PageOf(
      {"--controllers=*,-remedy,hpaScaleTargetMarker", "--feature-gates=PropagateDeps=false"});
  CHECK(json::Write(page["controllersOff"]) == json::Write(*json::Parse(R"({
    "Cluster API detector": "it needs --cluster-api-kubeconfig",
    "clustertaintpolicy": "it needs --feature-gates=Failover=true",
    "dependencies distributor": "it needs --feature-gates=PropagateDeps=true",
    "deploymentReplicasSyncer":
        "it is off by default: --controllers=*,deploymentReplicasSyncer turns it on",
    "endpointsliceCollect": "it needs --feature-gates=MultiClusterService=true",
    "endpointsliceDispatch": "it needs --feature-gates=MultiClusterService=true",
    "federatedResourceQuotaEnforcement":
        "it needs --feature-gates=FederatedQuotaEnforcement=true",
    "multiclusterservice": "it needs --feature-gates=MultiClusterService=true",
    "remedy": "--controllers has -remedy"
  })")));
  const json::Value few = PageOf({"--controllers=binding,clustertaintpolicy"});
  CHECK(few["controllersOff"]["execution"].AsString() == "--controllers does not name it");
  CHECK(few["controllersOff"]["clustertaintpolicy"].AsString() ==
        "it needs --feature-gates=Failover=true");
  CHECK_FALSE(few["controllersOff"].Has("binding"));
  CHECK_FALSE(few["controllersOff"].Has("resource detector"));
}

TEST_CASE("with everything switched on each controller is on the page once") {
  const json::Value page = PageOf({"--controllers=*,deploymentReplicasSyncer,hpaScaleTargetMarker",
                                   "--feature-gates=AllAlpha=true,AllBeta=true"});
  CHECK(json::Write(page["controllersOff"]) ==
        R"({"Cluster API detector":"it needs --cluster-api-kubeconfig"})");
  const json::Value standard = PageOf({});
  CHECK(standard["controllers"].size() + standard["controllersOff"].size() ==
        page["controllers"].size() + 1);
}

}  // namespace cmd
