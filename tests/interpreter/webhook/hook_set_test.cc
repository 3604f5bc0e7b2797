// Which hook answers, and what changes between two sets.
#include "interpreter/webhook/hook_set.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/interpreter/webhook/hooks.h"

namespace {

using interpreter::webhook::Dialect;
using interpreter::webhook::DifferencesBetween;
using interpreter::webhook::Hook;
using interpreter::webhook::HookSet;
using interpreter::webhook::KindPattern;
using tests::kWorkload;
using tests::LookUp;
using tests::Operation;
using tests::WorkloadHook;
using Scope = KindPattern::Scope;

const kube::Gvk kPod{"", "v1", "Pod"}, kNode{"", "v1", "Node"};

std::string Answering(const HookSet& set, const kube::Gvk& gvk, Operation op) {
  const Hook* hook = set.Find(gvk, op);
  return hook == nullptr ? "" : hook->uid;
}

}  // namespace

TEST_CASE("operations have a name of their own in each dialect") {
  for (const Dialect dialect : {Dialect::kInterpreterContext, Dialect::kExploreReview}) {
    std::set<std::string> names;
    for (const Operation op : tests::OperationsOf(dialect)) {
      CHECK_FALSE(OperationNameIn(dialect, op).empty());
      CHECK(names.emplace(OperationNameIn(dialect, op)).second);
    }
  }
  CHECK(OperationNameIn(Dialect::kExploreReview, Operation::kPrune) == "ExplorePacking");
  CHECK(OperationNameIn(Dialect::kInterpreterContext, Operation::kPrune).empty());
}

TEST_CASE("kinds match by exact text or by a star") {
  struct Case {
    KindPattern pattern;
    kube::Gvk gvk;
    bool want;
  };
  const Case cases[] = {
      {{{""}, {"v1"}, {"Pod"}}, kPod, true},
      {{{"*"}, {"*"}, {"*"}}, kPod, true},
      {{{"apps"}, {"v1"}, {"Pod"}}, kPod, false},
      {{{""}, {"v1beta1", "v1"}, {"Node", "Pod"}}, kPod, true},
      {{{""}, {"v2"}, {"Pod"}}, kPod, false},
      {{{""}, {"v1"}, {"pod"}}, kPod, false},
      {{{""}, {"v*"}, {"Pod"}}, kPod, false},
      {{{}, {"v1"}, {"Pod"}}, kPod, false},
  };
  for (const Case& c : cases) CHECK(c.pattern.Matches(c.gvk, nullptr) == c.want);
}

TEST_CASE("resources match by the plural of the kind and by scope") {
  struct Case {
    std::vector<std::string> resources;
    Scope scope;
    kube::Gvk gvk;
    bool want;
  };
  const Case cases[] = {
      {{"workloads"}, Scope::kAny, kWorkload, true},
      {{"workloads"}, Scope::kNamespaced, kWorkload, true},
      {{"workloads"}, Scope::kCluster, kWorkload, false},
      {{"nodes"}, Scope::kCluster, kNode, true},
      {{"nodes"}, Scope::kNamespaced, kNode, false},
      {{"nodes"}, Scope::kAny, kWorkload, false},
      {{"workloads/*"}, Scope::kAny, kWorkload, true},
      {{"workloads/status"}, Scope::kAny, kWorkload, false},
      {{"*/scale"}, Scope::kAny, kWorkload, false},
      {{"*"}, Scope::kNamespaced, kWorkload, true},
      {{"*/*"}, Scope::kCluster, kWorkload, false},
      // It is not known how this kind is served.
      {{"*"}, Scope::kAny, kPod, true},
      {{"*/*"}, Scope::kAny, kPod, true},
      {{"*"}, Scope::kNamespaced, kPod, false},
      {{"pods"}, Scope::kAny, kPod, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.resources[0], c.gvk.kind);
    const KindPattern pattern{
        .groups = {"*"}, .versions = {"*"}, .resources = c.resources, .scope = c.scope};
    CHECK(pattern.Matches(c.gvk, &LookUp) == c.want);
  }
}

