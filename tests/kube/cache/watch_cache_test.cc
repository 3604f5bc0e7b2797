#include "kube/cache/watch_cache.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/cache/encoded_object.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kPods;

Object PodIn(const std::string& ns, const std::string& name) {
  Object pod = Object::Make(kPods.gvk, {ns, name});
  pod.Set({"spec", "nodeName"}, "n1");
  return pod;
}

std::string Names(const std::vector<ObjectPtr>& objects) {
  return absl::StrJoin(objects, " ", [](std::string* out, const ObjectPtr& o) {
    absl::StrAppend(out, o->ns(), "/", o->name());
  });
}

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "fake"}, clock, nullptr};
  InformerSet informers{client, clock};
  std::vector<std::string> seen;  // Written by on_event.
  WatchCache::Options options;
  std::unique_ptr<WatchCache> cache;

  ~Fixture() {
    if (cache != nullptr) cache->Detach();
  }

  std::shared_ptr<Informer> Informing(std::vector<std::string> namespaces = {}) {
    InformerOptions informer_options;
    informer_options.keep_text = true;
    informer_options.namespaces = std::move(namespaces);
    informers.Remove(kPods);
    informers.SetDefaultOptions(kPods, informer_options);
    return informers.Get(kPods);
  }
  void Start() {
    cache = std::make_unique<WatchCache>(clock, options);
    cache->Attach(Informing());
    REQUIRE(cache->AwaitSynced(base::SteadyTime::InfiniteFuture()));
    REQUIRE(server->AwaitWatches(1));
  }
  int64_t Put(const std::string& ns, const std::string& name) {
    const int64_t version = ResourceVersionOf(server->Put(kPods, PodIn(ns, name)));
    if (cache != nullptr) CHECK(Eventually([&] { return cache->progress().version >= version; }));
    return version;
  }
  // The watch breaks, and a list shows all at once what `changes` does on the server meanwhile.
  void ChangeUnwatched(const std::function<void()>& changes) {
    const int64_t before = cache->progress().version;
    server->Compact();
    server->Block("GET");
    server->EndWatches(absl::OutOfRangeError("gone"));
    changes();
    server->Unblock();
    CHECK(Eventually([&] {
      clock.AdvanceAndAwait(absl::Seconds(31));
      return cache->progress().version > before;
    }));
  }
  // Everything that has happened after this version, which the history has to have.
  std::vector<WatchCache::Event> EventsAfter(int64_t version) {
    std::vector<WatchCache::Event> events;
    int64_t complete = -1;
    auto position = cache->PositionAfter(version);
    REQUIRE(position.ok());
    REQUIRE(cache->ReadEvents(*position, 1000, events, complete).ok());
    return events;
  }
  std::string Listed(const WatchCache::Range& range) {
    const auto read = cache->Read(range);
    return read.ok() ? Names(*read->objects) : std::string(read.status().message());
  }
};

std::string Show(const std::vector<WatchCache::Event>& events) {
  return absl::StrJoin(events, " ", [](std::string* out, const WatchCache::Event& e) {
    const Object& state = e.after != nullptr ? *e.after : *e.before;
    absl::StrAppend(out, e.before == nullptr ? "+" : e.after == nullptr ? "-" : "=", state.name());
  });
}

// What a client knows: the versions of objects by name.
using Known = std::map<std::string, int64_t>;

void Learn(const WatchCache::Event& event, Known& known) {
  if (event.after == nullptr) {
    known.erase(std::string(event.before->name()));
  } else {
    known[std::string(event.after->name())] = ResourceVersionOf(*event.after);
  }
}

std::string Show(const Known& known) { return absl::StrJoin(known, " ", absl::PairFormatter("@")); }

// Returns what a client knows in the end that continues after this version.
std::string Continued(const WatchCache& cache, Known known, int64_t version) {
  auto position = cache.PositionAfter(version);
  if (!position.ok()) return std::string(position.status().message());
  std::vector<WatchCache::Event> events;
  int64_t complete = -1;
  const absl::Status read = cache.ReadEvents(*position, 1000, events, complete);
  if (!read.ok()) return std::string(read.message());
  for (const WatchCache::Event& event : events) {
    if (!event.IsSeenAt(version)) Learn(event, known);
  }
  return Show(known);
}

