// A server whose list of a kind never ends.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/cache/informer.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

// Answers each page of a list with 50,000 objects that have no name, and with one more token.
class EndlessServer : public Transport {
 public:
  EndlessServer() {
    std::string items = "{}";
    for (int i = 1; i < 50'000; ++i) items += ",{}";
    page_ = absl::StrCat(R"({"metadata": {"resourceVersion": "1", "continue": "more"}, "items": [)",
                         items, "]}");
  }
  absl::StatusOr<HttpResponse> Send(const HttpRequest&, const base::StopToken&) override {
    ++pages;
    return HttpResponse{200, {}, page_};
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest&, StreamCallbacks) override {
    return std::make_unique<HttpStream>();
  }
  std::atomic<int> pages = 0;

 private:
  std::string page_;
};

TEST_CASE("a list that does not end is given up, with an error that names cluster and kind") {
  const auto server = std::make_shared<EndlessServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "member1"}, clock, nullptr};
  InformerSet informers{client, clock};
  const std::shared_ptr<Informer> informer = informers.Get(tests::kPods);
  REQUIRE(tests::Eventually([&] { return !informer->last_error().ok() || server->pages > 25; }));
  CHECK(
      informer->last_error().message() ==
      "listing v1/pods of member1: the list has not ended after 1000000 objects; it was given up");
  CHECK_FALSE(informer->HasSynced());
  CHECK(server->pages == 21);
  informers.Stop();
}

}  // namespace
}  // namespace kube
