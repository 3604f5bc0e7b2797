#include "tests/prove/perturbation.h"

#include <catch2/catch.hpp>

namespace prove {
namespace {

TEST_CASE("A run is known by its name") {
  const auto crash = ReadPlan("crash before 17");
  REQUIRE(crash.ok());
  CHECK(crash->kind == Plan::Kind::kCrashBefore);
  CHECK(crash->write == 17);
  const auto error = ReadPlan("error 409 5 host update works.work.karmada.io/status");
  REQUIRE(error.ok());
  CHECK(error->code == 409);
  CHECK(error->times == 5);
  CHECK(error->request_class == "host update works.work.karmada.io/status");
  const auto order = ReadPlan("order host/works.work.karmada.io member/pods 3");
  REQUIRE(order.ok());
  CHECK(order->kinds == std::vector<std::string>{"host/works.work.karmada.io", "member/pods"});
  CHECK(order->first_step == 3);
  CHECK(order->last_step == 3);
  const auto late = ReadPlan("late timeout 1 host list works.work.karmada.io");
  REQUIRE(late.ok());
  CHECK(late->kind == Plan::Kind::kLateTimeout);
}

TEST_CASE("What is not the name of a run is refused") {
  for (const char* name : {"", "crash", "crash before", "crash before x", "crash before 3 4",
                           "crash twice 3", "stale host 1", "tea break"}) {
    INFO(name);
    CHECK(absl::IsInvalidArgument(ReadPlan(name).status()));
  }
}

}  // namespace
}  // namespace prove
