// Apps are created, changed and deleted while the controller manager, and in one case the agent of
// a member, are killed again and again and the servers fail. At the end everything is as on a quiet
// plane that was given the last state of each app that is left, no member was written to more often
// than apps changed, and hardly a write changed nothing. Every kind of fault was met: a run goes on
// until it has been. CHAOS_APPS and CHAOS_SECONDS choose the size (`make chaos`: 300 apps for three
// minutes), CHAOS_SEED another sequence.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/chaos.h"
#include "tests/behaviour/comparable_planes.h"
#include "tests/behaviour/effective_writes.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/walked_objects.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

int Setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  int value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// A write is repeated where its answer was lost, or the daemon ended before it had seen the effect.
constexpr int kWritesPerRetry = 20;

// Returns the binding of an app and its object in each cluster, for a message.
std::string WhereItStands(ControlPlane& plane, const App& app) {
  std::string text;
  const auto add = [&](const std::string& cluster, const kube::Gvk& gvk, const std::string& name) {
    const auto object = plane.Get(cluster, gvk, {app.ns, name});
    absl::StrAppend(&text, cluster, ": ", object ? json::Write(object->root()) : "absent", "\n");
  };
  add("host", kBinding, app.name + "-deployment");
  for (const char* cluster : {"host", "member1", "member2"}) add(cluster, kDeployment, app.name);
  return text;
}

// Waits until every app is ready in both members and nothing changes any more.
void AwaitRest(ControlPlane& plane, const std::vector<App>& apps, const WalkedObjects& objects) {
  std::string unready;
  const auto all_ready = [&] {
    return std::all_of(apps.begin(), apps.end(), [&](const App& app) {
      if (!app.exists) return true;
      const auto deployment = plane.Get("host", kDeployment, {app.ns, app.name});
      const int copies = app.ns == kChaosNamespaces[0] ? 2 : 1;
      const int64_t ready = deployment ? deployment->Get({"status", "readyReplicas"}).AsInt() : -1;
      if (ready == copies * app.replicas) return true;
      unready = absl::StrCat(app.ns, "/", app.name, ": ", ready, " instead of ",
                             copies * app.replicas, "\n", WhereItStands(plane, app));
      return false;
    });
  };
  const bool rests = plane.Eventually(all_ready, absl::Minutes(5));
  INFO("not ready: " << unready);
  REQUIRE(rests);
  REQUIRE(plane.Settles([&] { return Versions(objects.Take()); }, absl::Seconds(3)));
}

Contents QuietRun(const ControlPlane::Options& options, const std::vector<App>& apps) {
  ControlPlane plane(options);
  const WalkedObjects objects(plane, kChaosNamespaces);
  SetUpChaos(plane);
  for (const App& app : apps) {
    if (app.exists) plane.Apply("host", app.Config() + "---" + app.Workload());
  }
  AwaitRest(plane, apps, objects);
  return Comparable(objects.Take(), {});
}

// Returns how often the daemons have written apps into a member.
int64_t WritesTo(ControlPlane& plane, const std::string& member) {
  static const auto* const kVerbs = new std::set<std::string>{"create", "update", "patch"};
  int64_t writes = 0;
  for (const sandbox::RequestCount& count : plane.fleet()->member(member)->Requests()) {
    const bool is_app = count.resource == "configmaps" || count.resource == "deployments";
    if (is_app && count.code < 300 && kVerbs->count(count.verb) > 0) writes += count.count;
  }
  return writes;
}

void EndsAsAQuietRun(const ControlPlane::Options& options) {
  const int apps = Setting("CHAOS_APPS", 20), seconds = Setting("CHAOS_SECONDS", 10);
  const int seed = Setting("CHAOS_SEED", 1);
  INFO("CHAOS_APPS=" << apps << " CHAOS_SECONDS=" << seconds << " CHAOS_SEED=" << seed);
  ControlPlane plane(options);
  const WalkedObjects objects(plane, kChaosNamespaces);
  SetUpChaos(plane);
  std::map<std::string, EffectiveWrites> effective;
  for (const std::string& member : kMembers) {
    effective.try_emplace(member, plane.fleet()->member(member)->backend(), "app-");
  }
  Chaos chaos(plane, apps, seed);
  chaos.Run(absl::Seconds(seconds));
  chaos.Finish();
  AwaitRest(plane, chaos.apps(), objects);
  CreatedAgain created_again;
  for (const auto& [member, writes] : effective) created_again[member] = writes.CreatedAgain();
  CHECK(Differences(Comparable(objects.Take(), created_again), QuietRun(options, chaos.apps())) ==
        "");

  std::string text = absl::StrCat(chaos.changes(), " changes; ", chaos.servers().Text());
  for (const std::string& member : kMembers) {
    const int64_t writes = WritesTo(plane, member), useful = effective.at(member).Count();
    absl::StrAppend(&text, "; ", member, ": ", writes, " writes, ", writes - useful, " in vain");
    CHECK(useful > 0);
    CHECK(useful <= writes);
    CHECK(writes <= chaos.changes());
    CHECK(writes - useful <= writes / kWritesPerRetry);
  }
  INFO(text);
  CHECK(chaos.servers().AllMet());
  INFO("of a daemon that has died:\n" << chaos.last_words());
  CHECK(chaos.deaths() == 0);
  CHECK(chaos.partition() >= std::min(absl::Seconds(seconds) / 4, kPartition) * 0.8);
  std::cout << "chaos: " << text << "; a partition of " << chaos.partition() << std::endl;
}

}  // namespace

TEST_CASE("Chaos ends as a quiet run does", "[chaos][sandbox]") { EndsAsAQuietRun({}); }

TEST_CASE("Chaos with an agent that is killed and cut off ends as a quiet run does",
          "[chaos][sandbox]") {
  ControlPlane::Options options;
  options.pull_members = 1;
  options.relay_agents = true;
  // That nothing is heard of the agent is noticed soon, and not while it is only busy: it renews
  // its Lease every two seconds.
  options.agent_flags = {"--cluster-lease-duration=8s",
                         "--cluster-lease-renew-interval-fraction=0.25"};
  options.daemon_flags = {"--cluster-monitor-grace-period=12s", "--cluster-monitor-period=1s"};
  EndsAsAQuietRun(options);
}

}  // namespace tests
