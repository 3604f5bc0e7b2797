// What readers of a watch cache are given, and what becomes of it when its source changes.
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "kube/cache/encoded_object.h"
#include "tests/kube/cache/watch_cache_fixture.h"

namespace kube {
namespace {

TEST_CASE_METHOD(WatchCacheFixture, "a watch cache lists in the order of etcd's keys, in pages") {
  for (const char* ns : {"a", "a-b", "b"}) {
    for (const char* name : {"x", "y"}) Put(ns, name);
  }
  Start();
  CHECK(Listed({}) == "a-b/x a-b/y a/x a/y b/x b/y");
  CHECK(Listed({.ns = "a"}) == "a/x a/y");
  CHECK(Listed({.ns = "c"}).empty());
  const auto page = cache->Read({.from = {"a-b", std::string("x\0", 2)}, .limit = 2});
  REQUIRE(page.ok());
  CHECK(Names(*page->objects) == "a-b/y a/x");
  CHECK(page->remaining == 3);
  CHECK(cache->Read({.ns = "a", .limit = 1})->remaining == 1);
  CHECK(cache->Read({.ns = "a", .limit = 2})->remaining == 0);
}

TEST_CASE_METHOD(WatchCacheFixture,
                 "readers of everything at one version share what they were given") {
  Put("a", "x");
  Start();
  const auto first = cache->Read({});
  CHECK(first->objects == cache->Read({})->objects);
  Put("a", "y");
  CHECK(first->objects->size() == 1);
  CHECK(cache->Read({})->objects->size() == 2);
}

TEST_CASE_METHOD(WatchCacheFixture,
                 "an older version can be read as long as the history goes back to it") {
  Put("a", "x");
  Start();
  const int64_t then = Put("a", "y");
  Put("a", "x");
  server->Erase(kPods, {"a", "y"});
  const int64_t now = Put("b", "z");
  CHECK(Listed({}) == "a/x b/z");
  CHECK(Listed({.version = then}) == "a/x a/y");
  CHECK(ResourceVersionOf(*cache->Read({.version = then})->objects->at(0)) == then - 1);
  CHECK(Listed({.ns = "b", .version = then}).empty());
  CHECK(cache->Read({.limit = 1, .version = then})->remaining == 1);
  CHECK(absl::IsOutOfRange(cache->Read({.version = now + 1}).status()));
  CHECK(absl::IsOutOfRange(cache->Read({.version = then - 2}).status()));
}

TEST_CASE_METHOD(WatchCacheFixture, "what a narrowing leaves is counted") {
  Put("a", "x");
  Put("b", "y");
  Start();
  cache->KeepOnly({"a"});
  const auto count = cache->CountAt("", cache->progress().version);
  REQUIRE(count.ok());
  CHECK(count->objects == 1);
}

TEST_CASE_METHOD(WatchCacheFixture, "pages of an older version are those of its whole list") {
  for (const char* ns : {"a", "a-b", "b"}) {
    for (const char* name : {"m", "p", "t"}) Put(ns, name);
  }
  Start();
  const int64_t then = cache->progress().version;
  const std::string whole = Listed({});
  for (const char* ns : {"a", "a-b", "b", "c"}) {
    for (const char* name : {"a", "n", "z"}) Put(ns, name);
    server->Erase(kPods, {ns, "m"});
    server->Erase(kPods, {ns, "t"});
    Put(ns, "p");
  }
  CHECK(Listed({.version = then}) == whole);
  CHECK(Listed({.ns = "a", .version = then}) == "a/m a/p a/t");
  for (const char* ns : {"", "a", "b", "c", "d"}) {
    CAPTURE(ns);
    CHECK(cache->CountAt(ns, then)->objects ==
          cache->Read({.ns = ns, .version = then})->objects->size());
    CHECK(cache->CountAt(ns, -1)->objects == cache->Read({.ns = ns})->objects->size());
  }
  CHECK(cache->CountAt("", then)->version == then);
  CHECK(cache->CountAt("", cache->progress().version)->objects == cache->Read({})->objects->size());
  CHECK(cache->CountAt("", -1)->version == cache->progress().version);
  CHECK(absl::IsOutOfRange(cache->CountAt("", then - 100).status()));
  CHECK(absl::IsOutOfRange(cache->CountAt("", then + 1000).status()));
  std::vector<std::string> paged;
  WatchCache::Range range{.limit = 2, .version = then};
  size_t remaining = 0;
  do {
    const auto page = cache->Read(range);
    REQUIRE(page.ok());
    paged.push_back(Names(*page->objects));
    range.from = page->objects->back()->key();
    range.from.name += '\0';
    remaining = page->remaining;
    CHECK(remaining == 9 - std::min<size_t>(9, 2 * paged.size()));
  } while (remaining > 0);
  CHECK(absl::StrJoin(paged, " ") == whole);
}

TEST_CASE_METHOD(WatchCacheFixture, "another informer replaces the contents by the difference") {
  Put("a", "x");
  Put("b", "y");
  Start();
  const int64_t start = cache->progress().version;
  cache->Attach(Informing({"b", "c"}));
  CHECK(Eventually([&] { return Listed({}) == "b/y"; }));
  cache->Attach(Informing({"a"}));
  CHECK(Eventually([&] { return Listed({}) == "a/x"; }));
  CHECK(server->Requests("GET").back() == "GET /api/v1/namespaces/a/pods?limit=200");
  auto position = cache->PositionAfter(start);
  REQUIRE(position.ok());
  std::vector<WatchCache::Event> events;
  int64_t complete = -1;
  // No version has passed meanwhile, and still somebody who has seen this one misses nothing.
  REQUIRE(cache->ReadEvents(*position, 9, events, complete).ok());
  CHECK(Show(events) == "-x +x -y");
}

TEST_CASE_METHOD(WatchCacheFixture, "another informer's objects take the place of equal ones") {
  Put("a", "x");
  Put("a", "y");
  Start();
  const int64_t start = cache->progress().version;
  const std::weak_ptr<const Object> former = cache->Find({"a", "x"});
  const std::shared_ptr<Informer> second = Informing();
  cache->Attach(second);
  // An object is there once: the cache shares it with the store of its informer.
  CHECK(Eventually([&] {
    const std::shared_ptr<const std::vector<ObjectPtr>> all = cache->Read({})->objects;
    size_t shared = 0;
    for (const ObjectPtr& object : *all) {
      if (second->store().Find(object->key()) == object) ++shared;
    }
    return shared == 2;
  }));
  CHECK(Eventually([&] { return former.expired(); }));
  // Watchers see nothing of it.
  auto position = cache->PositionAfter(start);
  REQUIRE(position.ok());
  std::vector<WatchCache::Event> events;
  int64_t complete = -1;
  REQUIRE(cache->ReadEvents(*position, 9, events, complete).ok());
  CHECK(events.empty());
}

TEST_CASE_METHOD(WatchCacheFixture, "nobody can continue when the server went back") {
  Put("a", "x");
  Start();
  auto backup = server->Backup();
  Put("a", "y");
  const int64_t then = Put("a", "z");
  auto position = cache->PositionAfter(then);
  REQUIRE(position.ok());
  server->Restore(std::move(backup));
  CHECK(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(31));
    return Listed({}) == "a/x";
  }));
  std::vector<WatchCache::Event> events;
  int64_t complete = -1;
  CHECK(absl::IsOutOfRange(cache->ReadEvents(*position, 9, events, complete)));
  // Not at a version of the other history, either, which the server has not reached again.
  REQUIRE(cache->progress().version < then);
  CHECK(absl::IsOutOfRange(cache->PositionAfter(then).status()));
  // One that nobody here has ever seen may come from a process that is ahead.
  CHECK(cache->PositionAfter(then + 1).ok());
}

