// When a shadow's rounds begin and end.
#include "cmd/controller-manager/shadow_watch.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/stop_token.h"
#include "tests/support/fake_clock.h"

namespace cmd {
namespace {

// A server without objects, at which everything can be created.
class EmptyServer : public kube::Transport {
 public:
  absl::StatusOr<kube::HttpResponse> Send(const kube::HttpRequest&,
                                          const base::StopToken&) override {
    return kube::HttpResponse{
        .code = 404,
        .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound",
                    "details":{"name":"m","kind":"configmaps"},"code":404})"};
  }
  std::unique_ptr<kube::HttpStream> Open(const kube::HttpRequest&, kube::StreamCallbacks) override {
    return nullptr;
  }
};

}  // namespace

TEST_CASE("Queues are idle when nobody waits in them and nobody works") {
  metrics::Registry registry;
  CHECK(QueuesAreIdle(registry));
  metrics::Gauge& depth = registry.GetGauge("workqueue_depth", "", {{"name", "a"}});
  metrics::Gauge& active =
      registry.GetGauge("controller_runtime_active_workers", "", {{"controller", "a"}});
  CHECK(QueuesAreIdle(registry));
  depth.Set(10);
  CHECK_FALSE(QueuesAreIdle(registry));
  depth.Set(0);
  active.Set(1);
  CHECK_FALSE(QueuesAreIdle(registry));
}

TEST_CASE("A round begins when a held write is due, and ends when the loops rest") {
  tests::FakeClock clock;
  const auto shadow = std::make_shared<kube::Shadow>(clock);
  const auto transport = shadow->Over("m1", std::make_shared<EmptyServer>());
  const auto write = [&] {
    const kube::HttpRequest request{
        .method = "POST",
        .path = "/api/v1/namespaces/ns/configmaps",
        .content_type = "application/json",
        .body = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"}})"};
    REQUIRE(transport->Send(request, {})->code == 201);
  };
  std::atomic<int> rounds = 0;
  std::atomic<bool> idle = false;
  ShadowWatch watch({.shadow = shadow,
                     .clock = clock,
                     .look_at_everything = [&](const base::StopToken&) { ++rounds; },
                     .is_idle = [&] { return idle.load(); }});
  base::StopSource stop;
  std::thread thread([&] { watch.Run(stop.get_token()).IgnoreError(); });
  const auto pass = [&](absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= kube::Shadow::kPeriod) {
      clock.AwaitWaiters(1);
      clock.AdvanceAndAwait(kube::Shadow::kPeriod);
    }
    clock.AwaitWaiters(1);
  };
  const auto count = [&](const char* name) {
    return json::Parse(shadow->Page()).value()[name].AsInt();
  };
  pass(absl::Minutes(1));
  CHECK(rounds == 0);
  write();
  pass(kube::Shadow::kHold + kube::Shadow::kPeriod);
  CHECK(rounds == 1);
  CHECK(count("held") == 1);
  // Nobody has tried it in the round, which goes on as long as a loop has something to do.
  pass(2 * ShadowWatch::kRound);
  CHECK(count("held") == 1);
  idle = true;
  pass(kube::Shadow::kPeriod);
  CHECK(count("held") == 0);
  CHECK(count("outstanding") == 0);

  write();
  pass(kube::Shadow::kHold + kube::Shadow::kPeriod);
  CHECK(rounds == 2);
  write();
  pass(kube::Shadow::kPeriod);
  CHECK(count("outstanding") == 1);
  stop.request_stop();
  clock.Advance(kube::Shadow::kPeriod);
  thread.join();
}

}  // namespace cmd
