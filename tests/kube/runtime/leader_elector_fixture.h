// What the tests of LeaderElector have in common.
#ifndef TESTS_KUBE_RUNTIME_LEADER_ELECTOR_FIXTURE_H_
#define TESTS_KUBE_RUNTIME_LEADER_ELECTOR_FIXTURE_H_

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "kube/runtime/events.h"
#include "kube/runtime/internal/leader_elector.h"
#include "kube/runtime/leader_fence.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/passing_time.h"

namespace tests {

inline const kube::Resource kLeases{{"coordination.k8s.io", "v1", "Lease"}, "leases", true};
inline const kube::ObjectKey kKey{"karmada-system", "the-lease"};

class RecordingSink : public kube::EventSink {
 public:
  void Record(absl::string_view, const kube::InvolvedObject& about, kube::EventType,
              absl::string_view reason, absl::string_view message) override {
    absl::MutexLock lock(&mu_);
    lines_.push_back(absl::StrCat(about.kind, " ", reason, " ", message));
  }
  std::vector<std::string> lines() {
    absl::MutexLock lock(&mu_);
    return lines_;
  }

 private:
  absl::Mutex mu_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mu_);
};

// A contender for a lease on a fake API server. Time passes as tests say.
struct LeaderElectorFixture {
  std::shared_ptr<FakeApiServer> server = std::make_shared<FakeApiServer>();
  FakeClock clock;
  metrics::Registry registry;
  kube::Client client{server, {.name = "fake"}, clock, nullptr};
  RecordingSink events;
  kube::LeaderFence* its_fence = nullptr;
  kube::LeaderElectionOptions options{
      .lease_namespace = kKey.ns, .lease_name = kKey.name, .identity = "me"};
  std::unique_ptr<kube::LeaderElector> elector;
  base::StopSource stop;
  std::thread runner;
  std::atomic<bool> elected = false;
  absl::Status result;

  ~LeaderElectorFixture() {
    base::IgnoreError(Finish(), "the test has looked at what matters to it");
  }
  void Start() { StartWith(client); }
  void StartWith(kube::Client& its_client) {
    auto made =
        kube::LeaderElector::Create(options, {its_client, events, clock, registry, its_fence});
    REQUIRE(made.ok());
    elector = *std::move(made);
    runner = std::thread([this] {
      result = elector->Run(stop.get_token(), [this](const base::StopToken&) { elected = true; });
    });
  }
  absl::Status Join() {
    if (runner.joinable()) runner.join();
    return result;
  }
  absl::Status Finish() {
    stop.request_stop();
    return Join();
  }
  kube::Object Lease() { return server->Find(kLeases, kKey); }
  std::string Holder() { return Lease().spec()["holderIdentity"].ToString(); }
  double MasterStatus() {
    return registry.GetGauge("leader_election_master_status", "", {{"name", kKey.name}}).Value();
  }
  void PutLeaseOf(const std::string& holder, int transitions) {
    kube::Object lease = kube::Object::Make(kLeases.gvk, kKey);
    lease.Set({"spec", "holderIdentity"}, holder);
    lease.Set({"spec", "leaseDurationSeconds"}, 15);
    lease.Set({"spec", "leaseTransitions"}, transitions);
    lease.Set({"spec", "renewTime"}, kube::FormatMicroTime(clock.Now()));
    server->Put(kLeases, lease);
  }
  // Advances the clock in steps until `done`, but no further than `most`.
  bool PassTimeUntil(const std::function<bool()>& done,
                     absl::Duration most = absl::InfiniteDuration()) {
    return tests::PassTimeUntil(clock, absl::Seconds(1), done, most);
  }
};

}  // namespace tests

#endif  // TESTS_KUBE_RUNTIME_LEADER_ELECTOR_FIXTURE_H_
