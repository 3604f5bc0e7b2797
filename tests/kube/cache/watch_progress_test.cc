// How far a watch cache is complete, and how it is brought up to date.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

#include "absl/strings/match.h"
#include "tests/kube/cache/watch_cache_fixture.h"

namespace kube {
namespace {

TEST_CASE_METHOD(WatchCacheFixture,
                 "bookmarks move the version of a resource that does not change") {
  Put("a", "x");
  Start();
  server->Put({{"", "v1", "Secret"}, "secrets", true},
              Object::Make({"", "v1", "Secret"}, {"a", "s"}));
  const int64_t before = cache->progress().version;
  server->SendBookmarks();
  CHECK(cache->AwaitVersion(before + 1, base::SteadyTime::InfiniteFuture()));
}

TEST_CASE_METHOD(WatchCacheFixture, "CatchUp moves the version without a bookmark") {
  Put("a", "x");
  Start();
  server->Put({{"", "v1", "Secret"}, "secrets", true},
              Object::Make({"", "v1", "Secret"}, {"a", "s"}));
  const int64_t before = cache->progress().version;
  cache->CatchUp();
  CHECK(cache->AwaitVersion(before + 1, base::SteadyTime::InfiniteFuture()));
  Put("a", "y");
  CHECK(server->watches() == 1);
  CHECK(Listed({}) == "a/x a/y");
}

TEST_CASE_METHOD(WatchCacheFixture,
                 "with many objects CatchUp watches for three seconds instead of listing") {
  for (int i = 0; i < 501; ++i) server->Put(kPods, PodIn("a", absl::StrCat(i)));
  Start();
  const size_t calls = server->Calls();
  cache->CatchUp();
  REQUIRE(server->AwaitRequests("WATCH", 2));
  REQUIRE(server->AwaitWatches(1));
  CHECK(absl::StrContains(server->Requests("WATCH").back(), "timeoutSeconds=3&"));
  cache->CatchUp();  // The bookmark of the short watch is still to come.
  CHECK(server->Calls() == calls);
  const kube::Resource secrets{{"", "v1", "Secret"}, "secrets", true};
  server->Put(secrets, Object::Make(secrets.gvk, {"a", "s"}));
  const int64_t before = cache->progress().version;
  server->SendBookmarks();
  CHECK(cache->AwaitVersion(before + 1, base::SteadyTime::InfiniteFuture()));
  // The only bookmark of the short watch has come, so who asks now needs another one.
  cache->CatchUp();
  REQUIRE(server->AwaitRequests("WATCH", 3));
  CHECK(absl::StrContains(server->Requests("WATCH").back(), "timeoutSeconds=3&"));
  REQUIRE(server->AwaitWatches(1));
  server->EndWatches(absl::OkStatus());
  REQUIRE(server->AwaitRequests("WATCH", 4));
  CHECK_FALSE(absl::StrContains(server->Requests("WATCH").back(), "timeoutSeconds=3&"));
  Put("a", "new");
  CHECK(cache->size() == 502);
}

TEST_CASE_METHOD(WatchCacheFixture, "where no bookmark comes CatchUp lists many objects, too") {
  for (int i = 0; i < 501; ++i) server->Put(kPods, PodIn("a", absl::StrCat(i)));
  Start();
  cache->CatchUp();
  REQUIRE(server->AwaitRequests("WATCH", 2));
  REQUIRE(server->AwaitWatches(1));
  server->EndWatches(absl::OkStatus());
  // A watch that was to be short has not failed: the next one begins at once.
  REQUIRE(server->AwaitRequests("WATCH", 3));
  REQUIRE(server->AwaitWatches(1));
  const kube::Resource secrets{{"", "v1", "Secret"}, "secrets", true};
  server->Put(secrets, Object::Make(secrets.gvk, {"a", "s"}));
  const int64_t before = cache->progress().version;
  cache->CatchUp();
  CHECK(cache->AwaitVersion(before + 1, base::SteadyTime::InfiniteFuture()));
  CHECK(server->Requests("WATCH").size() == 3);
  // From the next bookmark on it is as before.
  server->SendBookmarks();
  REQUIRE(Eventually([&] {
    cache->CatchUp();
    return server->Requests("WATCH").size() > 3;
  }));
  CHECK(absl::StrContains(server->Requests("WATCH").back(), "timeoutSeconds=3&"));
}

struct AskingFixture : WatchCacheFixture {
  // Returns "version object", relative to the version of the server before.
  std::string Ask(const ObjectKey& about) {
    absl::Mutex mu;
    std::optional<Informer::ServerState> state;
    cache->AskState(about, [&](const absl::StatusOr<Informer::ServerState>& answer) {
      absl::MutexLock lock(&mu);
      state = answer.value_or(Informer::ServerState{-2, -2});
    });
    REQUIRE(Eventually([&] {
      absl::MutexLock lock(&mu);
      return state.has_value();
    }));
    absl::MutexLock lock(&mu);
    return absl::StrCat(state->version, " ", state->object);
  }
  std::string LastRead() const { return server->Requests("GET").back(); }

  const std::string nothing =
      "GET "
      "/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dkarmada-reads-the-version";
};

TEST_CASE_METHOD(AskingFixture, "AskState reads the server's version by the name of no object") {
  const int64_t version = Put("a", "x");
  Start();
  CHECK(Ask({}) == absl::StrCat(version, " -1"));
  CHECK(LastRead() == nothing);
}

TEST_CASE_METHOD(AskingFixture, "AskState reads the version of one object by its name") {
  const int64_t x = Put("a", "x");
  const int64_t y = Put("a", "y");
  Start();
  CHECK(Ask({"a", "x"}) == absl::StrCat(y, " ", x));
  CHECK(LastRead() == "GET /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx");
  CHECK(Ask({"a", "z"}) == absl::StrCat(y, " 0"));
  // A name that a selector would not read as one.
  CHECK(Ask({"a", "x,y=z"}) == absl::StrCat(y, " -1"));
  CHECK(LastRead() == nothing);
  // Nothing is known of what the informer does not have.
  cache->Attach(Informing({"b"}));
  REQUIRE(Eventually([&] { return cache->size() == 0; }));
  CHECK(Ask({"a", "x"}) == absl::StrCat(y, " 0"));
}

TEST_CASE_METHOD(AskingFixture, "questions about different objects share a request about none") {
  Put("a", "x");
  Put("a", "y");
  Start();
  Ask({});  // A server that has not answered anything yet is asked once only.
  server->Block("GET");
  absl::Mutex mu;
  std::vector<int64_t> objects;
  const auto ask = [&](const char* name) {
    cache->AskState({"a", name}, [&](const absl::StatusOr<Informer::ServerState>& state) {
      absl::MutexLock lock(&mu);
      objects.push_back(state.ok() ? state->object : -2);
    });
  };
  const int before = static_cast<int>(server->Requests("GET").size());
  // One server is asked twice at once; what comes then has to wait.
  ask("x");
  REQUIRE(server->AwaitRequests("GET", before + 1));
  ask("x");
  REQUIRE(server->AwaitRequests("GET", before + 2));
  ask("x");
  ask("y");
  server->Unblock();
  REQUIRE(Eventually([&] {
    absl::MutexLock lock(&mu);
    return objects.size() == 4;
  }));
  absl::MutexLock lock(&mu);
  // The answers come in any order.
  CHECK(std::count(objects.begin(), objects.end(), -1) == 2);
  CHECK(server->Requests("GET").size() == static_cast<size_t>(before) + 3);
}

}  // namespace
}  // namespace kube
