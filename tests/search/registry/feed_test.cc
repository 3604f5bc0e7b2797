// The registries in memory, and what subscribers get of their changes.
#include "search/registry/feed.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/search/registry/feed_fixture.h"

namespace search {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("a subscriber gets the present registries, a bookmark, and every later change in order") {
  RunningFeed running;
  running.etcd.Put(Key("a"), Text("a"));
  running.Start();
  Subscription all(running.feed, {});
  CHECK(all.Await({"+a", "."}));
  running.etcd.Put(Key("b"), Text("b"));
  running.etcd.Put(Key("a"), Text("a", "Node"));
  running.etcd.Erase(Key("b"));
  CHECK(all.Await({"+a", ".", "+b", "~a", "-b"}));
  const FeedEvent last = all.At(4);
  CHECK(last.previous->name() == "b");
  CHECK(last.object->resource_version() == absl::StrCat(last.revision));
  CHECK(running.feed.Current()->objects.size() == 1);
}

TEST_CASE("a watch that resumes gets what it missed, once; one from too long ago is refused") {
  RunningFeed running({.history = 2});
  running.Start();
  Subscription first(running.feed, {});
  REQUIRE(first.Await({"."}));
  for (const char* name : {"a", "b", "c"}) running.etcd.Put(Key(name), Text(name));
  REQUIRE(first.Await({".", "+a", "+b", "+c"}));
  const int64_t a = first.At(1).revision;
  Subscription resumed(running.feed, {.initial = false, .since = a});
  CHECK(resumed.Await({"+b", "+c"}));
  const auto old =
      running.feed.Subscribe({.initial = false, .since = a - 1}, [](const FeedEvent&) {});
  CHECK(absl::IsOutOfRange(old.status()));
  CHECK(old.status().message() == absl::StrCat("too old resource version: ", a - 1, " (", a, ")"));
  // A version that has not been reached yet is waited for.
  Subscription ahead(running.feed, {.initial = false, .since = a + 3});
  running.etcd.Put(Key("d"), Text("d"));
  running.etcd.Put(Key("e"), Text("e"));
  CHECK(ahead.Await({"+e"}));
}

TEST_CASE("of long registries fewer changes are kept for watches that resume") {
  RunningFeed running;
  running.Start();
  Subscription first(running.feed, {});
  REQUIRE(first.Await({"."}));
  running.etcd.Put(Key("short"), Text("short"));
  constexpr int kLong = 20;
  for (int i = 0; i < kLong; ++i) {
    const std::string text = absl::StrCat(i, std::string(1 << 20, 'x'));
    running.etcd.Put(Key("long"), Text("long", text));
  }
  REQUIRE(tests::Eventually([&] {
    const auto now = running.feed.Current();
    return now.ok() && now->objects.size() == 2 && now->revision >= kLong;
  }));
  const auto resumes = [&](int64_t since) {
    return running.feed.Subscribe({.initial = false, .since = since}, [](const FeedEvent&) {});
  };
  const int64_t last = running.feed.Current()->revision;
  CHECK(resumes(last - 5).ok());
  CHECK(absl::IsOutOfRange(resumes(last - kLong).status()));
}

TEST_CASE("after a break the differences are delivered, without doubles") {
  RunningFeed running({.retry_pause = absl::Milliseconds(1)});
  running.etcd.Put(Key("a"), Text("a"));
  running.etcd.Put(Key("b"), Text("b"));
  running.Start();
  Subscription seen(running.feed, {});
  REQUIRE(seen.Await({"+a", "+b", "."}));
  running.etcd.SetDown(true);
  REQUIRE(tests::Eventually([&] { return !running.feed.last_error().ok(); }));
  CHECK(running.feed.Current()->objects.size() == 2);
  running.etcd.Erase(Key("a"));
  running.etcd.Put(Key("b"), Text("b", "Node"));
  running.etcd.Put(Key("c"), Text("c"));
  running.etcd.Compact();
  running.etcd.SetDown(false);
  REQUIRE(tests::Eventually([&] { return running.feed.last_error().ok(); }));
  CHECK(seen.AwaitChanges({"+a", "+b", "~b", "+c", "-a"}));
}

TEST_CASE("a storage that went back to a backup is followed from there") {
  RunningFeed running({.retry_pause = absl::Milliseconds(1)});
  for (const char* name : {"a", "b", "c"}) running.etcd.Put(Key(name), Text(name));
  running.Start();
  Subscription seen(running.feed, {});
  REQUIRE(seen.Await({"+a", "+b", "+c", "."}));
  Subscription late(running.feed, {.initial = false, .since = running.etcd.revision()});
  running.etcd.SetDown(true);
  REQUIRE(tests::Eventually([&] { return !running.feed.last_error().ok(); }));
  running.etcd.Reset();
  running.etcd.Put(Key("b"), Text("b"));
  running.etcd.SetDown(false);
  CHECK(seen.AwaitChanges({"+a", "+b", "+c", "~b", "-a", "-c"}));
  CHECK(late.AwaitChanges({"~b", "-a", "-c"}));
  const auto before =
      running.feed.Subscribe({.initial = false, .since = 1}, [](const FeedEvent&) {});
  CHECK(absl::IsOutOfRange(before.status()));
}

TEST_CASE("a watch that stays open and silent is found out, and what it kept back is delivered") {
  tests::FakeClock clock;
  RunningFeed running({}, clock);
  running.Start();
  Subscription seen(running.feed, {});
  REQUIRE(seen.Await({"."}));
  REQUIRE(tests::Eventually([&] { return running.etcd.watches() == 1; }));
  running.etcd.SetSilent(true);
  running.etcd.Put(Key("a"), Text("a"));
  clock.AwaitWaiters(1);
  clock.Advance(absl::Minutes(1));
  CHECK(seen.AwaitChanges({"+a"}));
}

TEST_CASE("a list that arrives after a newer event changes nothing") {
  tests::FakeClock clock;
  std::atomic<int> lists = 0;
  RunningFeed running({}, clock);
  running.store->on_listed = [&] {
    if (++lists != 2) return;
    running.etcd.Put(Key("a"), Text("a"));
    tests::Eventually([&] { return running.feed.Current()->objects.size() == 1; });
  };
  running.Start();
  Subscription seen(running.feed, {});
  REQUIRE(seen.Await({"."}));
  REQUIRE(tests::Eventually([&] { return running.etcd.watches() == 1; }));
  clock.AwaitWaiters(1);
  clock.Advance(absl::Minutes(1));
  CHECK(seen.AwaitChanges({"+a"}));
  REQUIRE(tests::Eventually([&] { return lists == 2; }));
  clock.AwaitWaiters(1);
  running.etcd.Put(Key("b"), Text("b"));
  CHECK(seen.AwaitChanges({"+a", "+b"}));
}

TEST_CASE("each period without changes brings a bookmark with the storage's revision") {
  tests::FakeClock clock;
  RunningFeed running({}, clock);
  running.Start();
  Subscription seen(running.feed, {});
  REQUIRE(seen.Await({"."}));
  running.etcd.Put("/registry/pods/default/x", "{}");
  clock.AwaitWaiters(1);
  clock.Advance(absl::Minutes(1));
  REQUIRE(seen.Await({".", "."}));
  CHECK(seen.At(1).revision == running.etcd.revision());
}

TEST_CASE("before the first list nothing can be read, and the error says why") {
  RunningFeed running({.retry_pause = absl::Milliseconds(1)});
  CHECK(absl::IsUnavailable(running.feed.Current().status()));
  running.etcd.FailWith(14);
  running.Start();
  REQUIRE(tests::Eventually(
      [&] { return absl::StrContains(running.feed.Current().status().message(), "no leader"); }));
  CHECK_FALSE(running.feed.HasSynced());
  CHECK(absl::IsUnavailable(running.feed.Subscribe({}, [](const FeedEvent&) {}).status()));
  running.etcd.FailWith(0);
  CHECK(tests::Eventually([&] { return running.feed.HasSynced(); }));
}

TEST_CASE("an unsubscribed sink gets nothing more, also when it unsubscribes itself") {
  RunningFeed running;
  running.Start();
  std::atomic<int> calls = 0;
  std::atomic<int64_t> id = 0;
  auto subscribed = running.feed.Subscribe({.initial = false, .since = 1}, [&](const FeedEvent& e) {
    if (e.type == FeedEvent::Type::kBookmark) return;
    ++calls;
    running.feed.Unsubscribe(id);
  });
  REQUIRE(subscribed.ok());
  id = *subscribed;
  Subscription other(running.feed, {});
  REQUIRE(other.Await({"."}));
  running.etcd.Put(Key("a"), Text("a"));
  running.etcd.Put(Key("b"), Text("b"));
  REQUIRE(other.Await({".", "+a", "+b"}));
  CHECK(calls == 1);
}

}  // namespace
}  // namespace search