TEST_CASE_METHOD(Fixture, "a watch cache lists in the order of etcd's keys, in pages") {
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

TEST_CASE_METHOD(Fixture, "readers of everything at one version share what they were given") {
  Put("a", "x");
  Start();
  const auto first = cache->Read({});
  CHECK(first->objects == cache->Read({})->objects);
  Put("a", "y");
  CHECK(first->objects->size() == 1);
  CHECK(cache->Read({})->objects->size() == 2);
}

TEST_CASE_METHOD(Fixture, "an older version can be read as long as the history goes back to it") {
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

TEST_CASE_METHOD(Fixture, "pages of an older version are those of its whole list") {
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

TEST_CASE_METHOD(Fixture, "a watcher continues after any version of the history") {
  Put("a", "x");
  Start();
  const int64_t start = cache->progress().version;
  const int64_t second = Put("a", "y");
  Put("a", "x");
  server->Erase(kPods, {"a", "y"});
  const int64_t end = Put("a", "w");
  auto position = cache->PositionAfter(start);
  REQUIRE(position.ok());
  std::vector<WatchCache::Event> events;
  int64_t complete = -1;
  REQUIRE(cache->ReadEvents(*position, 2, events, complete).ok());
  CHECK(Show(events) == "+y =x");
  CHECK(complete == -1);
  REQUIRE(cache->ReadEvents(*position, 9, events, complete).ok());
  CHECK(Show(events) == "+y =x -y +w");
  CHECK(complete == end);
  events.clear();
  REQUIRE(cache->ReadEvents(*(position = cache->PositionAfter(second)), 9, events, complete).ok());
  CHECK(Show(events) == "=x -y +w");
  CHECK(absl::IsOutOfRange(cache->PositionAfter(start - 1).status()));
}

TEST_CASE_METHOD(Fixture,
                 "the history is bounded by bytes, and a reader that is too slow is refused") {
  options.history_bytes = 10 << 10;
  Put("a", "x");
  Start();
  const int64_t start = cache->progress().version;
  auto position = cache->PositionAfter(start);
  for (int i = 0; i < 20; ++i) Put("a", "x");
  CHECK(cache->history_bytes() <= options.history_bytes);
  CHECK(absl::IsOutOfRange(cache->PositionAfter(start).status()));
  std::vector<WatchCache::Event> events;
  int64_t complete = -1;
  CHECK(absl::IsOutOfRange(cache->ReadEvents(*position, 9, events, complete)));
}

TEST_CASE_METHOD(Fixture, "old events go when there are more than a hundred") {
  Start();
  const int64_t start = cache->progress().version;
  for (int i = 0; i < 100; ++i) Put("a", absl::StrCat(i));
  clock.Advance(absl::Seconds(76));
  CHECK(cache->PositionAfter(start).ok());
  Put("a", "100");
  CHECK(absl::IsOutOfRange(cache->PositionAfter(start).status()));
  CHECK(cache->PositionAfter(start + 1).ok());
}

TEST_CASE_METHOD(Fixture, "bookmarks move the version of a resource that does not change") {
  Put("a", "x");
  Start();
  server->Put({{"", "v1", "Secret"}, "secrets", true},
              Object::Make({"", "v1", "Secret"}, {"a", "s"}));
  const int64_t before = cache->progress().version;
  server->SendBookmarks();
  CHECK(cache->AwaitVersion(before + 1, base::SteadyTime::InfiniteFuture()));
}

TEST_CASE_METHOD(Fixture, "CatchUp moves the version without a bookmark") {
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

TEST_CASE_METHOD(
    Fixture, "what a list reveals after a break becomes visible at once, and can be continued") {
  Put("a", "x");
  Put("a", "y");
  Start();
  const int64_t start = cache->progress().version;
  int64_t version = -1;
  ChangeUnwatched([&] {
    server->Erase(kPods, {"a", "y"});
    version = ResourceVersionOf(server->Put(kPods, PodIn("a", "z")));
    server->Put(kPods, PodIn("a", "x"));
  });
  CHECK(Listed({}) == "a/x a/z");
  const std::vector<WatchCache::Event> events = EventsAfter(start);
  // Nobody knows when the deletion was; so it comes before whatever raises the version.
  CHECK(Show(events) == "-y +z =x");
  CHECK(events[0].resume_version == start);
  CHECK(events[0].version == cache->progress().version);
  CHECK(events[1].version == version);
  CHECK(events[2].resume_version == cache->progress().version);
}

// A server whose states are recorded, for clients that have followed it elsewhere.
struct RecordedFixture : Fixture {
  std::map<int64_t, Known> states;

  void Put(const std::string& name) {
    Known next = Last();
    const int64_t version = ResourceVersionOf(server->Put(kPods, PodIn("a", name)));
    next[name] = version;
    states[version] = std::move(next);
  }
  void Erase(const std::string& name) {
    Known next = Last();
    server->Erase(kPods, {"a", name});
    next.erase(name);
    states[states.rbegin()->first + 1] = std::move(next);
  }
  Known Last() const { return states.empty() ? Known() : states.rbegin()->second; }
};

TEST_CASE_METHOD(
    RecordedFixture,
    "whoever is cut off before a deletion that a list has revealed is given it later") {
  for (const char* name : {"x", "y", "z"}) Put(name);
  Start();
  const int64_t start = cache->progress().version;
  SECTION("the newest object is at the version of the list") {
    ChangeUnwatched([&] {
      for (const char* name : {"y", "z"}) Erase(name);
      Put("x");
    });
  }
  SECTION("the deletions are the last changes") {
    ChangeUnwatched([&] {
      for (const char* name : {"x", "w"}) Put(name);
      for (const char* name : {"y", "z"}) Erase(name);
    });
  }
  SECTION("another object has taken the name") {
    ChangeUnwatched([&] {
      Erase("y");
      Put("x");
      Put("y");
      Erase("z");
    });
  }
  SECTION("nothing but deletions has happened") {
    ChangeUnwatched([&] {
      for (const char* name : {"x", "y", "z"}) Erase(name);
    });
  }
  const std::string present = Show(Last());
  Known known = states[start];
  CHECK(Continued(*cache, known, start) == present);
  for (const WatchCache::Event& event : EventsAfter(start)) {
    Learn(event, known);
    CHECK(Continued(*cache, known, event.resume_version) == present);
    if (event.after == nullptr) continue;
    CHECK(Continued(*cache, known, ResourceVersionOf(*event.after)) == present);
  }
  // Who has seen all of them is not given any again.
  CHECK(EventsAfter(cache->progress().version).empty());
  for (const auto& [version, state] : states) {
    if (version >= start) CHECK(Continued(*cache, state, version) == present);
  }
}

TEST_CASE_METHOD(Fixture,
                 "a version at which revealed deletions have left the history is too old") {
  options.history_bytes = 10 << 10;
  for (int i = 0; i < 20; ++i) Put("a", absl::StrCat(i));
  Put("b", "x");
  Start();
  const int64_t start = cache->progress().version;
  SECTION("because a list has revealed them") {
    ChangeUnwatched([&] {
      for (int i = 0; i < 20; ++i) server->Erase(kPods, {"a", absl::StrCat(i)});
    });
    for (int64_t version = start; version < cache->progress().version; ++version) {
      CHECK(absl::IsOutOfRange(cache->PositionAfter(version).status()));
    }
    CHECK(cache->PositionAfter(cache->progress().version).ok());
  }
  SECTION("because another informer has, at the same version") {
    cache->Attach(Informing({"b"}));
    CHECK(Eventually([&] { return Listed({}) == "b/x"; }));
    CHECK(cache->progress().version == start);
    CHECK(absl::IsOutOfRange(cache->PositionAfter(start).status()));
    // The next version tells what came before from what came after.
    const int64_t next = Put("b", "x");
    CHECK(cache->PositionAfter(next).ok());
  }
}

TEST_CASE_METHOD(Fixture,
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

struct AskingFixture : Fixture {
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
  server->Block("GET");
  absl::Mutex mu;
  std::vector<int64_t> objects;
  const auto ask = [&](const char* name) {
    cache->AskState({"a", name}, [&](const absl::StatusOr<Informer::ServerState>& state) {
      absl::MutexLock lock(&mu);
      objects.push_back(state.ok() ? state->object : -2);
    });
  };
  const size_t before = server->Requests("GET").size();
  ask("x");
  REQUIRE(server->AwaitRequests("GET", static_cast<int>(before) + 1));
  ask("x");
  ask("y");
  server->Unblock();
  REQUIRE(Eventually([&] {
    absl::MutexLock lock(&mu);
    return objects.size() == 3;
  }));
  absl::MutexLock lock(&mu);
  // The answers come in any order.
  CHECK(std::count(objects.begin(), objects.end(), -1) == 2);
  CHECK(server->Requests("GET").size() == before + 2);
}

TEST_CASE_METHOD(Fixture, "another informer replaces the contents by the difference") {
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

TEST_CASE_METHOD(Fixture, "another informer's objects take the place of equal ones") {
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

TEST_CASE_METHOD(Fixture, "nobody can continue when the server went back") {
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

TEST_CASE_METHOD(Fixture,
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

TEST_CASE_METHOD(Fixture, "closing reports every object as deleted") {
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