TEST_CASE("the lookup is asked only for kinds of the rule's group and version") {
  int asked = 0;
  const auto lookup = [&](const kube::Gvk& gvk) {
    ++asked;
    return LookUp(gvk);
  };
  const HookSet set({WorkloadHook("c/w", Dialect::kExploreReview)}, lookup);
  CHECK(set.Find(kPod, Operation::kRetain) == nullptr);
  CHECK(asked == 0);
  CHECK(set.Find(kWorkload, Operation::kRetain) != nullptr);
  CHECK(asked == 1);
}

TEST_CASE("of several hooks the one with the smallest uid answers, whatever its dialect") {
  const HookSet set({WorkloadHook("b/a"), WorkloadHook("a/z", Dialect::kExploreReview),
                     WorkloadHook("a-b/a"), WorkloadHook("a/z")},
                    &LookUp);
  // '-' sorts before '/'.
  CHECK(Answering(set, kWorkload, Operation::kRetain) == "a-b/a");
  CHECK(Answering(set, kWorkload, Operation::kInterpretComponent) == "a-b/a");
  CHECK(Answering(set, kWorkload, Operation::kPrune) == "a/z");
  CHECK(Answering(set, kPod, Operation::kRetain).empty());
  CHECK(set.hooks()[1].dialect == Dialect::kInterpreterContext);
}

TEST_CASE("a hook is not asked for operations that its rules do not list") {
  Hook hook = WorkloadHook();
  hook.rules[0].operations = {Operation::kInterpretHealth};
  const HookSet set({hook}, &LookUp);
  CHECK(Answering(set, kWorkload, Operation::kInterpretHealth) == "c/w");
  CHECK(Answering(set, kWorkload, Operation::kRetain).empty());
}

TEST_CASE("sets differ in the rules of hooks that came, went or changed") {
  Hook stays = WorkloadHook("a/stays"), changes = WorkloadHook("a/changes"),
       goes = WorkloadHook("a/goes"), comes = WorkloadHook("a/comes");
  for (Hook* hook : {&stays, &changes, &goes, &comes}) {
    hook->rules[0].operations = {Operation::kRetain};
    hook->rules[0].kinds.kinds = {hook->uid};
  }
  Hook changed = changes;
  changed.client.path = "/another";
  const HookSet before({stays, changes, goes}), after({changed, stays, comes});
  std::vector<std::string> kinds;
  for (const auto& difference : DifferencesBetween(before, after)) {
    CHECK(difference.operation == Operation::kRetain);
    kinds.push_back(difference.kinds.kinds[0]);
  }
  CHECK(kinds == std::vector<std::string>{"a/changes", "a/goes", "a/comes"});
  CHECK(DifferencesBetween(before, before).empty());
}

TEST_CASE("a hook that only takes longer, is trusted otherwise or fails otherwise answers alike") {
  const Hook before = WorkloadHook();
  Hook after = before;
  after.timeout = absl::Seconds(3);
  after.client.ca_pem = "another";
  after.ignores_failures = true;
  after.unusable = absl::InvalidArgumentError("no address");
  CHECK(DifferencesBetween(HookSet({before}), HookSet({after})).empty());
}

TEST_CASE("a rule that moves from one operation to another differs in both") {
  Hook before = WorkloadHook(), after = before;
  before.rules[0].operations = {Operation::kRetain, Operation::kInterpretHealth};
  after.rules[0].operations = {Operation::kInterpretStatus, Operation::kRetain};
  const auto differences = DifferencesBetween(HookSet({before}), HookSet({after}));
  REQUIRE(differences.size() == 3);
  CHECK(differences[0].operation == Operation::kRetain);
  CHECK(differences[1].operation == Operation::kInterpretHealth);
  CHECK(differences[2].operation == Operation::kInterpretStatus);
}
