// A port in use is reported with the flag that names it.
#include "controllers/process/listen_errors.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/profiling/profile_server.h"
#include "tests/support/manager_fixture.h"

namespace controllers {
namespace {

// Occupies a port until it is destroyed.
struct Occupied {
  std::unique_ptr<base::HttpServer> server = *base::HttpServer::Start(
      {.address = "127.0.0.1:0"},
      [](const base::HttpRequest&, const std::shared_ptr<base::HttpResponder>&) {});
  std::string address = absl::StrCat("127.0.0.1:", server->port());
};

// Returns what a manager with these addresses says.
std::string ErrorOf(const std::string& health, const std::string& metrics) {
  config::Options options;
  options.health_probe_bind_address = health;
  options.metrics_bind_address = metrics;
  tests::ManagerFixture fixture;
  fixture.options.health_address = health;
  fixture.options.metrics_address = metrics;
  const absl::Status result = fixture.Make().Run(fixture.stop.get_token());
  return std::string(WithListenFlag(result, options).message());
}

TEST_CASE("a port in use is reported with the flag that names it") {
  const Occupied occupied;
  CHECK_THAT(ErrorOf("0", occupied.address),
             Catch::StartsWith(
                 absl::StrCat("--metrics-bind-address=", occupied.address, ": serving metrics: ")));
  CHECK_THAT(ErrorOf(occupied.address, "0"),
             Catch::StartsWith(absl::StrCat("--health-probe-bind-address=", occupied.address,
                                            ": serving health probes: ")));
  config::Options options;
  options.profiling.bind_address = occupied.address;
  const auto profiles = profiling::ProfileServer::Start(occupied.address, base::RealClock());
  CHECK_THAT(std::string(WithProfilingFlag(profiles.status(), options).message()),
             Catch::StartsWith(absl::StrCat("--profiling-bind-address=", occupied.address,
                                            ": serving profiles: ")));
}

TEST_CASE("other errors of the manager stay as they are") {
  const absl::Status lost = absl::AbortedError("the lease was lost");
  CHECK(WithListenFlag(lost, {}) == lost);
  CHECK(WithListenFlag(absl::OkStatus(), {}).ok());
}

}  // namespace
}  // namespace controllers
