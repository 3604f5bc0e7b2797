// Controllers have as many workers as whoever registers them says.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/string_view.h"
#include "api/reasons.h"
#include "base/metrics.h"
#include "controllers/cron_federated_hpa/cron_federated_hpa_reconciler.h"
#include "controllers/cron_federated_hpa/register.h"
#include "controllers/federated_hpa/federated_hpa_reconciler.h"
#include "controllers/federated_hpa/register.h"
#include "controllers/slice_collection/register.h"
#include "controllers/work_status/register.h"
#include "tests/support/loops_fixture.h"

namespace {

struct Fixture : tests::LoopsFixture {
  Fixture() { Make(); }
  double Workers(absl::string_view controller) {
    return registry
        .GetGauge("controller_runtime_max_concurrent_reconciles", "",
                  {{"controller", std::string(controller)}})
        .Value();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "controllers without a flag have the workers that they are given") {
  REQUIRE(controllers::RegisterFederatedHpa(Context(), 6).ok());
  REQUIRE(controllers::RegisterCronFederatedHpa(Context(), 7).ok());
  REQUIRE(controllers::RegisterServiceExport(Context(), 8).ok());
  REQUIRE(controllers::RegisterEndpointSliceCollect(Context(), 9).ok());
  CHECK(Workers(api::kFederatedHpaController) == 6);
  CHECK(Workers(api::kCronFederatedHpaController) == 7);
  CHECK(Workers(api::kServiceExportQueue) == 8);
  CHECK(Workers(api::kEndpointSliceCollectQueue) == 9);
}

TEST_CASE_METHOD(Fixture,
                 "both loops of the status of Works have the workers that they are given") {
  REQUIRE(controllers::RegisterWorkStatus(Context(), {.by_object = 6, .by_work = 3}).ok());
  CHECK(Workers(api::kWorkStatusOfObjects) == 6);
  CHECK(Workers(api::kWorkStatusController) == 3);
}
