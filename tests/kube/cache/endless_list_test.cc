// A server whose list of a kind never ends.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/byte_budget.h"
#include "kube/cache/informer.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

// Answers each page of a list with the same object and the same token.
class EndlessServer : public Transport {
 public:
  absl::StatusOr<HttpResponse> Send(const HttpRequest&, const base::StopToken&) override {
    ++pages;
    return HttpResponse{200, {}, R"({"metadata": {"resourceVersion": "1", "continue": "more"},
                                     "items": [{"metadata": {"name": "a", "namespace": "ns"}}]})"};
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest&, StreamCallbacks) override {
    return std::make_unique<HttpStream>();
  }
  std::atomic<int> pages = 0;
};

TEST_CASE("a list that does not end is given up, with an error that names cluster and kind") {
  const auto server = std::make_shared<EndlessServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "member1"}, clock, nullptr};
  InformerSet informers{client, clock};
  const std::shared_ptr<Informer> informer = informers.Get(tests::kPods);
  REQUIRE(tests::Eventually([&] { return !informer->last_error().ok() || server->pages > 25; }));
  CHECK(informer->last_error().message() ==
        "listing v1/pods of member1: the list repeats itself: its continue token has come before; "
        "it was given up");
  CHECK_FALSE(informer->HasSynced());
  CHECK(server->pages == 2);
  informers.Stop();
}

// Answers with page after page of pods that nobody has asked for.
class UnwantedServer : public Transport {
 public:
  absl::StatusOr<HttpResponse> Send(const HttpRequest&, const base::StopToken&) override {
    const int page = ++pages;
    std::string items;
    for (int i = 0; i < 5000; ++i) {
      absl::StrAppend(&items, i == 0 ? "" : ",",
                      R"({"metadata": {"namespace": "other", "name": "p)", page, "-", i, R"("}})");
    }
    return HttpResponse{200,
                        {},
                        absl::StrCat(R"({"metadata": {"resourceVersion": "1", "continue": ")", page,
                                     R"("}, "items": [)", items, "]}")};
  }
  std::unique_ptr<HttpStream> Open(const HttpRequest&, StreamCallbacks) override {
    return std::make_unique<HttpStream>();
  }
  std::atomic<int> pages = 0;
};

TEST_CASE("what a list remembers of objects that are not stored counts for the server's budget") {
  const auto server = std::make_shared<UnwantedServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "member1"}, clock, nullptr};
  InformerSet informers{client, clock};
  const auto budget = std::make_shared<base::ByteBudget>(1 << 20);
  informers.SetBudget(budget, [] {});
  InformerOptions options;
  options.namespaces = {"a", "b"};
  informers.SetDefaultOptions(tests::kPods, options);
  const std::shared_ptr<Informer> informer = informers.Get(tests::kPods);
  REQUIRE(tests::Eventually([&] { return !informer->last_error().ok() || server->pages > 40; }));
  CHECK(absl::StrContains(informer->last_error().message(), "the names of the objects alone take"));
  CHECK(tests::Eventually([&] { return budget->used() == 0; }));
  informers.Stop();
}

}  // namespace
}  // namespace kube
