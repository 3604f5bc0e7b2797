// When calls are made and when they are not.
#include "interpreter/webhook/circuit_breaker.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/fake_clock.h"

namespace {

using interpreter::webhook::CircuitBreaker;
using Outcome = CircuitBreaker::Outcome;

struct Fixture {
  tests::FakeClock clock;
  CircuitBreaker breaker{clock};

  // One call, if it is let through, with this outcome.
  bool Call(Outcome outcome, const char* why = "down") {
    const auto ticket = breaker.Admit();
    if (!ticket.ok()) return false;
    change = breaker.Report(
        *ticket, outcome,
        outcome == Outcome::kOutage ? absl::UnavailableError(why) : absl::OkStatus());
    return true;
  }
  void Open() {
    for (int i = 0; i < 5; ++i) REQUIRE(Call(Outcome::kOutage));
    REQUIRE(breaker.IsOpen());
  }
  std::optional<interpreter::webhook::BreakerChange> change;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "five outages in a row suspend the calls") {
  const absl::Time first = clock.Now();
  for (int i = 0; i < 4; ++i) {
    REQUIRE(Call(Outcome::kOutage));
    CHECK_FALSE(change.has_value());
    clock.Advance(absl::Seconds(1));
  }
  REQUIRE(Call(Outcome::kOutage, "very down"));
  REQUIRE(change.has_value());
  CHECK(change->open);
  CHECK(change->since == first);
  CHECK(change->reason == "very down");
  const absl::Status refused = breaker.Admit().status();
  CHECK(refused.code() == absl::StatusCode::kUnavailable);
  CHECK(refused.message() == "calls are suspended since 2023-11-14T22:13:20Z: very down");
}

TEST_CASE_METHOD(Fixture, "an answer between outages begins the count anew") {
  for (int i = 0; i < 20; ++i) {
    REQUIRE(Call(i % 5 == 4 ? Outcome::kWorks : Outcome::kOutage));
  }
  CHECK_FALSE(breaker.IsOpen());
}

TEST_CASE_METHOD(Fixture, "calls given up for reasons of ours count for nothing") {
  for (int i = 0; i < 4; ++i) REQUIRE(Call(Outcome::kOutage));
  for (int i = 0; i < 4; ++i) REQUIRE(Call(Outcome::kUnknown));
  CHECK_FALSE(breaker.IsOpen());
  REQUIRE(Call(Outcome::kOutage));
  CHECK(breaker.IsOpen());
}

TEST_CASE_METHOD(Fixture, "after the pause one call probes, while others still fail") {
  Open();
  clock.Advance(absl::Milliseconds(4999));
  CHECK_FALSE(breaker.Admit().ok());
  clock.Advance(absl::Milliseconds(1));
  const auto probe = breaker.Admit();
  REQUIRE(probe.ok());
  CHECK(probe->probe);
  CHECK_FALSE(breaker.Admit().ok());
  change = breaker.Report(*probe, Outcome::kWorks, absl::OkStatus());
  REQUIRE(change.has_value());
  CHECK_FALSE(change->open);
  CHECK_FALSE(breaker.Admit()->probe);
}

TEST_CASE_METHOD(Fixture, "each failed probe doubles the pause, up to a minute") {
  Open();
  for (const int seconds : {5, 10, 20, 40, 60, 60}) {
    CAPTURE(seconds);
    clock.Advance(absl::Seconds(seconds) - absl::Milliseconds(1));
    CHECK_FALSE(Call(Outcome::kOutage));
    clock.Advance(absl::Milliseconds(1));
    CHECK(Call(Outcome::kOutage, "still down"));
    CHECK_FALSE(change.has_value());
  }
  CHECK_THAT(std::string(breaker.Admit().status().message()), Catch::EndsWith(": still down"));
  // And begins with five seconds the next time.
  clock.Advance(absl::Seconds(60));
  REQUIRE(Call(Outcome::kWorks));
  Open();
  clock.Advance(absl::Seconds(5));
  CHECK(Call(Outcome::kOutage));
}

TEST_CASE_METHOD(Fixture, "a probe that is given up leaves room for another") {
  Open();
  clock.Advance(absl::Seconds(5));
  REQUIRE(Call(Outcome::kUnknown));
  CHECK(breaker.IsOpen());
  CHECK(Call(Outcome::kWorks));
  CHECK_FALSE(breaker.IsOpen());
}

TEST_CASE_METHOD(Fixture, "calls that began before the suspension may end it, but not prolong it") {
  const auto slow_failure = breaker.Admit(), slow_success = breaker.Admit();
  Open();
  clock.Advance(absl::Seconds(3));
  breaker.Report(*slow_failure, Outcome::kOutage, absl::UnavailableError("late"));
  CHECK_THAT(std::string(breaker.Admit().status().message()), Catch::EndsWith(": down"));
  clock.Advance(absl::Seconds(2));
  CHECK(breaker.Report(*slow_success, Outcome::kWorks, absl::OkStatus()).has_value());
  CHECK_FALSE(breaker.IsOpen());
}
