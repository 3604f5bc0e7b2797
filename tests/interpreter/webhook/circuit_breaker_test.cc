// When the breaker lets calls through.
#include "interpreter/webhook/circuit_breaker.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/fake_clock.h"

namespace {

using interpreter::webhook::CircuitBreaker;
using interpreter::webhook::HookHealth;

struct Fixture {
  tests::FakeClock clock;
  CircuitBreaker breaker{clock};

  CircuitBreaker::Result Result(HookHealth health, uint64_t object, const char* why = "down") {
    return {health, object,
            health == HookHealth::kDown ? absl::UnavailableError(why) : absl::OkStatus()};
  }
  // Makes one call with this outcome, if it is let through; there is nothing else to ask when the
  // hook is in doubt.
  bool Call(HookHealth health, const char* why = "down", uint64_t object = 0) {
    const auto ticket = breaker.Admit();
    if (!ticket.ok()) return false;
    if (object == 0) object = ++objects;
    auto verdict = breaker.Report(*ticket, Result(health, object, why));
    if (verdict.in_doubt) verdict.change = breaker.Settle(std::nullopt);
    change = verdict.change;
    return true;
  }
  void Open() {
    for (int i = 0; i < 5; ++i) REQUIRE(Call(HookHealth::kDown));
    REQUIRE(breaker.IsOpen());
  }
  // Reports outages with one object, up to the one that puts the hook in doubt.
  void Doubt() {
    for (int i = 1; i <= 5; ++i) {
      const auto ticket = breaker.Admit();
      REQUIRE(ticket.ok());
      REQUIRE(breaker.Report(*ticket, Result(HookHealth::kDown, 7)).in_doubt == (i == 5));
    }
  }
  std::string Refusal() { return std::string(breaker.Admit().status().message()); }

