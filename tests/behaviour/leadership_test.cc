// Leadership when leases are changed or the machine's clock is set. On simulated servers only.
#include <cstdlib>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/resources.h"
#include "kube/http/http_transport.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

const kube::Gvk kLease{"coordination.k8s.io", "v1", "Lease"};
const kube::ObjectKey kLeaseKey{"karmada-system", "karmada-controller-manager"};

const std::vector<std::string> kElectionFlags = {
    "--leader-elect=true", "--leader-elect-lease-duration=30s", "--leader-elect-renew-deadline=20s",
    "--leader-elect-retry-period=1s"};

struct Elected {
  ControlPlane plane;
  std::string ns;

  explicit Elected(std::vector<std::string> environment = {},
                   std::vector<std::string> flags = kElectionFlags)
      : plane({.members = 1,
               .daemon_flags = std::move(flags),
               .daemon_environment = std::move(environment)}),
        ns(plane.UniqueNamespace("lead")) {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, kSettingsPolicy));
    REQUIRE(Propagates("first"));
  }

  std::string Spec(const char* field) {
    const auto lease = plane.Get("host", kLease, kLeaseKey);
    return lease ? json::Write(lease->Get({"spec", field})) : "";
  }
  absl::Time RenewTime() {
    const auto lease = plane.Get("host", kLease, kLeaseKey);
    absl::Time time = absl::InfinitePast();
    if (!lease) return time;
    const std::string text = lease->Get({"spec", "renewTime"}).ToString();
    REQUIRE(absl::ParseTime(absl::RFC3339_full, text, &time, nullptr));
    return time;
  }
  // Returns whether the lease is renewed this many times in a row.
  bool Renews(int times) {
    for (int i = 0; i < times; ++i) {
      const absl::Time before = RenewTime();
      if (!plane.Eventually([&] { return RenewTime() != before; })) return false;
    }
    return true;
  }
  // Returns whether an edit of a template now reaches the member.
  bool Propagates(const std::string& value) {
    plane.Apply("host", In(ns, Settings(value)));
    return plane.Eventually([&] {
      const auto there = plane.Get("member1", kConfigMap, {ns, "settings"});
      return there && there->Get({"data", "k"}).AsString() == value;
    });
  }
};

// Returns the lines of the process' metrics that count requests which change something.
std::string ChangesBy(const ControlPlane::StandBy& process) {
  const std::string log = process.Log();
  constexpr absl::string_view kBefore = " metrics=";
  const size_t at = log.find(kBefore.data());
  REQUIRE(at != std::string::npos);
  kube::ConnectionConfig config;
  config.server = absl::StrCat("http://127.0.0.1:", std::atoi(log.c_str() + at + kBefore.size()));
  const auto transport = kube::NewHttpTransport(config);
  REQUIRE(transport.ok());
  const auto answer = (*transport)->Send({.method = "GET", .path = "/metrics"}, {});
  REQUIRE(answer.ok());
  std::string changes;
  for (const absl::string_view line : absl::StrSplit(answer->body, '\n')) {
    const bool counts = absl::StartsWith(line, "rest_client_requests_total{");
    if (counts && !absl::StrContains(line, "method=\"GET\"")) absl::StrAppend(&changes, line, "\n");
  }
  return changes;
}

// The clock of the programs that are started with environment(); see clock_shift.cc.
class ShiftedClock {
 public:
  ShiftedClock() { Set(absl::ZeroDuration()); }
  void Set(absl::Duration shift) {
    const int64_t nanoseconds = absl::ToInt64Nanoseconds(shift);
    // Write in place: the programs have mapped the file.
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    if (!file) file.open(path_, std::ios::binary | std::ios::out);
    file.write(reinterpret_cast<const char*>(&nanoseconds), sizeof nanoseconds);
    REQUIRE(file.flush());
  }
  std::vector<std::string> environment() const {
    return {absl::StrCat("LD_PRELOAD=", KM_CLOCK_SHIFT), absl::StrCat("CLOCK_SHIFT_FILE=", path_),
            "ASAN_OPTIONS=verify_asan_link_order=0"};
  }

 private:
  TempDirectory directory_;
  std::string path_ = directory_.path() + "/shift";
};

}  // namespace

TEST_CASE("A lease that somebody deletes costs nothing", "[sandbox]") {
  Elected e;
  const std::string holder = e.Spec("holderIdentity");
  for (const char* value : {"second", "third"}) {
    e.plane.Delete("host", kLease, kLeaseKey);
    REQUIRE(e.plane.Eventually([&] { return e.Spec("holderIdentity") == holder; }));
    CHECK(e.Renews(1));
    CHECK(e.Propagates(value));
  }
  CHECK_FALSE(e.plane.DaemonDied());
}