// Whoever continued would be told of an object that has its former version, and from there of
// everything that the server does not know any more.
TEST_CASE_METHOD(WatchCacheFixture,
                 "nobody can continue when a backup was restored and versions go on") {
  Put("a", "x");
  Start();
  auto backup = server->Backup();
  SECTION("and an object is what it was") { Put("a", "x"); }
  SECTION("and an object that was deleted is there again") {
    server->Erase(kPods, {"a", "x"});
    Put("a", "y");
  }
  SECTION("and the name had another object") {
    server->Erase(kPods, {"a", "x"});
    Put("a", "x");
  }
  const int64_t then = cache->progress().version;
  auto position = cache->PositionAfter(then);
  REQUIRE(position.ok());
  ChangeUnwatched([&] {
    server->Restore(std::move(backup));
    while (ResourceVersionOf(server->Put(kPods, PodIn("a", "busy"))) <= then) {
    }
  });
  CHECK(Listed({}) == "a/busy a/x");
  std::vector<WatchCache::Event> events;
  int64_t complete = -1;
  CHECK(absl::IsOutOfRange(cache->ReadEvents(*position, 9, events, complete)));
  CHECK(absl::IsOutOfRange(cache->PositionAfter(then).status()));
}

TEST_CASE_METHOD(WatchCacheFixture,
                 "a list without a version that is a number is refused, and nothing goes") {
  Put("a", "x");
  Start();
  server->FailNext("GET", 200, "NoList");
  server->EndWatches(absl::OutOfRangeError("gone"));
  CHECK(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(31));
    return server->Requests("GET").size() >= 3;
  }));
  CHECK(Listed({}) == "a/x");
}

TEST_CASE_METHOD(WatchCacheFixture, "closing reports every object as deleted") {
  Put("a", "x");
  Start();
  auto position = cache->PositionAfter(cache->progress().version);
  cache->Close();
  std::vector<WatchCache::Event> events;
  int64_t complete = -1;
  REQUIRE(cache->ReadEvents(*position, 9, events, complete).ok());
  CHECK(Show(events) == "-x");
  CHECK(cache->closed());
  CHECK(cache->size() == 0);
}

}  // namespace
}  // namespace kube
