// When a shadow's rounds begin and end.
#include "cmd/controller-manager/shadow_watch.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/json.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

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

struct WatchFixture {
  tests::FakeClock clock;
  const std::shared_ptr<kube::Shadow> shadow = std::make_shared<kube::Shadow>(clock);
  const std::shared_ptr<kube::Transport> transport =
      shadow->Over("m1", std::make_shared<EmptyServer>());
  std::atomic<int> rounds = 0;
  std::atomic<bool> idle = false;
  std::atomic<size_t> failing = 0;
  ShadowWatch watch{{.shadow = shadow,
                     .clock = clock,
                     .look_at_everything = [this](const base::StopToken&) { ++rounds; },
                     .is_idle = [this] { return idle.load(); },
                     .failing = [this] { return failing.load(); }}};
  base::StopSource stop;
  std::thread thread{[this] { watch.Run(stop.get_token()).IgnoreError(); }};

  ~WatchFixture() {
    stop.request_stop();
    clock.Advance(kube::Shadow::kPeriod);
    thread.join();
  }
  void Write() {
    const kube::HttpRequest request{
        .method = "POST",
        .path = "/api/v1/namespaces/ns/configmaps",
        .content_type = "application/json",
        .body = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"}})"};
    REQUIRE(transport->Send(request, {})->code == 201);
  }
  void Pass(absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= kube::Shadow::kPeriod) {
      clock.AwaitWaiters(1);
      clock.AdvanceAndAwait(kube::Shadow::kPeriod);
    }
    clock.AwaitWaiters(1);
  }
  int64_t Count(const char* name) const {
    return json::Parse(shadow->Page()).value()[name].AsInt();
  }
  // Passes the round that is made at the start.
  void PassFirstRound() {
    idle = true;
    Pass(ShadowWatch::kRound + 2 * kube::Shadow::kPeriod);
    REQUIRE(Count("rounds") == 1);
    rounds = 0;
    idle = false;
  }
};

}  // namespace

TEST_CASE_METHOD(WatchFixture, "One round is made after the start, and none without a reason") {
  CHECK(Count("rounds") == 0);
  Pass(kube::Shadow::kPeriod);
  CHECK(rounds == 1);
  Pass(2 * ShadowWatch::kRound);
  CHECK(Count("rounds") == 0);  // A loop is at work.
  idle = true;
  Pass(kube::Shadow::kPeriod);
  CHECK(Count("rounds") == 1);
  Pass(absl::Minutes(1));
  CHECK(rounds == 1);
  CHECK(Count("rounds") == 1);
}

TEST_CASE_METHOD(WatchFixture,
                 "A round begins when a held write is due, and ends when the loops rest") {
  PassFirstRound();
  Write();
  Pass(kube::Shadow::kHold + kube::Shadow::kPeriod);
  CHECK(rounds == 1);
  CHECK(Count("held") == 1);
  // Nobody has tried it in the round, which goes on as long as a loop has something to do.
  Pass(2 * ShadowWatch::kRound);
  CHECK(Count("held") == 1);
  idle = true;
  Pass(kube::Shadow::kPeriod);
  CHECK(Count("held") == 0);
  CHECK(Count("outstanding") == 0);

  Write();
  Pass(kube::Shadow::kHold + kube::Shadow::kPeriod);
  CHECK(rounds == 2);
  Write();
  Pass(kube::Shadow::kPeriod);
  CHECK(Count("outstanding") == 1);
}

TEST_CASE_METHOD(WatchFixture,
                 "A round ends by its time while loops never rest, and another begins") {
  PassFirstRound();
  Write();
  Pass(kube::Shadow::kHold + kube::Shadow::kPeriod);
  REQUIRE(rounds == 1);
  Pass(ShadowWatch::kLongestRound + 2 * kube::Shadow::kPeriod);
  CHECK(rounds == 2);
  CHECK(Count("rounds") == 1);
  CHECK(Count("held") == 1);  // It was not tried, and every loop may yet try it.
  Write();
  Pass(kube::Shadow::kPeriod);
  CHECK(Count("held") == 0);
  CHECK(Count("outstanding") == 1);
}