  uint64_t objects = 100;
  std::optional<interpreter::webhook::BreakerChange> change;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "five outages in a row suspend the calls") {
  const absl::Time first = clock.Now();
  for (int i = 0; i < 4; ++i) {
    REQUIRE(Call(HookHealth::kDown));
    CHECK_FALSE(change.has_value());
    clock.Advance(absl::Seconds(1));
  }
  REQUIRE(Call(HookHealth::kDown, "very down"));
  REQUIRE(change.has_value());
  CHECK(change->open);
  CHECK(change->since == first);
  CHECK(change->at == first + absl::Seconds(4));
  CHECK(change->reason == "very down");
  const absl::Status refused = breaker.Admit().status();
  CHECK(refused.code() == absl::StatusCode::kUnavailable);
  CHECK(refused.message() == "calls are suspended since 2023-11-14T22:13:20Z: very down");
}

TEST_CASE_METHOD(Fixture, "an answer between outages begins the count again") {
  for (int i = 0; i < 20; ++i) {
    REQUIRE(Call(i % 5 == 4 ? HookHealth::kUp : HookHealth::kDown));
  }
  CHECK_FALSE(breaker.IsOpen());
}

TEST_CASE_METHOD(Fixture, "calls that show nothing count for nothing") {
  for (int i = 0; i < 4; ++i) REQUIRE(Call(HookHealth::kDown));
  for (int i = 0; i < 4; ++i) REQUIRE(Call(HookHealth::kUnknown));
  CHECK_FALSE(breaker.IsOpen());
  REQUIRE(Call(HookHealth::kDown));
  CHECK(breaker.IsOpen());
}

TEST_CASE_METHOD(Fixture, "one object alone suspends the calls after half a minute only") {
  for (int i = 0; i < 29; ++i) {
    REQUIRE(Call(HookHealth::kDown, "down", 7));
    clock.Advance(absl::Seconds(1));
  }
  CHECK_FALSE(breaker.IsOpen());
  SECTION("of failures") {
    clock.Advance(absl::Seconds(1));
    REQUIRE(Call(HookHealth::kDown, "down", 7));
    CHECK(breaker.IsOpen());
  }
  SECTION("not when there was an answer in between") {
    REQUIRE(Call(HookHealth::kUp));
    clock.Advance(absl::Seconds(1));
    for (int i = 0; i < 10; ++i) REQUIRE(Call(HookHealth::kDown, "down", 7));
    CHECK_FALSE(breaker.IsOpen());
  }
  SECTION("sooner with a second object") {
    REQUIRE(Call(HookHealth::kDown, "down", 8));
    CHECK(breaker.IsOpen());
  }
}

TEST_CASE_METHOD(Fixture, "a doubt is settled by a question that was answered before") {
  Doubt();
  SECTION("which is answered again: the object is to blame, and counting begins again") {
    CHECK_FALSE(breaker.Settle(Result(HookHealth::kUp, 1)).has_value());
    CHECK_FALSE(breaker.IsOpen());
    Doubt();
  }
  SECTION("which fails too: the hook is down") {
    const auto opened = breaker.Settle(Result(HookHealth::kDown, 1));
    REQUIRE(opened.has_value());
    CHECK(opened->open);
    CHECK_THAT(Refusal(), Catch::EndsWith(": down"));
  }
  SECTION("which shows nothing: the doubt stays, and the next failure raises it again") {
    CHECK_FALSE(breaker.Settle(Result(HookHealth::kUnknown, 1)).has_value());
    CHECK_FALSE(breaker.IsOpen());
    CHECK(breaker.Report(*breaker.Admit(), Result(HookHealth::kDown, 7)).in_doubt);
  }
  SECTION("once at a time") {
    CHECK_FALSE(breaker.Report(*breaker.Admit(), Result(HookHealth::kDown, 8)).in_doubt);
  }
  SECTION("unless another call is answered in the meantime") {
    breaker.Report(*breaker.Admit(), Result(HookHealth::kUp, 8));
    CHECK_FALSE(breaker.Settle(Result(HookHealth::kDown, 1)).has_value());
    CHECK_FALSE(breaker.IsOpen());
  }
}

TEST_CASE_METHOD(Fixture, "after the pause one call probes, while others still fail") {
  CHECK(breaker.NextProbe() == base::SteadyTime::InfiniteFuture());
  Open();
  CHECK(breaker.NextProbe() == clock.SteadyNow() + absl::Seconds(5));
  clock.Advance(absl::Milliseconds(4999));
  CHECK_FALSE(breaker.Admit().ok());
  clock.Advance(absl::Milliseconds(1));
  const auto probe = breaker.Admit();
  REQUIRE(probe.ok());
  CHECK(probe->probe);
  CHECK(breaker.NextProbe() == clock.SteadyNow() + absl::Seconds(5));  // A probe is under way.
  CHECK_FALSE(breaker.Admit().ok());
  const auto closed = breaker.Report(*probe, Result(HookHealth::kUp, 1)).change;
  REQUIRE(closed.has_value());
  CHECK_FALSE(closed->open);
  CHECK(closed->at - closed->since == absl::Seconds(5));
  CHECK_FALSE(breaker.Admit()->probe);
  CHECK(breaker.NextProbe() == base::SteadyTime::InfiniteFuture());
}

TEST_CASE_METHOD(Fixture, "each failed probe doubles the pause, up to a minute") {
  Open();
  for (const int seconds : {5, 10, 20, 40, 60, 60}) {
    CAPTURE(seconds);
    clock.Advance(absl::Seconds(seconds) - absl::Milliseconds(1));
    CHECK_FALSE(Call(HookHealth::kDown));
    clock.Advance(absl::Milliseconds(1));
    CHECK(Call(HookHealth::kDown, "still down"));
    CHECK_FALSE(change.has_value());
  }
  CHECK_THAT(Refusal(), Catch::EndsWith(": still down"));
  // After a minute without a failure the pause is five seconds again.
  clock.Advance(absl::Seconds(60));
  REQUIRE(Call(HookHealth::kUp));
  clock.Advance(absl::Seconds(60));
  Open();
  CHECK(breaker.NextProbe() == clock.SteadyNow() + absl::Seconds(5));
}

TEST_CASE_METHOD(Fixture, "a hook that fails right after it came back gets twice the pause") {
  for (const int seconds : {5, 10, 20, 40, 60, 60}) {
    CAPTURE(seconds);
    Open();
    REQUIRE(breaker.NextProbe() == clock.SteadyNow() + absl::Seconds(seconds));
    clock.Advance(absl::Seconds(seconds));
    REQUIRE(Call(HookHealth::kUp));
    clock.Advance(absl::Seconds(1));
  }
}

TEST_CASE_METHOD(Fixture, "a probe that shows nothing is repeated after the same pause") {
  Open();
  clock.Advance(absl::Seconds(5));
  REQUIRE(Call(HookHealth::kUnknown));
  CHECK(breaker.IsOpen());
  CHECK_FALSE(breaker.Admit().ok());
  CHECK(breaker.NextProbe() == clock.SteadyNow() + absl::Seconds(5));
  clock.Advance(absl::Seconds(5));
  CHECK(Call(HookHealth::kUp));
  CHECK_FALSE(breaker.IsOpen());
}

TEST_CASE_METHOD(Fixture, "calls that began before the suspension may end it, but not prolong it") {
  const auto slow_failure = breaker.Admit(), slow_success = breaker.Admit();
  Open();
  clock.Advance(absl::Seconds(3));
  breaker.Report(*slow_failure, Result(HookHealth::kDown, 1, "late"));
  CHECK_THAT(Refusal(), Catch::EndsWith(": down"));
  clock.Advance(absl::Seconds(2));
  CHECK(breaker.Report(*slow_success, Result(HookHealth::kUp, 1)).change.has_value());
  CHECK_FALSE(breaker.IsOpen());
}
