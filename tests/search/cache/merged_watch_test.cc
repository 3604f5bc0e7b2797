#include "search/cache/merged_watch.h"

#include <atomic>
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "base/json.h"
#include "base/random.h"
#include "tests/search/cache/members.h"

namespace search {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Show;
using Lines = std::vector<std::string>;
using Type = MergedEvent::Type;

struct Fixture : tests::SearchMembers {
  std::atomic<int> calls = 0;  // Of on_ready.

  std::shared_ptr<MergedWatch> Open(WatchRequest request) {
    request.gvr = kPods.gvr();
    auto watch = cache().Watch(std::move(request), [this] { ++calls; });
    REQUIRE(watch.ok());
    return *watch;
  }
  absl::Status Refusal(WatchRequest request) {
    request.gvr = kPods.gvr();
    return cache().Watch(std::move(request), nullptr).status();
  }
  // "+m1:x {m1:101}", with '=' for a change, '-' for a deletion, "end" and "bookmark".
  static Lines Take(MergedWatch& watch) {
    Lines lines;
    std::vector<MergedEvent> events;
    size_t taken;
    do {
      taken = events.size();
      // Small batches, so that what is left over counts.
      if (!watch.Take(2, events)) break;
    } while (events.size() > taken);
    for (const MergedEvent& event : events) {
      std::string what(event.initial_events_end ? "end" : "bookmark");
      if (event.object != nullptr) {
        const char sign = event.type == Type::kAdded     ? '+'
                          : event.type == Type::kDeleted ? '-'
                                                         : '=';
        what = absl::StrCat(std::string(1, sign), event.cluster, ":", event.object->name());
      }
      lines.push_back(absl::StrCat(what, " ", Show(event.version)));
    }
    return lines;
  }
  // The composite of a list.
  std::string Now() {
    ListRequest request;
    request.gvr = kPods.gvr();
    return cache().List(request)->version;
  }
  std::string V(int64_t m1, int64_t m2 = -1) {
    CompositeVersion version;
    if (m1 >= 0) version.Set("m1", m1);
    if (m2 >= 0) version.Set("m2", m2);
    return version.ToString();
  }
};

TEST_CASE_METHOD(Fixture, "a watch begins with what is there, and its end is one bookmark") {
  const int64_t b = Put("m1", "n", "b");
  const int64_t a = Put("m1", "n", "a");
  const int64_t c = Put("m2", "n", "c");
  REQUIRE(Cache({"m1", "m2"}));
  const auto watch = Open({.initial_events = true, .bookmarks = true});
  CHECK(calls == 1);
  CHECK(Take(*watch) == Lines{absl::StrCat("+m1:b {m1:", b, "}"),
                              absl::StrCat("+m1:a {m1:", a, "}"),
                              absl::StrCat("+m2:c {m1:", a, ",m2:", c, "}"),
                              absl::StrCat("end {m1:", a, ",m2:", c, "}")});
  CHECK(Take(*watch).empty());
  const int64_t d = Put("m2", "n", "d");
  CHECK(Eventually([&] { return calls == 2; }));
  CHECK(Take(*watch) == Lines{absl::StrCat("+m2:d {m1:", a, ",m2:", d, "}")});
}

TEST_CASE_METHOD(Fixture,
                 "a watch continues at a composite version, again where it names no cluster") {
  Put("m1", "n", "a");
  Put("m2", "n", "b");
  REQUIRE(Cache({"m1", "m2"}));
  const std::string then = Now();
  const int64_t changed = Put("m1", "n", "a");
  const int64_t m2 = Version("m2");
  CHECK(Take(*Open({.resource_version = then})) ==
        Lines{absl::StrCat("=m1:a {m1:", changed, ",m2:", m2, "}")});
  CHECK(Take(*Open({.resource_version = V(changed)})) ==
        Lines{absl::StrCat("+m2:b {m1:", changed, ",m2:", m2, "}")});
  CHECK(Take(*Open({})).size() == 2);
  CHECK(Take(*Open({.resource_version = "0"})).size() == 2);
  CHECK(Take(*Open({.resource_version = "12345"})).size() == 2);
  CHECK(absl::IsOutOfRange(Refusal({.resource_version = V(1, m2)})));
}

TEST_CASE_METHOD(Fixture, "selectors turn changes into additions and deletions") {
  Put("m1", "n", "a", "web");
  Put("m1", "n", "b", "db");
  REQUIRE(Cache({"m1"}));
  WatchRequest request{.resource_version = Now()};
  request.filter.labels = *kube::LabelSelector::Parse("app=web");
  const auto watch = Open(request);
  const int64_t first = Put("m1", "n", "a", "db");
  const int64_t second = Put("m1", "n", "b", "web");
  Put("m1", "n", "c", "db");
  const int64_t third = Put("m1", "n", "b", "web");
  Put("m1", "other", "d", "web");
  CHECK(Take(*watch).size() == 4);
  WatchRequest in_namespace = request;
  in_namespace.ns.push_back('n');
  CHECK(Take(*Open(in_namespace)) == Lines{absl::StrCat("-m1:a {m1:", first, "}"),
                                           absl::StrCat("+m1:b {m1:", second, "}"),
                                           absl::StrCat("=m1:b {m1:", third, "}")});
}

TEST_CASE_METHOD(Fixture, "bookmarks carry the versions of all clusters, once a minute") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1", "m2"}));
  const auto watch = Open({.resource_version = Now(), .bookmarks = true});
  const int64_t version = Put("m1", "n", "b");
  CHECK(Take(*watch).size() == 1);
  const int before = calls;
  clock.AdvanceAndAwait(absl::Seconds(30));
  CHECK(Take(*watch).empty());
  clock.AdvanceAndAwait(absl::Seconds(31));
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return calls > before;
  }));
  CHECK(Take(*watch) == Lines{absl::StrCat("bookmark {m1:", version, ",m2:", Version("m2"), "}")});
  CHECK(Take(*watch).empty());
}