TEST_CASE_METHOD(WatchFixture, "No round is completed while something could not be looked at") {
  metrics::Registry registry;
  shadow->ShowIn(registry);
  idle = true;
  failing = 3;
  Pass(ShadowWatch::kLongestRound);
  CHECK(Count("rounds") == 0);
  CHECK(registry.GetGauge("karmada_shadow_failing", "").Value() == 3);
  Pass(3 * kube::Shadow::kPeriod);
  CHECK(rounds == 2);  // The first one was given up.
  failing = 0;
  Pass(ShadowWatch::kRound);
  CHECK(Count("rounds") == 1);
  CHECK(registry.GetGauge("karmada_shadow_failing", "").Value() == 0);
}

TEST_CASE_METHOD(WatchFixture, "What fails does not let a round withdraw what it did not try") {
  PassFirstRound();
  Write();
  failing = 1;
  idle = true;
  Pass(kube::Shadow::kHold + kube::Shadow::kPeriod + 2 * ShadowWatch::kRound);
  CHECK(rounds == 1);
  CHECK(Count("held") == 1);
  failing = 0;
  Pass(kube::Shadow::kPeriod);
  CHECK(Count("held") == 0);
}

TEST_CASE("A cache is waited for while it reads its objects for the first time") {
  tests::FakeClock clock;
  const auto server = std::make_shared<tests::FakeApiServer>();
  kube::Client client(server, {.name = "fake"}, clock, nullptr);
  kube::InformerSet informers(client, clock);
  CHECK(AllHaveRead(informers));
  server->Block("GET");
  const auto informer = informers.Get({{"", "v1", "ConfigMap"}, "configmaps", true});
  CHECK_FALSE(AllHaveRead(informers));
  server->Unblock();
  REQUIRE(informer->WaitForSync(clock.SteadyNow() + absl::Minutes(1), {}).ok());
  CHECK(AllHaveRead(informers));
  informers.Stop();
}

TEST_CASE("A kind whose cache cannot be read is listed, one that is not served is not") {
  tests::FakeClock clock;
  const auto server = std::make_shared<tests::FakeApiServer>();
  kube::Client client(server, {.name = "fake"}, clock, nullptr);
  kube::InformerSet informers(client, clock), others(client, clock);
  const auto failures = [&] {
    kube::Shadow::Failing failing;
    AddUnread("member1", {&informers, &others}, failing);
    return failing;
  };
  const auto fails = [](const kube::Informer& informer) { return !informer.last_error().ok(); };
  CHECK(failures().count == 0);
  server->FailNext("GET v1/secrets", 403, "Forbidden", 1000);
  const auto secrets = informers.Get({{"", "v1", "Secret"}, "secrets", true});
  REQUIRE(tests::Eventually([&] { return fails(*secrets); }));
  const kube::Shadow::Failing found = failures();
  CHECK(found.count == 1);
  REQUIRE(found.some.size() == 1);
  CHECK(found.some[0].controller == "cache");
  CHECK(found.some[0].key == "member1 " + secrets->resource().gvr().ToString());
  CHECK_FALSE(found.some[0].error.empty());

  server->FailNext("GET example.io/v1/things", 404, "", 1000);
  const auto things = informers.Get({{"example.io", "v1", "Thing"}, "things", true});
  REQUIRE(tests::Eventually([&] { return fails(*things); }));
  CHECK(failures().count == 2);  // Nothing shows yet that the server itself answers.
  const auto maps = others.Get({{"", "v1", "ConfigMap"}, "configmaps", true});
  REQUIRE(maps->WaitForSync(clock.SteadyNow() + absl::Minutes(1), {}).ok());
  CHECK(failures().count == 1);
  informers.Stop();
  others.Stop();
}

}  // namespace cmd
