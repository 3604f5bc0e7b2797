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

}  // namespace cmd
