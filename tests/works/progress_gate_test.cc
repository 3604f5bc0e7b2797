#include "works/progress_gate.h"

#include <catch2/catch.hpp>

#include "tests/support/fake_clock.h"

namespace {

using works::kLongestProgressHold;
using works::kProgressBurst;
using works::kProgressHold;
using works::ProgressGate;

const absl::Duration kNow = absl::ZeroDuration();

TEST_CASE("intermediate news is held for a moment, then written") {
  tests::FakeClock clock;
  ProgressGate gate(clock);
  const base::SteadyTime since = clock.SteadyNow();
  CHECK(gate.HoldFor(since) == kProgressHold);
  clock.Advance(absl::Milliseconds(500));
  CHECK(gate.HoldFor(since) == kProgressHold - absl::Milliseconds(500));
  clock.Advance(kProgressHold);
  CHECK(gate.HoldFor(since) == kNow);
}

TEST_CASE("of much intermediate news at once, some is written and the rest is held on") {
  tests::FakeClock clock;
  ProgressGate gate(clock);
  const base::SteadyTime since = clock.SteadyNow();
  clock.Advance(kProgressHold);
  int written = 0;
  for (int i = 0; i < 10 * kProgressBurst; ++i) written += gate.HoldFor(since) == kNow;
  CHECK(written == kProgressBurst);
  CHECK(gate.HoldFor(since) == kProgressHold);

  clock.Advance(absl::Seconds(1));
  written = 0;
  for (int i = 0; i < 10 * kProgressBurst; ++i) written += gate.HoldFor(since) == kNow;
  CHECK(written == works::kProgressWritesPerSecond);
}

TEST_CASE("no intermediate news is held longer than the longest hold") {
  tests::FakeClock clock;
  ProgressGate gate(clock);
  const base::SteadyTime since = clock.SteadyNow();
  clock.Advance(kLongestProgressHold - absl::Seconds(1));
  while (gate.HoldFor(since) == kNow) {
  }
  CHECK(gate.HoldFor(since) == absl::Seconds(1));
  clock.Advance(absl::Seconds(1));
  for (int i = 0; i < 10 * kProgressBurst; ++i) REQUIRE(gate.HoldFor(since) == kNow);
}

}  // namespace
