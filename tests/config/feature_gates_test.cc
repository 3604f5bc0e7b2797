#include "config/feature_gates.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"

namespace {

using config::FeatureGates;
using config::Gate;

FeatureGates Set(const char* text) {
  FeatureGates gates;
  INFO(text);
  REQUIRE(gates.Set(text).ok());
  return gates;
}

TEST_CASE("the defaults are upstream's") {
  const FeatureGates gates;
  CHECK_FALSE(gates.Enabled(Gate::kFailover));
  CHECK(gates.Enabled(Gate::kGracefulEviction));
  CHECK(gates.Enabled(Gate::kPropagateDeps));
  CHECK(gates.Enabled(Gate::kCustomizedClusterResourceModeling));
  CHECK(gates.Enabled(Gate::kControllerPriorityQueue));
  CHECK_FALSE(gates.Enabled(Gate::kPropagationPolicyPreemption));
  CHECK_FALSE(gates.Enabled(Gate::kMultiClusterService));
  CHECK_FALSE(gates.Enabled(Gate::kPriorityBasedScheduling));
}

TEST_CASE("gates of this program alone are not switched by stage") {
  const FeatureGates gates = Set("AllAlpha=true,AllBeta=true");
  CHECK_FALSE(gates.Enabled(Gate::kTransitiveDependencies));
  CHECK_FALSE(gates.Enabled(Gate::kCombinedCustomizations));
  CHECK(Set("TransitiveDependencies=true").Enabled(Gate::kTransitiveDependencies));
  CHECK(Set("CombinedCustomizations=true").Enabled(Gate::kCombinedCustomizations));
}

TEST_CASE("gates are switched by name, one or many, with any of Go's words for a boolean") {
  const FeatureGates gates =
      Set(" Failover = true ,PropagateDeps=false,WorkloadAffinity=1,GracefulEviction=F,");
  CHECK(gates.Enabled(Gate::kFailover));
  CHECK_FALSE(gates.Enabled(Gate::kPropagateDeps));
  CHECK(gates.Enabled(Gate::kWorkloadAffinity));
  CHECK_FALSE(gates.Enabled(Gate::kGracefulEviction));
  CHECK(gates.Enabled(Gate::kControllerPriorityQueue));
}

TEST_CASE("later settings win over earlier ones") {
  CHECK_FALSE(Set("Failover=true,Failover=false").Enabled(Gate::kFailover));
  FeatureGates gates = Set("Failover=true");
  REQUIRE(gates.Set("Failover=false").ok());
  CHECK_FALSE(gates.Enabled(Gate::kFailover));
}

TEST_CASE("a stage is switched as a whole") {
  const FeatureGates alpha = Set("AllAlpha=true");
  CHECK(alpha.Enabled(Gate::kPropagationPolicyPreemption));
  CHECK(alpha.Enabled(Gate::kWorkloadAffinity));
  CHECK_FALSE(alpha.Enabled(Gate::kFailover));
  CHECK(Set("AllBeta=true").Enabled(Gate::kFailover));
  const FeatureGates none = Set("AllBeta=false");
  CHECK_FALSE(none.Enabled(Gate::kPropagateDeps));
  CHECK_FALSE(none.Enabled(Gate::kGracefulEviction));
}

TEST_CASE("a gate named itself wins over its stage in whatever order they come") {
  CHECK_FALSE(Set("AllAlpha=true,WorkloadAffinity=false").Enabled(Gate::kWorkloadAffinity));
  CHECK_FALSE(Set("WorkloadAffinity=false,AllAlpha=true").Enabled(Gate::kWorkloadAffinity));
  FeatureGates gates = Set("PropagateDeps=true");
  REQUIRE(gates.Set("AllBeta=false").ok());
  CHECK(gates.Enabled(Gate::kPropagateDeps));
}

TEST_CASE("an unknown gate or value is refused by name") {
  FeatureGates gates;
  CHECK(gates.Set("PolicyPreemption=true").message() ==
        "unrecognized feature gate: PolicyPreemption; did you mean PropagationPolicyPreemption?");
  CHECK(gates.Set("Nonsense=true").message() == "unrecognized feature gate: Nonsense");
  CHECK(gates.Set("failover=true").message() ==
        "unrecognized feature gate: failover; did you mean Failover?");
  for (const char* text : {"Failover=maybe", "Failover=", "Failover", "Failover=yes"}) {
    INFO(text);
    const absl::Status refused = gates.Set(text);
    CHECK(absl::IsInvalidArgument(refused));
    CHECK(absl::StrContains(refused.message(), "Failover"));
  }
  CHECK_FALSE(gates.Enabled(Gate::kFailover));
}

TEST_CASE("defaults and stages are those of the emulated release") {
  const auto as = [](config::Release release, const char* text) {
    FeatureGates gates = Set(text);
    gates.Emulate(release);
    return gates.Enabled(Gate::kPriorityBasedScheduling);
  };
  constexpr auto kOld = config::Release::kV1_18;
  constexpr auto kNew = config::Release::kV1_19;
  CHECK_FALSE(as(kOld, ""));
  CHECK(as(kNew, ""));
  CHECK(as(kOld, "AllAlpha=true"));
  CHECK(as(kNew, "AllAlpha=false"));  // It has left that stage.
  CHECK_FALSE(as(kNew, "AllBeta=false"));
  CHECK_FALSE(as(kNew, "PriorityBasedScheduling=false,AllBeta=true"));
  FeatureGates gates;
  gates.Emulate(kNew);
  CHECK(gates.Changed().empty());
  REQUIRE(gates.Set("PriorityBasedScheduling=false").ok());
  CHECK(gates.Changed() == "PriorityBasedScheduling=false");
}

TEST_CASE("help lists every gate with stage and default") {
  const std::string text = FeatureGates::Describe();
  CHECK(absl::StrContains(text, "\nFailover=true|false (BETA - default=false)\n"));
  CHECK(absl::StrContains(text, "\nPropagateDeps=true|false (BETA - default=true)\n"));
  CHECK(absl::StrContains(text, "\nWorkloadAffinity=true|false (ALPHA - default=false)\n"));
  CHECK(absl::StrContains(text,
                          "\nPriorityBasedScheduling=true|false (ALPHA - default=false; as v1.19: "
                          "BETA - default=true)\n"));
  CHECK(absl::StrContains(text, "AllAlpha=true|false (ALPHA - default=false)\n"));
}

}  // namespace
