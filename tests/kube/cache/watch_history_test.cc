// Watchers that continue: what a watch cache remembers of the changes, and what it refuses.
#include <catch2/catch.hpp>
#include <map>

#include "tests/kube/cache/watch_cache_fixture.h"

namespace kube {
namespace {

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

TEST_CASE_METHOD(WatchCacheFixture, "a watcher continues after any version of the history") {
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

TEST_CASE_METHOD(WatchCacheFixture,
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

TEST_CASE_METHOD(WatchCacheFixture, "old events go when there are more than a hundred") {
  Start();
  const int64_t start = cache->progress().version;
  for (int i = 0; i < 100; ++i) Put("a", absl::StrCat(i));
  clock.Advance(absl::Seconds(76));
  CHECK(cache->PositionAfter(start).ok());
  Put("a", "100");
  CHECK(absl::IsOutOfRange(cache->PositionAfter(start).status()));
  CHECK(cache->PositionAfter(start + 1).ok());
}

TEST_CASE_METHOD(
    WatchCacheFixture,
    "what a list reveals after a break becomes visible at once, and can be continued") {
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
struct RecordedFixture : WatchCacheFixture {
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

TEST_CASE_METHOD(WatchCacheFixture,
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

}  // namespace
}  // namespace kube
