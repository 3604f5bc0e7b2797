#include "interpreter/live/unserved_targets.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/manager_fixture.h"

namespace {

using interpreter::live::UnservedTargets;

const kube::Resource kWidgets{{"example.io", "v1", "Widget"}, "widgets", /*namespaced=*/true};
const kube::Gvk kMisspelt{"example.io", "v1", "Wigdet"};

struct Fixture : tests::ManagerFixture {
  UnservedTargets targets{mapper, clock};

  Fixture() { server->Serve({kWidgets}); }
  std::string After(absl::Duration time, const kube::Gvk& target) {
    clock.Advance(time);
    targets.Look({target, kWidgets.gvk}, {});
    return targets.ProblemOf(target);
  }
};

TEST_CASE_METHOD(Fixture, "a kind that stays missing is a problem, with the kind that was meant") {
  CHECK(targets.NextLook() == base::SteadyTime::InfiniteFuture());
  CHECK(After(absl::ZeroDuration(), kMisspelt).empty());
  CHECK(targets.NextLook() == clock.SteadyNow() + UnservedTargets::kPatience);
  CHECK(After(UnservedTargets::kPatience, kMisspelt) ==
        "spec.target: the control plane does not serve example.io/v1 Wigdet; the customization has "
        "no effect until it does; did you mean example.io/v1 Widget?");
  CHECK(targets.NextLook() == base::SteadyTime::InfiniteFuture());
  CHECK(targets.ProblemOf(kWidgets.gvk).empty());
}

TEST_CASE_METHOD(Fixture, "a look that comes too early does not cancel the one that is planned") {
  CHECK(After(absl::ZeroDuration(), kMisspelt).empty());
  const base::SteadyTime planned = targets.NextLook();
  SECTION("it finds the kind still missing") {}
  SECTION("it fails") {
    server->FailNext("GET", 500, "InternalError");
    server->FailNext("GET", 500, "InternalError");
  }
  CHECK(After(absl::Seconds(1), kMisspelt).empty());
  CHECK(targets.NextLook() == planned);
  CHECK_FALSE(After(absl::Seconds(1), kMisspelt).empty());
}

TEST_CASE_METHOD(Fixture, "a planned look that fails is repeated, but not at once") {
  CHECK(After(absl::ZeroDuration(), kMisspelt).empty());
  server->FailNext("GET", 500, "InternalError");
  server->FailNext("GET", 500, "InternalError");
  CHECK(After(UnservedTargets::kPatience, kMisspelt).empty());
  CHECK(targets.NextLook() == clock.SteadyNow() + UnservedTargets::kPatience);
}

TEST_CASE_METHOD(Fixture, "a kind that is served a moment later is no problem") {
  const kube::Resource gadgets{{"example.io", "v1", "Gadget"}, "gadgets", /*namespaced=*/true};
  CHECK(After(absl::ZeroDuration(), gadgets.gvk).empty());
  CHECK(After(absl::Minutes(1), gadgets.gvk).size() > 0);
  server->Serve({kWidgets, gadgets});
  CHECK(After(absl::Seconds(30), gadgets.gvk).empty());
}

TEST_CASE_METHOD(Fixture, "what cannot be read is no problem, and does not end one") {
  server->Serve({kWidgets}, {{"other.io", "v1", ""}});
  const kube::Gvk hidden{"other.io", "v1", "Thing"};
  for (int i = 0; i < 3; ++i) CHECK(After(absl::Minutes(1), hidden).empty());
  CHECK(After(absl::Minutes(1), kMisspelt).empty());
  const std::string problem = After(absl::Minutes(1), kMisspelt);
  CHECK_FALSE(problem.empty());
  server->FailNext("GET", 500, "InternalError");
  server->FailNext("GET", 500, "InternalError");
  CHECK(After(absl::Minutes(1), kMisspelt) == problem);
}

}  // namespace
