// Servers that answer late or not at all hold up only what depends on them. On simulated servers
// only.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/cluster.h"
#include "base/clock.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// More than the workers that write to members.
constexpr int kApps = 15;

// A latency with dead members may be kFactor times that of the same run without them, and this much
// more. The load of the machine may change during a run; the delays that the tests look for exceed
// both.
constexpr int kFactor = 5;
constexpr absl::Duration kFloor = absl::Seconds(6);

void ApplyMany(ControlPlane& plane, const std::string& ns, const std::string& value) {
  for (int i = 0; i < kApps; ++i) {
    plane.Apply("host", In(ns, absl::StrCat(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings-)",
                                            i, R"(, namespace: $NS, labels: {many: "yes"}}
data: {k: )",
                                            value, "}\n")));
  }
}

bool HasMany(ControlPlane& plane, const std::string& member, const std::string& ns,
             const std::string& value) {
  for (int i = 0; i < kApps; ++i) {
    const auto config = plane.Get(member, kConfigMap, {ns, absl::StrCat("settings-", i)});
    if (!config || config->Get({"data", "k"}).AsString() != value) return false;
  }
  return true;
}

// Ends the latency of a member, also of requests that wait already, for which the end of the daemon
// would wait.
void Answer(ControlPlane& plane, const std::string& member) {
  sandbox::Faults& faults = plane.fleet()->member(member)->faults();
  faults.SetLatency(absl::ZeroDuration());
  faults.SetPartitioned(true);
  faults.SetPartitioned(false);
}

}  // namespace

namespace {

// Templates that all members get, and how long that takes.
class Everywhere {
 public:
  static constexpr int kMembers = 20;

  // The latency of members below `first` does not count.
  explicit Everywhere(int first) : first_(first) {
    plane_.Apply("host", In(ns_, kNamespaceYaml));
    plane_.Apply("host", In(ns_, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: settings, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {many: "yes"}}}]
  placement: {}
)"));
    Median();  // The first round creates objects and connections.
  }

  // Edits all templates; returns how long it takes until half of the members have them all.
  // `meanwhile` is called again and again until the last one has.
  absl::Duration Median(const std::function<void()>& meanwhile = [] {}) {
    const std::string value = absl::StrCat("v", ++round_);
    std::vector<absl::Duration> latencies;
    const base::SteadyTime began = base::RealClock().SteadyNow();
    ApplyMany(plane_, ns_, value);
    for (int m = first_; m <= kMembers; ++m) {
      const std::string member = absl::StrCat("member", m);
      REQUIRE(plane_.Eventually([&] {
        meanwhile();
        return HasMany(plane_, member, ns_, value);
      }));
      latencies.push_back(base::RealClock().SteadyNow() - began);
    }
    std::nth_element(latencies.begin(), latencies.begin() + latencies.size() / 2, latencies.end());
    return latencies[latencies.size() / 2];
  }
  absl::Duration SlowestOfThree(const std::function<void()>& meanwhile = [] {}) {
    return std::max({Median(meanwhile), Median(meanwhile), Median(meanwhile)});
  }

  // Returns whether the member has the templates as they are now.
  bool IsSupplied(const std::string& member) {
    return HasMany(plane_, member, ns_, absl::StrCat("v", round_));
  }
  sandbox::Faults& Faults(const std::string& member) {
    return plane_.fleet()->member(member)->faults();
  }
  ControlPlane& plane() { return plane_; }
  const std::string& ns() const { return ns_; }

 private:
  ControlPlane plane_{{.members = kMembers}};
  const std::string ns_ = plane_.UniqueNamespace("slow");
  const int first_;
  int round_ = 0;
};

}  // namespace

TEST_CASE("A member that does not answer delays nobody else", "[sandbox]") {
  Everywhere everywhere(/*first=*/2);
  const absl::Duration before = everywhere.SlowestOfThree();
  // There are five workers, each of which would wait for its answer for half a minute, until the
  // client gives up.
  everywhere.Faults("member1").SetLatency(absl::Minutes(10));
  const absl::Duration after = everywhere.SlowestOfThree();
  INFO("before " << before << ", after " << after);
  CHECK(after < kFactor * before + kFloor);
  Answer(everywhere.plane(), "member1");
}

TEST_CASE("Members that answer with errors, or come and go, delay nobody else", "[sandbox]") {
  Everywhere everywhere(/*first=*/4);
  const absl::Duration before = everywhere.SlowestOfThree();
  constexpr int kAlways = 1'000'000;
  const std::string path = absl::StrCat("/namespaces/", everywhere.ns(), "/");
  everywhere.Faults("member1").FailNext(kAlways, 500, "", path);
  everywhere.Faults("member2").FailNext(kAlways, 429, "", path);
  bool is_away = false;
  base::SteadyTime turned = base::RealClock().SteadyNow();
  const auto turn = [&] {
    const base::SteadyTime now = base::RealClock().SteadyNow();
    if (now - turned < absl::Milliseconds(200)) return;
    turned = now;
    is_away = !is_away;
    everywhere.Faults("member3").SetPartitioned(is_away);
  };
  const absl::Duration after = everywhere.SlowestOfThree(turn);
  INFO("before " << before << ", after " << after);
  CHECK(after < kFactor * before + kFloor);
  // What they have missed comes once they answer.
  for (const char* member : {"member1", "member2", "member3"}) {
    everywhere.Faults(member).Clear();
    everywhere.Faults(member).SetPartitioned(false);
  }
  for (const char* member : {"member1", "member2", "member3"}) {
    INFO(member);
    CHECK(everywhere.plane().Eventually([&] { return everywhere.IsSupplied(member); }));
  }
}

