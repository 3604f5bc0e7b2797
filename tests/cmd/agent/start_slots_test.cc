#include "cmd/agent/start_slots.h"

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/fake_clock.h"

namespace cmd {
namespace {

class Starter : public kube::Periodic {
 public:
  explicit Starter(const base::Clock& clock) : Periodic(clock) {}
  std::string name() const override { return "starter"; }

 protected:
  absl::Duration Tick(const base::StopToken&) override { return absl::InfiniteDuration(); }
};

struct Fixture {
  tests::FakeClock clock;
  StartSlots slots{clock};
  Starter one{clock}, other{clock};

  std::vector<StartSlots::Slot> Fill() {
    std::vector<StartSlots::Slot> taken;
    for (size_t i = 0; i < StartSlots::kAtOnce; ++i) taken.push_back(slots.Enter(one).slot);
    return taken;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a start waits while as many as allowed go on") {
  std::vector<StartSlots::Slot> taken = Fill();
  CHECK_FALSE(slots.Enter(other).may_start);
  slots.Leave(taken.front());
  CHECK(slots.Enter(other).may_start);
}

TEST_CASE_METHOD(Fixture, "starts that take long hold up nobody") {
  const std::vector<StartSlots::Slot> taken = Fill();
  const StartSlots::Answer answer = slots.Enter(other);
  REQUIRE_FALSE(answer.may_start);
  clock.Advance(answer.pause);
  CHECK(slots.Enter(other).may_start);
}

TEST_CASE_METHOD(Fixture,
                 "starts that took long before are few at once, and hold up no other one") {
  std::vector<StartSlots::Slot> taken;
  for (size_t i = 0; i < StartSlots::kSlowAtOnce; ++i) {
    const StartSlots::Answer answer = slots.Enter(one, /*was_slow=*/true);
    REQUIRE(answer.may_start);
    taken.push_back(answer.slot);
    if (taken.size() % StartSlots::kAtOnce == 0) clock.Advance(StartSlots::kSlow);
  }
  CHECK_FALSE(slots.Enter(one, /*was_slow=*/true).may_start);
  CHECK(slots.Enter(other).may_start);
  CHECK(slots.Leave(taken.front()));
  CHECK(slots.Enter(one, /*was_slow=*/true).may_start);
}

TEST_CASE_METHOD(Fixture, "no more starts than are allowed are under way, however long they take") {
  for (size_t i = 0; i < StartSlots::kMost; ++i) {
    REQUIRE(slots.Enter(one).may_start);
    if (i % StartSlots::kAtOnce == StartSlots::kAtOnce - 1) clock.Advance(StartSlots::kSlow);
  }
  CHECK_FALSE(slots.Enter(other).may_start);
}

}  // namespace cmd
