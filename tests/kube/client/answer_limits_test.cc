// What a server may send at most, in one answer and in one list.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/client/client.h"
#include "kube/client/list_budget.h"
#include "tests/kube/client/scripted_transport.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

using tests::Answer;
using tests::ScriptedTransport;

const Resource kPods = {{"", "v1", "Pod"}, "pods", true};

struct Fixture {
  explicit Fixture(ScriptedTransport::Handler handler)
      : transport(std::make_shared<ScriptedTransport>(std::move(handler))) {}
  size_t LastLimit() const { return transport->requests().back().max_answer_bytes; }

  std::shared_ptr<ScriptedTransport> transport;
  tests::FakeClock clock;
  Client client{transport, {.name = "member1"}, clock, nullptr};
};

// Returns a page of a list with so many empty objects.
std::string Page(size_t objects, const std::string& next) {
  std::string items = objects == 0 ? "" : "{}";
  for (size_t i = 1; i < objects; ++i) items += ",{}";
  return absl::StrCat(R"({"metadata": {"resourceVersion": "1", "continue": ")", next,
                      R"("}, "items": [)", items, "]}");
}

std::string Zeros(size_t count) {
  std::string text = "[0";
  for (size_t i = 1; i < count; ++i) text += ",0";
  return text + "]";
}

}  // namespace

TEST_CASE("each request says how long its answer may be") {
  Fixture f([](const HttpRequest&, int) { return Answer(200); });
  constexpr size_t kMost = 16 << 20;
  REQUIRE(f.client.Get(kPods, {"a", "b"}, {}).ok());
  CHECK(f.LastLimit() == kMost);
  REQUIRE(f.client.List(kPods, "", {}, {}).ok());
  CHECK(f.LastLimit() == kMost);
  REQUIRE(f.client.GetRaw("/apis", {}).ok());
  CHECK(f.LastLimit() == kMost);
  REQUIRE(f.client.GetRaw("/readyz", absl::Seconds(5), {}).ok());
  CHECK(f.LastLimit() == 64 << 10);
  REQUIRE(f.client.GetRaw(HttpRequest{.path = "/version", .max_answer_bytes = 1234}, {}).ok());
  CHECK(f.LastLimit() == 1234);
}

TEST_CASE("a page of too many values is requested again with fewer objects") {
  const std::string object = absl::StrCat(R"({"data": )", Zeros(750'000), "}");
  Fixture f([&](const HttpRequest& request, int) {
    if (absl::StrContains(request.path, "limit=1&")) {
      return Answer(200, absl::StrCat(R"({"items": [)", object, "]}"));
    }
    if (absl::StrContains(request.path, "limit=1")) {
      return Answer(200,
                    absl::StrCat(R"({"metadata": {"continue": "c"}, "items": [)", object, "]}"));
    }
    return Answer(200, absl::StrCat(R"({"items": [)", object, ",", object, "]}"));
  });
  const auto list = f.client.ListAll(kPods, "", {.limit = 2}, {});
  INFO(list.status());
  REQUIRE(list.ok());
  CHECK(list->items.size() == 2);
  // One object of too many values is an error.
  Fixture other([](const HttpRequest&, int) { return Answer(200, Zeros(1'000'000)); });
  CHECK(absl::IsResourceExhausted(other.client.Get(kPods, {"a", "b"}, {}).status()));
}

TEST_CASE("a list that does not end is given up") {
  std::function<std::string(int attempt)> page;
  Fixture f([&](const HttpRequest&, int attempt) { return Answer(200, page(attempt)); });
  SECTION("because its token repeats itself") {
    page = [](int) { return Page(500, "more"); };
    const absl::Status endless = f.client.ListAll(kPods, "", {}, {}).status();
    CHECK(absl::IsFailedPrecondition(endless));
    CHECK(endless.message() ==
          "list pods of member1: the list repeats itself: its continue token has come before; it "
          "was given up");
    CHECK(f.transport->requests().size() == 2);
  }
  SECTION("because it brings nothing new") {
    page = [](int attempt) { return Page(1, absl::StrCat("more", attempt)); };
    const absl::Status endless = f.client.ListAll(kPods, "", {}, {}).status();
    CHECK(absl::StrContains(endless.message(), "has had 1000 pages without a new object"));
  }
}

ListPage PageOf(int first, int count, const std::string& token) {
  ListPage page{.continue_token = token};
  for (int i = first; i < first + count; ++i) {
    page.items.push_back(Object::Make(kPods.gvk, {"ns", absl::StrCat("p", i)}));
  }
  return page;
}

TEST_CASE("a list may have any number of objects") {
  tests::FakeClock clock;
  ListBudget budget(clock);
  constexpr int kMost = 1'200'000, kInPage = 10'000;
  for (int i = 0; i < kMost; i += kInPage) {
    REQUIRE(budget.Spend(PageOf(i, kInPage, absl::StrCat("after", i))).ok());
  }
}

TEST_CASE("a list may take as long as servers keep its version, and not for ever") {
  tests::FakeClock clock;
  ListBudget budget(clock);
  clock.Advance(absl::Minutes(30));
  CHECK(budget.Spend(PageOf(0, 1, "a")).ok());
  clock.Advance(absl::Seconds(1));
  CHECK(budget.Spend(PageOf(1, 1, "b")).message() ==
        "the list has not ended after 30m; it was given up");
}

}  // namespace kube