TEST_CASE_METHOD(Fixture, "a watch ends in time, with a bookmark shortly before") {
  REQUIRE(Cache({"m1"}));
  const auto watch =
      Open({.resource_version = Now(), .bookmarks = true, .timeout = absl::Seconds(20)});
  clock.Advance(absl::Seconds(18));
  CHECK(Take(*watch).size() == 1);
  std::vector<MergedEvent> events;
  CHECK(watch->Take(9, events));
  clock.Advance(absl::Seconds(2));
  CHECK_FALSE(watch->Take(9, events));
  CHECK(events.empty());
  CHECK(watch->status().ok());
}

TEST_CASE_METHOD(Fixture,
                 "a cluster that leaves takes its objects along, one that joins adds them") {
  Put("m1", "n", "a");
  const int64_t b = Put("m2", "n", "b");
  REQUIRE(Cache({"m1", "m2"}));
  const std::string then = Now();
  const auto watch = Open({.resource_version = then, .bookmarks = true});
  const int64_t m1 = Version("m1");
  cache().SetScope(Scope({"m1"}));
  CHECK(Take(*watch) == Lines{absl::StrCat("-m2:b {m1:", m1, ",m2:", b, "}")});
  const int64_t c = Put("m1", "n", "c");
  CHECK(Take(*watch) == Lines{absl::StrCat("+m1:c {m1:", c, "}")});
  CHECK(absl::IsOutOfRange(Refusal({.resource_version = then})));

  REQUIRE(Cache({"m1", "m2"}));
  CHECK(Take(*watch) == Lines{absl::StrCat("+m2:b {m1:", c, ",m2:", b, "}")});
}

TEST_CASE_METHOD(Fixture,
                 "a cluster that leaves and joins at once takes along what is gone meanwhile") {
  Put("m1", "n", "a");
  const int64_t b = Put("m1", "n", "b");
  REQUIRE(Cache({"m1"}));
  const auto watch = Open({.resource_version = Now()});
  cache().SetScope(Scope({}));
  Server("m1").Erase(kPods, {"n", "a"});
  REQUIRE(Cache({"m1"}));
  CHECK(Take(*watch) == Lines{absl::StrCat("-m1:a {m1:", b, "}"),
                              absl::StrCat("-m1:b {m1:", b, "}"),
                              absl::StrCat("+m1:b {m1:", b, "}")});
}

TEST_CASE_METHOD(Fixture,
                 "a client that is ahead of this cache is told that the objects of a cluster go") {
  const int64_t a = Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  // Another replica had reached a later version.
  const auto watch = Open({.resource_version = V(a + 7)});
  CHECK(Take(*watch).empty());
  cache().SetScope(Scope({}));
  CHECK(Take(*watch) == Lines{absl::StrCat("-m1:a {m1:", a + 7, "}")});
}

TEST_CASE_METHOD(Fixture, "a cache that is replaced while a watch begins has a successor in it") {
  Put("m1", "n", "a");
  const int64_t b = Put("m1", "n", "b");
  REQUIRE(Cache({"m1"}));
  const auto old = cache().Find("m1", kPods.gvr());
  WatchRequest request{.resource_version = Now()};
  request.gvr = kPods.gvr();
  const auto watch = std::make_shared<MergedWatch>(request, clock, [this] { ++calls; });
  cache().SetScope(Scope({}));
  Server("m1").Erase(kPods, {"n", "a"});
  REQUIRE(Cache({"m1"}));
  // The scope's thread is faster than the one that begins the watch with the caches of before.
  REQUIRE(watch->Add("m1", cache().Find("m1", kPods.gvr()), true).ok());
  REQUIRE(watch->Add("m1", old, false).ok());
  watch->Begin();
  CHECK(Take(*watch) == Lines{absl::StrCat("-m1:a {m1:", b, "}"),
                              absl::StrCat("-m1:b {m1:", b, "}"),
                              absl::StrCat("+m1:b {m1:", b, "}")});
}