TEST_CASE("Many members that do not answer delay the status of nobody else", "[sandbox]") {
  constexpr int kMembers = 30, kDead = 26;
  ControlPlane plane(
      {.members = kMembers,
       .daemon_flags = {"--cluster-status-update-frequency=1s", "--cluster-failure-threshold=0s",
                        "--cluster-success-threshold=0s"}});
  const auto member = [](int m) { return absl::StrCat("member", m); };
  const auto is_ready = [&](int m) {
    const auto cluster = plane.Get("host", kCluster, {"", member(m)});
    return cluster && api::ClusterView(*cluster).IsReady();
  };
  const auto nodes = [&](int m) {
    const auto cluster = plane.Get("host", kCluster, {"", member(m)});
    return cluster ? cluster->Get({"status", "nodeSummary", "totalNum"}).AsInt() : 0;
  };
  const auto have_nodes = [&](int64_t wanted) {
    return plane.Eventually([&] {
      for (int m = kDead + 1; m <= kMembers; ++m) {
        if (nodes(m) != wanted) return false;
      }
      return true;
    });
  };
  REQUIRE(plane.Eventually([&] { return nodes(kMembers) > 0; }));
  int64_t there = nodes(kMembers);
  REQUIRE(have_nodes(there));
  // Adds a node to each living member; returns how long it takes until their status has it.
  const auto latency = [&] {
    const base::SteadyTime began = base::RealClock().SteadyNow();
    for (int m = kDead + 1; m <= kMembers; ++m) {
      plane.Apply(member(m),
                  absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: new-", there, "}}"));
    }
    REQUIRE(have_nodes(++there));
    return base::RealClock().SteadyNow() - began;
  };
  const absl::Duration before = latency();
  for (int m = 1; m <= kDead; ++m) {
    plane.fleet()->member(member(m))->faults().SetLatency(absl::Minutes(10));
  }
  // Measured at once, before any member is known to be slow. A probe without an answer takes five
  // seconds, and there are five workers: a round over the dead members would take 26 s.
  const absl::Duration first = latency();
  INFO("before " << before << ", first " << first);
  CHECK(first < kFactor * before + kFloor);
  REQUIRE(plane.Eventually([&] {
    for (int m = 1; m <= kDead; ++m) {
      if (is_ready(m)) return false;
    }
    return true;
  }));
  const absl::Duration second = latency();
  INFO("second " << second);
  CHECK(second < kFactor * before + kFloor);
  // A member that comes back is not queued behind the dead ones.
  plane.fleet()->member("member1")->faults().SetLatency(absl::ZeroDuration());
  CHECK(plane.Eventually([&] { return is_ready(1); }, absl::Minutes(1)));
  for (int m = 1; m <= kDead; ++m) Answer(plane, member(m));
}

TEST_CASE("A control plane that answers late does not cost the lease", "[sandbox]") {
  ControlPlane plane(
      {.members = 1,
       .daemon_flags = {"--leader-elect=true", "--leader-elect-lease-duration=30s",
                        "--leader-elect-renew-deadline=20s", "--leader-elect-retry-period=2s"}});
  const std::string ns = plane.UniqueNamespace("late");
  plane.Apply("host", In(ns, kNamespaceYaml));
  const kube::Gvk lease{"coordination.k8s.io", "v1", "Lease"};
  const auto spec = [&](const char* field) {
    const auto held = plane.Get("host", lease, {"karmada-system", "karmada-controller-manager"});
    return held ? held->Get({"spec", field}).ToString() : "";
  };
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: settings, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {many: "yes"}}}]
  placement: {}
)"));
  ApplyMany(plane, ns, "first");
  REQUIRE(plane.Eventually([&] { return HasMany(plane, "member1", ns, "first"); }));

  sandbox::Faults& faults = plane.fleet()->control_plane().faults();
  ApplyMany(plane, ns, "second");
  faults.SetLatency(absl::Seconds(3));
  // The lease goes on being renewed.
  const std::string holder = spec("holderIdentity");
  for (int i = 0; i < 4; ++i) {
    const std::string before = spec("renewTime");
    REQUIRE(plane.Eventually([&] { return spec("renewTime") != before; }));
  }
  CHECK_FALSE(plane.DaemonDied());
  CHECK(spec("holderIdentity") == holder);
  faults.SetLatency(absl::ZeroDuration());
  CHECK(plane.Eventually([&] { return HasMany(plane, "member1", ns, "second"); }));
}

}  // namespace tests
