// Probes of a controller manager that has not begun to work yet.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/http/http_transport.h"
#include "tests/support/control_plane.h"
#include "tests/support/free_port.h"

namespace tests {
namespace {

// Asks on one port for as long as it lives.
class Probe {
 public:
  explicit Probe(int port) {
    kube::ConnectionConfig config;
    config.server = absl::StrCat("http://127.0.0.1:", port);
    transport_ = *kube::NewHttpTransport(config);
  }
  std::string Get(const std::string& path) {
    const auto answer = transport_->Send({.method = "GET", .path = path}, {});
    return answer.ok() ? answer->body : answer.status().ToString();
  }

 private:
  std::shared_ptr<kube::Transport> transport_;
};

}  // namespace

// A liveness probe that nobody answers has the program ended within a minute or so, and what it
// waits for may take two.
TEST_CASE("Probes are answered while the interpreter's configurations are read", "[sandbox]") {
  const int port = FreePort();
  ControlPlane plane(
      {.members = 1,
       .daemon_flags = {absl::StrCat("--health-probe-bind-address=127.0.0.1:", port)}});
  plane.StopDaemon();
  sandbox::Faults& faults = plane.fleet()->control_plane().faults();
  faults.FailNext(1 << 20, 403, "GET", "/resourceinterpretercustomizations");
  plane.StartDaemon();
  Probe probe(port);
  REQUIRE(plane.Eventually([&] { return probe.Get("/livez") == "ok"; }));
  CHECK(probe.Get("/healthz") == "ok");
  CHECK(absl::StrContains(probe.Get("/readyz"),
                          "[-]interpreter failed: the interpreter's "
                          "configurations have not been read yet"));
  SECTION("a stop meanwhile is no failure") {
    plane.StopDaemon();  // Another code than 0 fails here.
  }
  SECTION("then it begins to work") {
    faults.Clear();
    CHECK(plane.Eventually(
        [&] { return absl::StrContains(probe.Get("/readyz?verbose"), "check passed"); }));
  }
}

}  // namespace tests