TEST_CASE_METHOD(Fixture, "a resource without clusters can be watched until one joins") {
  const int64_t a = Put("m1", "n", "a");
  const auto watch = Open({.initial_events = true, .bookmarks = true});
  CHECK(Take(*watch) == Lines{"end {}"});
  REQUIRE(Cache({"m1"}));
  CHECK(Take(*watch) == Lines{absl::StrCat("+m1:a {m1:", a, "}")});
}

TEST_CASE_METHOD(Fixture,
                 "a cluster that has not listed holds up neither events nor the bookmark") {
  const int64_t a = Put("m1", "n", "a");
  Put("m2", "n", "b");
  Server("m2").Block("GET");
  cache().SetScope(Scope({"m1", "m2"}));
  REQUIRE(Eventually([&] { return cache().Find("m1", kPods.gvr())->HasSynced(); }));
  const auto watch = Open({.initial_events = true, .bookmarks = true});
  CHECK(Take(*watch) ==
        Lines{absl::StrCat("+m1:a {m1:", a, "}"), absl::StrCat("end {m1:", a, "}")});
  Server("m2").Unblock();
  REQUIRE(Cache({"m1", "m2"}));
  CHECK(Take(*watch).size() == 1);
}

TEST_CASE_METHOD(Fixture, "a watch goes on while a cluster is cut off, and has what it missed") {
  Put("m1", "n", "a");
  Put("m2", "n", "b");
  REQUIRE(Cache({"m1", "m2"}));
  const auto watch = Open({.resource_version = Now()});
  Server("m2").FailNext("WATCH", 503, "ServiceUnavailable", 1000);
  Server("m2").EndWatches(absl::UnavailableError("reset"));
  Put("m1", "n", "c");
  CHECK(Take(*watch).size() == 1);
  const int64_t missed = kube::ResourceVersionOf(Server("m2").Put(kPods, tests::PodIn("n", "d")));
  Server("m2").EndFailures();
  CHECK(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(31));
    return Version("m2") >= missed;
  }));
  CHECK(Take(*watch).size() == 1);
}

TEST_CASE_METHOD(Fixture,
                 "a client that is cut off before a deletion that a list revealed is given it") {
  for (const char* name : {"a", "y", "z"}) Put("m1", "n", name);
  REQUIRE(Cache({"m1"}));
  const std::string then = Now();
  const int64_t start = Version("m1");
  Server("m1").Compact();
  Server("m1").Block("GET");  // The list that follows shows all of the changes.
  Server("m1").EndWatches(absl::OutOfRangeError("gone"));
  for (const char* name : {"y", "z"}) Server("m1").Erase(kPods, {"n", name});
  const int64_t changed = kube::ResourceVersionOf(Server("m1").Put(kPods, tests::PodIn("n", "a")));
  Server("m1").Unblock();
  REQUIRE(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(31));
    return Version("m1") >= changed;
  }));
  const Lines all = {absl::StrCat("-m1:y {m1:", start, "}"), absl::StrCat("-m1:z {m1:", start, "}"),
                     absl::StrCat("=m1:a {m1:", changed, "}")};
  CHECK(Take(*Open({.resource_version = then})) == all);
  for (size_t cut = 1; cut <= all.size(); ++cut) {
    const auto watch = Open({.resource_version = then});
    std::vector<MergedEvent> seen;
    while (seen.size() < cut) REQUIRE(watch->Take(1, seen));
    const auto rest = Open({.resource_version = seen.back().version});
    CHECK(Take(*rest) == (cut == all.size() ? Lines() : all));
  }
  // A version within the step, which another process has given: the composite does not go back.
  CHECK(Take(*Open({.resource_version = V(start + 1)})) ==
        Lines{absl::StrCat("-m1:y {m1:", start + 1, "}"),
              absl::StrCat("-m1:z {m1:", start + 1, "}"),
              absl::StrCat("=m1:a {m1:", changed, "}")});
}

TEST_CASE_METHOD(Fixture, "a watch of a cluster that went back ends, so that clients list again") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  auto backup = Server("m1").Backup();
  Put("m1", "n", "b");
  const auto watch = Open({.resource_version = Now()});
  Server("m1").Restore(std::move(backup));
  CHECK(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(31));
    return cache().Find("m1", kPods.gvr())->size() == 1;
  }));
  std::vector<MergedEvent> events;
  CHECK_FALSE(watch->Take(9, events));
  CHECK(absl::IsOutOfRange(watch->status()));
}

