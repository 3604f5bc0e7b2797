// Scripts that eat up their budget.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "interpreter/customized/script_probation.h"
#include "tests/interpreter/customized/scripts_fixture.h"
#include "tests/support/fake_clock.h"

namespace {

using interpreter::Operation;
using interpreter::customized::ScriptProbation;

const absl::Status kOutOfTime = absl::DeadlineExceededError("too long");
const absl::Status kOutOfMemory = absl::ResourceExhaustedError("too much");

struct Fixture {
  // The run's ticket; nothing when it was refused.
  absl::StatusOr<ScriptProbation::Ticket> Begin() {
    return probation.Begin(*script, "my-ric", Operation::kInterpretHealth);
  }
  // A run with this outcome; false when it was refused.
  bool Run(const absl::Status& outcome) {
    const auto ticket = Begin();
    if (ticket.ok()) probation.End(*ticket, outcome);
    return ticket.ok();
  }

  tests::FakeClock clock;
  metrics::Registry registry;
  ScriptProbation probation{clock, &registry};
  std::shared_ptr<const lua::Script> script =
      lua::Script::Compile("my-ric/healthInterpretation", "while true do end").value();
};

}  // namespace

TEST_CASE_METHOD(Fixture, "after three ends by the budget in a row calls are refused") {
  CHECK(Run(kOutOfTime));
  CHECK(Run(kOutOfMemory));
  CHECK(Run(kOutOfTime));
  const absl::Status refused = Begin().status();
  CHECK(absl::IsUnavailable(refused));
  CHECK(refused.message() ==
        "InterpretHealth of customization my-ric ran out of time or memory 3 times in a row; it is "
        "tried again at 2023-11-14T22:13:21Z");
}

TEST_CASE_METHOD(Fixture, "an end that is not by the budget breaks the row") {
  const absl::Status other = GENERATE(absl::OkStatus(), absl::InvalidArgumentError("raised"));
  Run(kOutOfTime);
  Run(kOutOfTime);
  Run(other);
  Run(kOutOfTime);
  Run(kOutOfTime);
  CHECK(Begin().ok());
}

TEST_CASE_METHOD(Fixture, "a suspected script is tried by one call at a time") {
  for (int i = 0; i < 3; ++i) Run(kOutOfTime);
  clock.Advance(absl::Seconds(1));
  const auto first = Begin();
  REQUIRE(first.ok());
  CHECK_THAT(std::string(Begin().status().message()),
             Catch::EndsWith("another call is trying it again"));
  probation.End(*first, kOutOfTime);
  CHECK_FALSE(Begin().ok());
}

TEST_CASE_METHOD(Fixture, "the waiting time doubles from a second to five minutes") {
  for (int i = 0; i < 3; ++i) Run(kOutOfTime);
  std::vector<int64_t> waits;
  for (int i = 0; i < 11; ++i) {
    int64_t seconds = 0;
    while (!Run(kOutOfTime)) {
      clock.Advance(absl::Seconds(1));
      ++seconds;
    }
    waits.push_back(seconds);
  }
  CHECK(waits == std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300});
}

TEST_CASE_METHOD(Fixture, "one success clears a script") {
  for (int i = 0; i < 3; ++i) Run(kOutOfTime);
  clock.Advance(absl::Seconds(1));
  CHECK(Run(absl::OkStatus()));
  CHECK(Run(kOutOfTime));
  CHECK(Run(kOutOfTime));
  CHECK(Begin().ok());
}

TEST_CASE_METHOD(Fixture, "runs that began before the suspicion do not lengthen it") {
  std::vector<ScriptProbation::Ticket> early;
  for (int i = 0; i < 8; ++i) early.push_back(*Begin());
  for (const auto& ticket : early) probation.End(ticket, kOutOfTime);
  CHECK_FALSE(Begin().ok());
  clock.Advance(absl::Seconds(1));
  CHECK(Begin().ok());
}

TEST_CASE_METHOD(Fixture, "scripts are suspected one by one") {
  for (int i = 0; i < 3; ++i) Run(kOutOfTime);
  const auto other =
      lua::Script::Compile("my-ric/healthInterpretation", "repeat until nil").value();
  CHECK(probation.Begin(*other, "my-ric", Operation::kInterpretHealth).ok());
}

TEST_CASE_METHOD(Fixture, "ends by the budget are counted until the customization is gone") {
  for (int i = 0; i < 5; ++i) Run(kOutOfTime);
  CHECK_THAT(registry.Expose(),
             Catch::Contains("karmada_interpreter_script_budget_exceeded_total{"
                             "customization=\"my-ric\",operation=\"InterpretHealth\"} 3"));
  const auto same =
      tests::SetOf(tests::Customize("my-ric", {{"healthInterpretation", "while true do end"}}));
  probation.KeepOnly(*same);
  CHECK_FALSE(Begin().ok());
  CHECK_THAT(registry.Expose(), Catch::Contains("my-ric"));
  probation.KeepOnly(*tests::SetOf());
  CHECK(Begin().ok());
  CHECK_THAT(registry.Expose(), !Catch::Contains("my-ric"));
}