TEST_CASE("A clock that is set forward and back changes no leader and stops no work", "[sandbox]") {
  ShiftedClock clock;
  Elected e(clock.environment());
  const std::string holder = e.Spec("holderIdentity");
  const ControlPlane::StandBy stand_by = e.plane.StartStandBy();
  const std::string leader = absl::StrCat("leader=", holder.substr(1, holder.size() - 2));
  REQUIRE(e.plane.Eventually([&] {
    return absl::StrContains(stand_by.Log(), "another process leads") &&
           absl::StrContains(stand_by.Log(), leader);
  }));

  for (const absl::Duration shift : {absl::Hours(1), -absl::Hours(1)}) {
    INFO("the clock is off by " << absl::FormatDuration(shift));
    clock.Set(shift);
    const absl::Time expected = absl::Now() + shift;
    REQUIRE(e.plane.Eventually([&] {
      return e.RenewTime() > expected - absl::Minutes(1) &&
             e.RenewTime() < expected + absl::Minutes(5);
    }));
    CHECK(e.Renews(3));
    CHECK(e.Propagates(absl::StrCat("shifted by ", absl::FormatDuration(shift))));
    CHECK(e.Spec("holderIdentity") == holder);
    CHECK(e.Spec("leaseTransitions") == "0");
  }
  CHECK_FALSE(e.plane.DaemonDied());
}

TEST_CASE("A leader that stops hands over at once if it is asked to", "[sandbox]") {
  // An attempt of a stand-by comes up to four minutes after the last one, and an end that is not
  // announced counts after four minutes.
  Elected e({}, {"--leader-elect=true", "--leader-elect-lease-duration=240s",
                 "--leader-elect-renew-deadline=200s", "--leader-elect-retry-period=120s",
                 "--leader-elect-release-on-exit"});
  const std::string holder = e.Spec("holderIdentity");
  const ControlPlane::StandBy stand_by = e.plane.StartStandBy();
  REQUIRE(e.plane.Eventually(
      [&] { return absl::StrContains(stand_by.Log(), "another process leads"); }));
  e.plane.StopDaemon();
  const absl::Time stopped = absl::Now();
  REQUIRE(e.plane.Eventually([&] {
    return absl::StrContains(stand_by.Log(), "became leader") && e.Spec("holderIdentity") != holder;
  }));
  CHECK(absl::Now() - stopped < absl::Minutes(1));
  CHECK(e.Spec("leaseTransitions") == "1");
  CHECK(e.Propagates("with the next leader"));
}

TEST_CASE("A warm stand-by reads the members while it waits, and goes on where the leader ended",
          "[sandbox]") {
  Elected e({}, {"--leader-elect=true", "--leader-elect-lease-duration=6s",
                 "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s",
                 "--warm-stand-by", "--metrics-bind-address=127.0.0.1:0"});
  const std::string holder = e.Spec("holderIdentity");
  // Lists of objects with Karmada's label are those of the caches.
  const auto lists = [&] {
    int64_t count = 0;
    for (const sandbox::RequestCount& c : e.plane.fleet()->member("member1")->Requests()) {
      if (c.verb == "list" && c.resource == "configmaps") count += c.count;
    }
    return count;
  };
  const int64_t before = lists();
  const ControlPlane::StandBy stand_by = e.plane.StartStandBy();
  REQUIRE(e.plane.Eventually([&] { return lists() > before; }));
  CHECK(e.Propagates("by the leader"));
  CHECK(ChangesBy(stand_by).empty());
  CHECK_FALSE(absl::StrContains(stand_by.Log(), "became leader"));
  CHECK(e.Spec("holderIdentity") == holder);

  e.plane.KillDaemon();
  CHECK(e.Propagates("by the next leader"));
  CHECK(absl::StrContains(stand_by.Log(), "became leader"));
  CHECK_FALSE(ChangesBy(stand_by).empty());
}

TEST_CASE("A warm stand-by follows a kind that comes to a member while it waits", "[sandbox]") {
  Elected e({}, {"--leader-elect=true", "--leader-elect-lease-duration=6s",
                 "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s",
                 "--warm-stand-by", "--metrics-bind-address=127.0.0.1:0"});
  const ControlPlane::StandBy stand_by = e.plane.StartStandBy();
  const auto watches = [&] {
    int64_t count = 0;
    for (const sandbox::RequestCount& c : e.plane.fleet()->member("member1")->Requests()) {
      if (c.verb == "watch" && c.resource == "secrets") count += c.count;
    }
    return count;
  };
  REQUIRE(e.plane.Eventually(
      [&] { return absl::StrContains(stand_by.Log(), "another process leads"); }));
  const int64_t before = watches();
  // A kind that no Work has brought so far: both processes watch it.
  e.plane.Apply("host", In(e.ns, R"(
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: $NS}
stringData: {k: v}
)"));
  e.plane.Apply("host", In(e.ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: key, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Secret, name: key}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)"));
  CHECK(e.plane.Eventually([&] { return watches() >= before + 2; }));
  CHECK(ChangesBy(stand_by).empty());
}

}  // namespace tests
