// Edits of templates that no process can compare with an earlier state still reach the members.
#include <string>

#include <catch2/catch.hpp>

#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// Returns how often the controller manager has read a single object of a resource.
int64_t Gets(ControlPlane& plane, const std::string& resource) {
  int64_t gets = 0;
  for (const sandbox::RequestCount& c : plane.fleet()->control_plane().Requests()) {
    if (c.verb == "get" && c.resource == resource) gets += c.count;
  }
  return gets;
}

}  // namespace

TEST_CASE("An edit between the first look at a template and the first list of its kind lands",
          "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("edits");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("first")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  const auto value = [&] {
    const auto config = plane.Get("member1", kConfigMap, {ns, "settings"});
    return config ? config->Get({"data", "k"}).ToString() : "";
  };
  REQUIRE(plane.Eventually([&] { return value() == "first"; }));

  plane.StopDaemon();
  sandbox::Faults& faults = plane.fleet()->control_plane().faults();
  const int64_t before = Gets(plane, "configmaps");
  // Lists of all namespaces fail, single objects can be read.
  faults.FailNext(1000, 500, "GET", "/api/v1/configmaps");
  plane.StartDaemon();
  REQUIRE(plane.Eventually([&] { return Gets(plane, "configmaps") > before; }));
  REQUIRE(plane.Always([&] { return value() == "first"; }));
  plane.Apply("host", In(ns, Settings("second")));
  faults.Clear();
  CHECK(plane.Eventually([&] { return value() == "second"; }));
}

}  // namespace tests
