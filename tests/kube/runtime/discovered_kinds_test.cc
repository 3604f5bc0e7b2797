#include "kube/runtime/internal/discovered_kinds.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

namespace {

using kube::internal::DiscoveredKinds;

const kube::Resource kPods{{"", "v1", "Pod"}, "pods", true};
const kube::Resource kRobots{{"x.io", "v1", "Robot"}, "robots", true};
const kube::Resource kWidgets{{"y.io", "v1", "Widget"}, "widgets", true};

kube::Discovery Round(const std::vector<kube::Resource>& resources,
                      const std::vector<std::string>& failed = {}) {
  kube::Discovery round{.resources = {}, .failed_groups = failed};
  for (const kube::Resource& r : resources) {
    round.resources.push_back(
        {.resource = r, .verbs = {"delete", "list", "watch"}, .preferred = true});
  }
  return round;
}

using Kinds = std::set<kube::Gvk>;

TEST_CASE("a version that is not the preferred one is served, and not shown") {
  DiscoveredKinds kinds;
  kube::Discovery round = Round({kPods, kRobots});
  round.resources.back().preferred = false;
  kinds.Note(round);
  CHECK(kinds.shown().kinds == Kinds{kPods.gvk});
  CHECK(kinds.Find(kRobots.gvk) == nullptr);
  REQUIRE(kinds.FindServed(kRobots.gvk) != nullptr);
  CHECK(*kinds.FindServed(kRobots.gvk) == kRobots);
}

TEST_CASE("a kind that a round has not found is gone unless its group could not be read") {
  DiscoveredKinds kinds;
  kinds.Note(Round({kPods, kRobots, kWidgets}));
  kinds.Note(Round({kPods}, {"y.io/v1"}));
  CHECK(kinds.shown().kinds == Kinds{kPods.gvk, kWidgets.gvk});
  CHECK(kinds.shown().failed_groups == std::vector<std::string>{"y.io/v1"});
  REQUIRE(kinds.Find(kWidgets.gvk) != nullptr);
  CHECK(*kinds.Find(kWidgets.gvk) == kWidgets);
  CHECK(kinds.Find(kRobots.gvk) == nullptr);
  kinds.Note(Round({}, {"/apis"}));
  CHECK(kinds.shown().kinds == Kinds{kWidgets.gvk});
  kinds.Note(Round({kPods}));
  CHECK(kinds.shown().kinds == Kinds{kPods.gvk});
}

TEST_CASE("kinds of the first round were there at the start, those of a later one not") {
  DiscoveredKinds kinds;
  kinds.Note(Round({kPods}));
  kinds.Note(Round({kPods, kRobots}));
  CHECK(kinds.shown().at_start == Kinds{kPods.gvk});
  kinds.Note(Round({kRobots}));
  kinds.Note(Round({kPods, kRobots}));  // The kind was defined again.
  CHECK(kinds.shown().at_start.empty());
}

TEST_CASE("kinds of a group that no round could read count as there at the start") {
  const std::string first = GENERATE("x.io/v1", "/apis");
  const std::string then = GENERATE("x.io/v1", "/apis");
  DiscoveredKinds kinds;
  kinds.Note(Round({kPods}, {first}));
  CHECK(kinds.shown().at_start == Kinds{kPods.gvk});
  kinds.Note(Round({kPods}, {then}));
  kinds.Note(Round({kPods, kRobots}));
  CHECK(kinds.shown().at_start == Kinds{kPods.gvk, kRobots.gvk});
  kinds.Note(Round({kPods, kRobots}, {"y.io/v1"}));
  kinds.Note(Round({kPods, kRobots, kWidgets}));  // The group was listed only later.
  CHECK(kinds.shown().at_start == Kinds{kPods.gvk, kRobots.gvk});
}

}  // namespace
