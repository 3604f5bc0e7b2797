// A server with a kind that takes long to list, while other kinds are watched and listed.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "kube/cache/informer.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

const Resource kConfigMaps{{"", "v1", "ConfigMap"}, "configmaps", true};

// Passes everything on to a fake server, except for the list of config maps: each of its first four
// pages takes a second, has one object, and is followed by another page. The fifth one does not
// come before Release.
class SlowPages : public Transport {
 public:
  SlowPages(std::shared_ptr<tests::FakeApiServer> server, tests::FakeClock& clock)
      : server_(std::move(server)), clock_(clock) {}

  absl::StatusOr<HttpResponse> Send(const HttpRequest& request,
                                    const base::StopToken& stop) override {
    if (!absl::StrContains(request.path, "/configmaps")) return server_->Send(request, stop);
    clock_.Advance(absl::Seconds(1));
    const int page = ++pages;
    if (page == 5) released_.WaitForNotification();
    return HttpResponse{
        200,
        {},
        absl::StrCat(R"({"metadata": {"resourceVersion": "1", "continue": "after-)", page,
                     R"("}, "items": [{"metadata": {"namespace": "ns", "name": "c)", page,
                     R"(", "resourceVersion": "1"}}]})")};
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks callbacks) override {
    return server_->Open(request, std::move(callbacks));
  }
  void Release() { released_.Notify(); }
  std::atomic<int> pages = 0;

 private:
  const std::shared_ptr<tests::FakeApiServer> server_;
  absl::Notification released_;
  tests::FakeClock& clock_;
};

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  std::shared_ptr<SlowPages> slow = std::make_shared<SlowPages>(server, clock);
};

TEST_CASE_METHOD(Fixture, "a watch is resumed while the list of another kind takes long") {
  Client client{server, {.name = "member1"}, clock, nullptr};
  InformerSet informers{client, clock};
  informers.Get(tests::kPods);
  REQUIRE(server->AwaitWatches(1));

  server->Block("GET");
  informers.Get(kConfigMaps);
  REQUIRE(server->AwaitRequests("GET", 2));
  clock.Advance(absl::Seconds(3));
  server->EndWatches(absl::OkStatus());
  CHECK(server->AwaitRequests("WATCH", 2));
  server->Unblock();
  informers.Stop();
}

TEST_CASE_METHOD(Fixture, "watches are resumed however many questions and lists hang") {
  Client client{server, {.name = "member1"}, clock, nullptr};
  InformerSet informers{client, clock, std::make_shared<InformerThreads>(clock, 1)};
  const std::shared_ptr<Informer> pods = informers.Get(tests::kPods);
  REQUIRE(server->AwaitWatches(1));

  server->Block("GET");
  for (int i = 0; i < 10; ++i) {
    informers.Get({{"", "v1", absl::StrCat("Kind", i)}, absl::StrCat("kinds", i), true});
  }
  pods->AskState({}, [](const absl::StatusOr<Informer::ServerState>&) {});
  REQUIRE(server->AwaitRequests("GET", 3));
  clock.Advance(absl::Seconds(3));
  server->EndWatches(absl::OkStatus());
  CHECK(server->AwaitRequests("WATCH", 2));
  server->Unblock();
  informers.Stop();
}

TEST_CASE_METHOD(Fixture, "a kind is listed while the pages of another one come in") {
  Client client{slow, {.name = "member1"}, clock, nullptr};
  InformerSet informers{client, clock};
  const std::shared_ptr<Informer> large = informers.Get(kConfigMaps);
  REQUIRE(tests::Eventually([&] { return slow->pages == 5; }));
  const std::shared_ptr<Informer> pods = informers.Get(tests::kPods);
  CHECK(tests::Eventually([&] { return pods->HasSynced(); }));
  CHECK_FALSE(large->HasSynced());
  slow->Release();
  informers.Stop();
}

}  // namespace
}  // namespace kube
