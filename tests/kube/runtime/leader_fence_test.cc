#include "kube/runtime/leader_fence.h"

#include <catch2/catch.hpp>

#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

// Notes what it gets.
class NotingTransport : public Transport {
 public:
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request, const base::StopToken&) override {
    sent.push_back(absl::StrCat(request.method, " ", request.path));
    return HttpResponse{.code = 200};
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest& request, StreamCallbacks) override {
    sent.push_back(absl::StrCat("watch ", request.path));
    return nullptr;
  }
  bool ReplaceToken(const std::string& token) override {
    sent.push_back(absl::StrCat("token ", token));
    return true;
  }
  std::vector<std::string> sent;
};

struct Fixture {
  tests::FakeClock clock;
  std::shared_ptr<LeaderFence> fence = std::make_shared<LeaderFence>(clock);
  std::shared_ptr<NotingTransport> server = std::make_shared<NotingTransport>();
  std::shared_ptr<Transport> fenced = fence->Over(server);

  absl::Status Send(const std::string& method, const std::string& path) {
    return fenced->Send({.method = method, .path = path}, {}).status();
  }
};

TEST_CASE_METHOD(Fixture, "without an election everything is written") {
  clock.Advance(absl::Hours(1));
  CHECK(Send("PATCH", "/api/v1/namespaces/a/configmaps/b").ok());
}

TEST_CASE_METHOD(Fixture, "a write is sent as long as the lease is held, and not later") {
  fence->HoldsUntil(clock.SteadyNow() + absl::Seconds(10));
  clock.Advance(absl::Seconds(9));
  CHECK(Send("POST", "/api/v1/namespaces/a/configmaps").ok());
  clock.Advance(absl::Seconds(1));
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    const absl::Status refused = Send(method, "/api/v1/namespaces/a/configmaps/b");
    CHECK(absl::IsCancelled(refused));
    CHECK(WasNotProcessed(refused));
  }
  CHECK(server->sent.size() == 1);
  fence->HoldsUntil(clock.SteadyNow() + absl::Seconds(10));
  CHECK(Send("PUT", "/api/v1/namespaces/a/configmaps/b").ok());
  fence->Close();
  CHECK(absl::IsCancelled(Send("PUT", "/api/v1/namespaces/a/configmaps/b")));
}

TEST_CASE_METHOD(Fixture, "reads, watches, new tokens and events pass without a lease") {
  fence->Close();
  CHECK(Send("GET", "/api/v1/namespaces/a/configmaps/b").ok());
  CHECK(Send("POST", "/api/v1/namespaces/a/events?fieldManager=x").ok());
  CHECK(Send("PATCH", "/api/v1/namespaces/a/events/b.17").ok());
  fenced->Open({.path = "/api/v1/pods?watch=1"}, {});
  CHECK(fenced->ReplaceToken("new"));
  CHECK(server->sent.size() == 5);
  CHECK(absl::IsCancelled(Send("PATCH", "/api/v1/namespaces/a/configmaps/events")));
  CHECK(absl::IsCancelled(Send("POST", "/api/v1/namespaces/events/configmaps")));
}

}  // namespace
}  // namespace kube
