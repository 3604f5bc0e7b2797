// The credentials of a member are lost or wrong for some time: the Cluster shows what is missing,
// and once they are repaired the member is followed without any pause.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/membership.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

struct Plane {
  // The member is ready again within the test only if the repair needs no threshold.
  ControlPlane plane{
      {.members = 1,
       .daemon_flags = {"--cluster-status-update-frequency=300ms", "--cluster-failure-threshold=1s",
                        "--cluster-success-threshold=1h"}}};
  std::string ns = plane.UniqueNamespace("credentials");

  Plane() {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, Settings("first")));
    plane.Apply("host", In(ns, kSettingsPolicy));
  }
  bool Arrives(const std::string& value) {
    return plane.Eventually([&] {
      const auto config = plane.Get("member1", kConfigMap, {ns, "settings"});
      return config && config->Get({"data", "k"}).AsString() == value;
    });
  }
  // Returns status, reason and message of the condition Ready.
  std::string Ready() {
    const auto cluster = plane.Get("host", kCluster, {"", "member1"});
    if (!cluster) return "";
    const json::Value* ready = kube::FindCondition(cluster->Get({"status", "conditions"}), "Ready");
    if (ready == nullptr) return "";
    return absl::StrCat((*ready)["status"].AsString(), " ", (*ready)["reason"].AsString(), ": ",
                        (*ready)["message"].AsString());
  }
  bool Becomes(const std::string& ready) {
    return plane.Eventually([&] { return Ready() == ready; });
  }
  // Returns how often the Cluster has been reported to be ready again.
  int64_t Recoveries() {
    const kube::Resource events{{"", "v1", "Event"}, "events", /*namespaced=*/true};
    const auto page = plane.client("host").ListAll(events, "", {}, {});
    REQUIRE(page.ok());
    int64_t sum = 0;
    for (const kube::Object& event : page->items) {
      const bool counts = event.Get({"involvedObject", "name"}).AsString() == "member1" &&
                          event.Get({"type"}).AsString() == "Normal" &&
                          event.Get({"reason"}).AsString() == "ClusterReady";
      if (counts) sum += event.Get({"count"}).AsInt();
    }
    return sum;
  }
  bool HasEvent(const std::string& text) {
    return plane.Eventually(
        [&] { return absl::StrContains(plane.EventsOn(kCluster, "member1"), text); });
  }
};

}  // namespace

TEST_CASE("Lost credentials show on the Cluster, and their repair counts at once", "[sandbox]") {
  Plane p;
  REQUIRE(p.Arrives("first"));
  const kube::Object secret = CredentialsOf(p.plane, "member1");
  const std::string name = secret.key().ToString();
  const std::string no_client = "StatusCollectionFailed: failed to create a ClusterClient: ";
  // What the condition shows; the event goes on with the cause where the condition has none.
  const auto break_and_repair = [&](const std::string& value, const std::string& shown,
                                    const std::string& cause, const auto& break_it) {
    const int64_t recoveries = p.Recoveries();
    break_it();
    CHECK(p.Becomes("False " + shown));
    CHECK(p.HasEvent("Warning " + shown + cause));
    p.plane.Apply("host", In(p.ns, Settings(value)));
    REQUIRE(p.plane.TryApply("host", secret).ok());
    CHECK(p.Arrives(value));
    CHECK(p.Becomes("True ClusterReady: cluster is healthy and ready to accept workloads"));
    CHECK(p.plane.Eventually([&] { return p.Recoveries() > recoveries; }));
  };
  break_and_repair("second", no_client + "cluster member1: secret " + name + " not found", "",
                   [&] { p.plane.Delete("host", kSecret, secret.key()); });
  break_and_repair(
      "third", no_client + "cluster member1: secret " + name + " has no token in data.token", "",
      [&] { p.plane.Patch("host", kSecret, secret.key(), R"({"data":{"token":""}})"); });
  break_and_repair(
      "fourth", "ClusterNotReachable: cluster is not reachable",
      ": the member does not accept the token of secret " + name + " (401 Unauthorized)", [&] {
        p.plane.Patch("host", kSecret, secret.key(),
                      absl::StrCat(R"({"data":{"token":")", absl::Base64Escape("wrong"), "\"}}"));
        p.plane.fleet()->member("member1")->faults().DropWatches();
      });
  // The watches of the member are back, too.
  p.plane.Patch("member1", kConfigMap, {p.ns, "settings"}, R"({"data":{"k":"theirs"}})");
  CHECK(p.Arrives("fourth"));
}

}  // namespace tests
