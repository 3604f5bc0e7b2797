// Explanations of why a hook is asked or not.
#include "interpreter/webhook/explanation.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/interpreter/webhook/hooks.h"

namespace {

using interpreter::webhook::Dialect;
using interpreter::webhook::Hook;
using interpreter::webhook::HookSet;
using interpreter::webhook::KindPattern;
using interpreter::webhook::KindPatternText;
using tests::kWorkload;
using tests::Operation;
using tests::WorkloadHook;

const kube::Gvk kPod{"", "v1", "Pod"}, kNode{"", "v1", "Node"};

std::string Reason(const Hook& hook, const kube::Gvk& gvk, Operation op) {
  const HookSet set({hook}, &tests::LookUp);
  const auto verdicts = Explain(set, gvk, op);
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].reason.empty() == (set.Find(gvk, op) != nullptr));
  return verdicts[0].reason;
}

}  // namespace

TEST_CASE("one hook is asked, and the others say why they are not") {
  Hook narrow = WorkloadHook("c/narrow");
  narrow.rules[0].operations = {Operation::kInterpretReplica, Operation::kRetain};
  const HookSet set({WorkloadHook("c/z"), WorkloadHook("c/a"), narrow}, &tests::LookUp);
  std::vector<std::string> said;
  for (const auto& verdict : Explain(set, kWorkload, Operation::kInterpretHealth)) {
    said.push_back(verdict.hook->uid + ": " + verdict.reason);
  }
  CHECK(said ==
        std::vector<std::string>{"c/a: ", "c/narrow: it is asked for InterpretReplica, Retain only",
                                 "c/z: it has a rule, but c/a comes first"});
}

TEST_CASE("operations are reported in the names of the hook's dialect") {
  Hook hook = WorkloadHook("c/w", Dialect::kExploreReview);
  hook.rules[0].operations = {Operation::kPrune};
  CHECK(Reason(hook, kWorkload, Operation::kPrune).empty());
  CHECK(Reason(hook, kWorkload, Operation::kRetain) == "it is asked for ExplorePacking only");
  CHECK(Reason(hook, kWorkload, Operation::kInterpretComponent) ==
        "webhooks of a ResourceExploringWebhookConfiguration are never asked for "
        "InterpretComponent");
  CHECK(Reason(WorkloadHook(), kWorkload, Operation::kPrune) ==
        "webhooks of a ResourceInterpreterWebhookConfiguration are never asked for Prune");
  hook.rules.clear();
  CHECK(Reason(hook, kWorkload, Operation::kRetain) == "it has no complete rule");
}

TEST_CASE("a rule for other kinds is reported with what it is about") {
  CHECK(Reason(WorkloadHook(), kPod, Operation::kRetain) ==
        "no rule matches: it is asked for Retain of workload.example.io/* Workload");
}

TEST_CASE("a rule by resource is reported with how the kind is served") {
  Hook hook = WorkloadHook("c/w", Dialect::kExploreReview);
  hook.rules[0].kinds.groups = {""};
  hook.rules[0].kinds.scope = KindPattern::Scope::kNamespaced;
  const std::string rule =
      "no rule matches: it is asked for ExploreRetaining of * workloads (scope Namespaced); ";
  CHECK(Reason(hook, kNode, Operation::kRetain) ==
        rule + "v1 Node is served as nodes, cluster-scoped");
  CHECK(Reason(hook, kPod, Operation::kRetain) == rule + "how v1 Pod is served is not known");
}

TEST_CASE("patterns are written as short as they can be") {
  CHECK(KindPatternText({{"apps"}, {"v1"}, {"Deployment", "StatefulSet"}}) ==
        "apps/v1 {Deployment,StatefulSet}");
  CHECK(KindPatternText({{""}, {"v1"}, {"*"}}) == "v1 *");
  CHECK(KindPatternText({{"", "apps"}, {"v1"}, {"Pod"}}) == "{\"\",apps}/v1 Pod");
  CHECK(KindPatternText({.groups = {"a"},
                         .versions = {"*"},
                         .resources = {"nodes"},
                         .scope = KindPattern::Scope::kCluster}) == "a/* nodes (scope Cluster)");
}
