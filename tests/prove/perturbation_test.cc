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
  const auto webhook = ReadPlan("webhook silent 9 2.3 Retain");
  REQUIRE(webhook.ok());
  CHECK(webhook->fault == "silent");
  CHECK(webhook->times == 9);
  CHECK(webhook->first_step == 2);
  CHECK(webhook->write == 3);
  CHECK(webhook->request_class == "Retain");
  CHECK_FALSE(ReadPlan("webhook sleepy 9 2.3 Retain").ok());
  const auto late = ReadPlan("late timeout 1 host list works.work.karmada.io");
  REQUIRE(late.ok());
  CHECK(late->kind == Plan::Kind::kLateTimeout);
}

TEST_CASE("Perturbations of later steps follow in the same run") {
  const auto plans = ReadPlans("crash after 0.3 & late host/pods 2 & error 500 1 4 host get pods");
  REQUIRE(plans.ok());
  REQUIRE(plans->size() == 3);
  CHECK((*plans)[0].first_step == 0);
  CHECK((*plans)[0].write == 3);
  CHECK((*plans)[1].first_step == 2);
  CHECK((*plans)[2].first_step == 4);
  CHECK((*plans)[2].request_class == "host get pods");
  CHECK(ReadPlans("reference")->empty());
  CHECK(ReadPlans("crash after 17")->front().first_step == Plan::kWholeRun);
  for (const char* name : {"crash after 3.1 & crash after 3.2", "crash after 17 & late host/pods 2",
                           "late host/pods 2 & crash after 17"}) {
    INFO(name);
    CHECK(absl::IsInvalidArgument(ReadPlans(name).status()));
  }
}

TEST_CASE("Each step has the perturbation that is planned for it") {
  Perturbation perturbation(*ReadPlans("crash after 0.3 & merged host/pods 2 3"));
  CHECK(perturbation.plan().kind == Plan::Kind::kCrashAfter);
  perturbation.BeginStep(1);
  CHECK(perturbation.plan().kind == Plan::Kind::kReference);
  for (const int step : {2, 3}) {
    perturbation.BeginStep(step);
    CHECK(perturbation.plan().kind == Plan::Kind::kMerged);
  }
  perturbation.BeginStep(4);
  CHECK(perturbation.plan().kind == Plan::Kind::kReference);
  CHECK_FALSE(perturbation.perturbed());
}

TEST_CASE("What is not the name of a run is refused") {
  for (const char* name : {"", "crash", "crash before", "crash before x", "crash before 3 4",
                           "crash twice 3", "crash after 1.2.3", "stale host 1", "tea break"}) {
    INFO(name);
    CHECK(absl::IsInvalidArgument(ReadPlan(name).status()));
  }
}

}  // namespace
}  // namespace prove
