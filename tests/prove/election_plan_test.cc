#include "tests/prove/election_plan.h"

#include <catch2/catch.hpp>

namespace prove {
namespace {

using Fault = ElectionPlan::Fault;
using Who = ElectionPlan::Who;

TEST_CASE("A run with an election is known by its name") {
  const auto silent = ReadElectionPlan("election 3 silent stand-bys 17 5");
  REQUIRE(silent.ok());
  CHECK(silent->contenders == 3);
  CHECK(silent->fault == Fault::kSilent);
  CHECK(silent->who == Who::kStandBys);
  CHECK(silent->duration == absl::Seconds(17));
  CHECK(silent->write == 5);
  const auto held = ReadElectionPlan("election 2 held 0 7");
  REQUIRE(held.ok());
  CHECK(held->duration == absl::ZeroDuration());
  CHECK(held->write == 7);
  const auto clocks = ReadElectionPlan("election 2 clocks -3600 20 1");
  REQUIRE(clocks.ok());
  CHECK(clocks->leader_clock == -absl::Hours(1));
  CHECK(clocks->other_clocks == absl::Seconds(20));
  CHECK(ReadElectionPlan("election 2 lease stand-by 4")->edit == "stand-by");
  CHECK(ReadElectionPlan("election 2 overtaken 4")->fault == Fault::kOvertaken);
}

TEST_CASE("What is not the name of a run with an election is refused") {
  for (const char* name :
       {"election", "election 1 killed 3", "election 2 killed", "election 2 killed 0",
        "election 2 killed 3 4", "election 2 lease eaten 4", "election 2 refused nobody 1 1",
        "election 2 refused leader x 1", "coronation 2 killed 3"}) {
    INFO(name);
    CHECK(absl::IsInvalidArgument(ReadElectionPlan(name).status()));
  }
}

}  // namespace
}  // namespace prove
