#include "tests/prove/search/search_perturbation.h"

#include <catch2/catch.hpp>

namespace prove {
namespace {

using Kind = SearchPlan::Kind;

TEST_CASE("names of runs of karmada-search are understood") {
  const auto plans = ReadSearchPlans("crash event 1.7 & merged all 2 3 & restored member2 4 5");
  REQUIRE(plans.ok());
  REQUIRE(plans->size() == 3);
  CHECK(plans->at(0).kind == Kind::kCrashEvent);
  CHECK(plans->at(0).first_step == 1);
  CHECK(plans->at(0).number == 7);
  CHECK(plans->at(1).first_step == 2);
  CHECK(plans->at(1).last_step == 3);
  CHECK(plans->at(1).IsAbout("member1"));
  CHECK(plans->at(2).kind == Kind::kRestored);
  CHECK_FALSE(plans->at(2).IsAbout("member1"));
  CHECK(plans->at(2).number == 5);
  CHECK(ReadSearchPlans("reference")->empty());
}

TEST_CASE("what is not the name of a run of karmada-search is refused") {
  for (const char* name : {"", "crash", "crash event 1", "crash event 1.7 8", "late member1",
                           "merged all 2 x", "late all 3 & late all 3"}) {
    INFO(name);
    CHECK(absl::IsInvalidArgument(ReadSearchPlans(name).status()));
  }
}

}  // namespace
}  // namespace prove