TEST_CASE_METHOD(Fixture, "a reader that is too slow is dropped, and costs nothing until then") {
  Make(4 << 10);
  REQUIRE(Cache({"m1"}));
  const auto watch = Open({.resource_version = Now()});
  for (int i = 0; i < 50; ++i) Put("m1", "n", "a");
  CHECK(cache().Find("m1", kPods.gvr())->history_bytes() <= 4 << 10);
  CHECK(calls <= 2);
  std::vector<MergedEvent> events;
  CHECK_FALSE(watch->Take(9, events));
  CHECK(absl::IsOutOfRange(watch->status()));
}

TEST_CASE_METHOD(Fixture, "a watch of one cluster hears of no other") {
  REQUIRE(Cache({"m1"}));
  const auto watch = Open({.cluster = "m1"});
  Put("m2", "n", "b");
  REQUIRE(Cache({"m1", "m2"}));
  Put("m1", "n", "a");
  CHECK(Take(*watch).size() == 1);
}

TEST_CASE_METHOD(Fixture, "objects of events have their cluster and the composite version") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  const auto watch = Open({.initial_events = true, .bookmarks = true});
  std::vector<MergedEvent> events;
  CHECK(watch->Take(9, events));
  REQUIRE(events.size() == 2);
  std::string text;
  AppendObject(events[0], text);
  const auto added = json::Parse(text);
  REQUIRE(added.ok());
  const kube::Object object(*added);
  CHECK(events[0].type == MergedEvent::Type::kAdded);
  CHECK(object.resource_version() == events[0].version);
  CHECK(object.Annotation("resource.karmada.io/cached-from-cluster") == "m1");
  CHECK(object.spec()["nodeName"].AsString() == "n1");
  CHECK(events[1].initial_events_end);
}

// Grants so many references at a time.
struct Room {
  std::atomic<size_t> left = 0;
  std::atomic<int> refused = 0;

  std::function<std::shared_ptr<const void>(size_t)> Hold() {
    return [this](size_t objects) -> std::shared_ptr<const void> {
      if (objects > left) {
        ++refused;
        return nullptr;
      }
      left -= objects;
      return {this, [objects](Room* room) { room->left += objects; }};
    };
  }
};

TEST_CASE_METHOD(Fixture, "a watch has a share for each cluster that begins with objects") {
  Room room;
  const int64_t a = Put("m1", "n", "a");
  Put("m2", "n", "b");
  Put("m2", "n", "c");
  REQUIRE(Cache({"m1", "m2"}));
  room.left = 1;
  // The version names the other cluster, and needs no share for it.
  CHECK(absl::IsResourceExhausted(Refusal({.resource_version = V(a), .hold = room.Hold()})));
  CHECK(room.left == 1);
  room.left = 2;
  const auto watch = Open({.resource_version = V(a), .hold = room.Hold()});
  CHECK(room.left == 0);
  CHECK(Take(*watch).size() == 2);
  CHECK(room.left == 2);
}

TEST_CASE_METHOD(Fixture,
                 "a cluster that joins a watch begins when there is room for its objects") {
  Room room;
  const int64_t a = Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  const auto watch = Open({.resource_version = V(a), .hold = room.Hold()});
  Server("m2").Put(kPods, tests::PodIn("n", "b"));
  REQUIRE(Cache({"m1", "m2"}));
  CHECK(Eventually([&] { return Take(*watch).empty() && room.refused > 0; }));
  // The other cluster goes on meanwhile.
  Put("m1", "n", "c");
  CHECK(Take(*watch).size() == 1);
  room.left = 1;
  const int before = calls;
  REQUIRE(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(1));
    return calls > before;
  }));
  const Lines news = Take(*watch);
  REQUIRE(news.size() == 1);
  CHECK(absl::StrContains(news[0], "+m2:b"));
  CHECK(room.left == 1);
}

TEST_CASE_METHOD(Fixture, "a batch ends behind a large object") {
  REQUIRE(Cache({"m1"}));
  const auto watch = Open({.resource_version = "0"});
  std::vector<MergedEvent> events;
  for (const char* name : {"a", "b", "c"}) {
    kube::Object pod = tests::PodIn("n", name);
    std::string text;
    while (text.size() < 40'000) text += base::NewUuid();
    pod.Set({"spec", "text"}, text);
    Reach("m1", kube::ResourceVersionOf(Server("m1").Put(kPods, pod)));
  }
  for (size_t taken = 1; taken <= 3; ++taken) {
    CHECK(watch->Take(8, events));
    CHECK(events.size() == taken);
  }
}

}  // namespace
}  // namespace search
