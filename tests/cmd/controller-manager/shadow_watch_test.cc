// When a shadow's rounds begin and end.
#include "cmd/controller-manager/shadow_watch.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
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
  explicit WatchFixture(bool reports = false) : reports(reports) {}
  const bool reports;
  tests::FakeClock clock;
  const std::shared_ptr<kube::Shadow> shadow = std::make_shared<kube::Shadow>(clock);
  const std::shared_ptr<kube::Transport> transport =
      shadow->Over("m1", std::make_shared<EmptyServer>());
  std::atomic<int> rounds = 0;
  std::atomic<bool> idle = false;
  std::atomic<size_t> failing = 0, failing_upstream = 0;
  std::atomic<int> exit_code = -1;  // Of the report.
  ShadowWatch watch{{.shadow = shadow,
                     .clock = clock,
                     .look_at_everything = [this](const base::StopToken&) { ++rounds; },
                     .is_idle = [this] { return idle.load(); },
                     .failing = [this] { return Failing(); },
                     .end = reports ? [this](const auto& result, const auto&) { End(result); }
                                    : decltype(ShadowWatch::Deps::end)(),
                     .time_limit = absl::Hours(1)}};
  base::StopSource stop;
  std::thread thread{[this] { watch.Run(stop.get_token()).IgnoreError(); }};

  kube::Shadow::Failing Failing() const {
    kube::Shadow::Failing now{.count = failing, .upstream = failing_upstream};
    for (size_t i = 0; i < now.count; ++i) {
      now.some.push_back({"detector", absl::StrCat("ns/", i), "why"});
    }
    return now;
  }
  void End(const ShadowResult& result) { exit_code = ExitCodeOf(result.verdict); }
  void Stop() {
    stop.request_stop();
    clock.Advance(kube::Shadow::kPeriod);
    if (thread.joinable()) thread.join();
  }
  ~WatchFixture() { Stop(); }
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

TEST_CASE_METHOD(WatchFixture, "A round waits for what has just begun to fail, and not for ever") {
  metrics::Registry registry;
  shadow->ShowIn(registry);
  idle = true;
  Pass(ShadowWatch::kRound);
  failing = 3;
  Pass(2 * kube::Shadow::kPeriod);
  CHECK(Count("rounds") == 0);
  CHECK(registry.GetGauge("karmada_shadow_failing", "").Value() == 3);
  Pass(ShadowWatch::kStanding);
  CHECK(Count("rounds") == 1);
  failing = 0;
  Pass(kube::Shadow::kPeriod);
  CHECK(registry.GetGauge("karmada_shadow_failing", "").Value() == 0);
}

TEST_CASE_METHOD(WatchFixture, "A round withdraws what it did not try although something fails") {
  PassFirstRound();
  Write();
  failing = 1;
  idle = true;
  Pass(kube::Shadow::kHold + 2 * kube::Shadow::kPeriod + ShadowWatch::kRound);
  CHECK(rounds == 1);
  CHECK(Count("held") == 0);
  CHECK(Count("outstanding") == 0);
}

struct ReportFixture : WatchFixture {
  ReportFixture() : WatchFixture(true) {}
  // Lets time pass until the shadow has reported.
  void Await() {
    REQUIRE(tests::Eventually([&] {
      if (exit_code < 0) clock.Advance(kube::Shadow::kPeriod);
      return exit_code >= 0;
    }));
  }
};

TEST_CASE_METHOD(ReportFixture,
                 "A shadow that has found nothing ends with 0 after its first round") {
  Pass(ShadowWatch::kRound);
  CHECK(exit_code == -1);  // A loop is at work.
  idle = true;
  Await();
  CHECK(exit_code == kShadowSame);
}

TEST_CASE_METHOD(ReportFixture,
                 "What fails with the leader, too, does not count against a shadow") {
  failing = 3;
  failing_upstream = 3;
  idle = true;
  Await();
  CHECK(exit_code == kShadowSame);
}

TEST_CASE_METHOD(ReportFixture, "What fails here alone ends a shadow with its own code") {
  failing = 3;
  failing_upstream = 2;
  idle = true;
  Await();
  CHECK(exit_code == kShadowDifferent);
}

TEST_CASE_METHOD(ReportFixture, "A shadow whose loops never rest ends when its time is over") {
  Await();
  CHECK(exit_code == kShadowUndecided);
}

TEST_CASE_METHOD(ReportFixture, "A shadow that is stopped reports that it has no verdict") {
  Pass(kube::Shadow::kPeriod);
  Stop();
  CHECK(exit_code == kShadowUndecided);
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
  const auto failures = [&](size_t before = 0) {
    kube::Shadow::Failing failing{.count = before};
    for (size_t i = 0; i < before; ++i) failing.some.push_back({"detector", "key", "why"});
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
  // However much else fails, it is compared with the leader, and can be listed.
  CHECK(failures(2 * ShadowWatch::kMostFailures).some.size() == 2 * ShadowWatch::kMostFailures + 1);

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
