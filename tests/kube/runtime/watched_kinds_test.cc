#include "kube/runtime/watched_kinds.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "tests/support/eventually.h"
#include "tests/support/manager_fixture.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Pod;

const Resource kRobots{{"x.io", "v1", "Robot"}, "robots", true};
const Gvk kBroken{"y.io", "v1", "Widget"};  // A kind of a group that cannot be read.

// Records the events of all its kinds as "+a", "~a", "-a".
struct Subscriber : KindSubscriber {
  absl::Mutex mu;
  std::string seen ABSL_GUARDED_BY(mu);
  std::atomic<bool> may_watch = true;

  void Note(const char* what, const Object& object) {
    absl::MutexLock lock(&mu);
    absl::StrAppend(&seen, what, object.name(), " ");
  }
  std::string Seen() {
    absl::MutexLock lock(&mu);
    return seen;
  }
  EventHandler HandlerFor(const Resource&) override {
    return {.on_add = [this](const ObjectPtr& o, bool) { Note("+", *o); },
            .on_update = [this](const ObjectPtr&, const ObjectPtr& o) { Note("~", *o); },
            .on_delete = [this](const ObjectPtr& o) { Note("-", *o); }};
  }
  void OnUnwatched(const Gvk& gvk) override {
    absl::MutexLock lock(&mu);
    absl::StrAppend(&seen, "end of ", gvk.kind, " ");
  }
  bool MayWatch(const Gvk&) override { return may_watch; }
};

struct Fixture : tests::ManagerFixture {
  WatchedKinds kinds{cluster, clock};
  Subscriber one, two;
  WatchedKinds::Subscription by_one = kinds.Subscribe(one), by_two = kinds.Subscribe(two);

  Fixture() : Fixture([] {}) {}
  explicit Fixture(const std::function<void()>& before_start) {
    server->Serve({kPods});
    server->Put(kPods, Pod("a"));
    before_start();
    Make().Add(kinds.NewRunnable());
    Start();
  }
  ~Fixture() override {
    base::IgnoreError(Finish(), "ends the thread before what it uses goes");
    manager.reset();
  }
  bool IsWatched(const Resource& r) const { return informers.Find(r) != nullptr; }
  // Advances the clock until the condition holds.
  bool Later(const std::function<bool()>& holds) {
    return Eventually([&] {
      clock.Advance(absl::Seconds(1));
      return holds();
    });
  }
};

struct BuiltAroundPods : Fixture {
  BuiltAroundPods() : Fixture([this] { informers.Get(kPods); }) {}
};

struct WarmPods : Fixture {
  WarmPods()
      : Fixture([this] {
          by_one.Need(kPods.gvk, "policy");
          REQUIRE(kinds.WarmUp({}).ok());
          REQUIRE(IsWatched(kPods));
          REQUIRE(one.Seen().empty());
        }) {}
};

TEST_CASE_METHOD(WarmPods,
                 "a kind that was read before the loops began is theirs when they begin") {
  REQUIRE(Eventually([&] { return one.Seen() == "+a "; }));
  CHECK(server->watches() == 1);
  by_one.Release(kPods.gvk, "policy");
  CHECK(Later([&] { return !IsWatched(kPods); }));
}

TEST_CASE_METHOD(Fixture, "a needed kind is watched once, for everybody who needs it") {
  by_one.Need(kPods.gvk, "policy");
  REQUIRE(Eventually([&] { return one.Seen() == "+a "; }));
  CHECK(two.Seen().empty());
  by_two.Need(kPods.gvk, "dependency");
  REQUIRE(Eventually([&] { return two.Seen() == "+a "; }));
  server->Put(kPods, Pod("b"));
  REQUIRE(Eventually([&] { return one.Seen() == "+a +b " && two.Seen() == "+a +b "; }));
  CHECK(server->watches() == 1);
  CHECK(kinds.ReasonsFor(kPods.gvk) == std::vector<std::string>{"dependency", "policy"});
}

TEST_CASE_METHOD(Fixture, "a kind is watched until its last reason has been gone for a while") {
  by_one.Need(kPods.gvk, "policy");
  by_one.Need(kPods.gvk, "policy");
  by_two.Need(kPods.gvk, "dependency");
  REQUIRE(Eventually([&] { return one.Seen() == "+a " && two.Seen() == "+a "; }));
  by_one.Release(kPods.gvk, "policy");
  by_two.Release(kPods.gvk, "dependency");
  CHECK(kinds.ReasonsFor(kPods.gvk) == std::vector<std::string>{"policy"});
  std::string before;
  REQUIRE(Later([&] {  // The second subscriber no longer gets what the first one gets.
    const std::string earlier = std::exchange(before, absl::StrCat(before, "p"));
    server->Put(kPods, Pod(before.c_str()));
    REQUIRE(Eventually([&] { return absl::StrContains(one.Seen(), "+" + before + " "); }));
    return !earlier.empty() && !absl::StrContains(two.Seen(), "+" + earlier + " ");
  }));
  by_one.Release(kPods.gvk, "policy");
  REQUIRE(Later([&] { return !IsWatched(kPods); }));
  CHECK(kinds.ReasonsFor(kPods.gvk).empty());

  by_one.Need(kPods.gvk, "another policy");
  CHECK(Later([&] { return IsWatched(kPods); }));
}

TEST_CASE_METHOD(Fixture, "an informer that a look-up started goes with its kind") {
  REQUIRE(server->AwaitRequests("GET", 1));  // The loops have started.
  informers.Get(kPods);                      // Before the kind is needed.
  by_one.Need(kPods.gvk, "policy");
  REQUIRE(Eventually([&] { return one.Seen() == "+a "; }));
  by_one.Release(kPods.gvk, "policy");
  CHECK(Later([&] { return !IsWatched(kPods); }));
}

TEST_CASE_METHOD(BuiltAroundPods, "an informer that somebody else uses stays") {
  by_one.Need(kPods.gvk, "policy");
  REQUIRE(Eventually([&] { return one.Seen() == "+a "; }));
  by_one = {};
  clock.Advance(absl::Minutes(2));
  server->Serve({kRobots});
  by_two.Need(kRobots.gvk, "sign that a pass has been made");
  REQUIRE(Later([&] { return IsWatched(kRobots); }));
  CHECK(IsWatched(kPods));
  CHECK(one.Seen() == "+a ");
}

TEST_CASE_METHOD(Fixture,
                 "a kind is watched when it begins to be served, and again when it returns") {
  server->Put(kRobots, Object::Make(kRobots.gvk, {"ns", "r"}));
  by_one.Need(kRobots.gvk, "policy");
  server->Serve({kPods, kRobots});
  REQUIRE(Later([&] { return one.Seen() == "+r "; }));
  server->Serve({kPods});
  REQUIRE(Later([&] { return !IsWatched(kRobots); }));
  server->Serve({kPods, kRobots});
  REQUIRE(Later([&] { return one.Seen() == "+r end of Robot +r "; }));
}

TEST_CASE_METHOD(Fixture, "a kind ends although another group cannot be read") {
  server->Put(kRobots, Object::Make(kRobots.gvk, {"ns", "r"}));
  by_one.Need(kRobots.gvk, "policy");
  server->Serve({kPods, kRobots}, {kBroken});
  REQUIRE(Later([&] { return one.Seen() == "+r "; }));
  server->Serve({kPods}, {kBroken});
  CHECK(Later([&] { return !IsWatched(kRobots); }));
}

TEST_CASE_METHOD(Fixture, "a kind stays while its own group cannot be read") {
  by_one.Need(kRobots.gvk, "policy");
  by_two.Need(kPods.gvk, "policy");
  server->Serve({kPods, kRobots});
  REQUIRE(Later([&] { return IsWatched(kRobots) && IsWatched(kPods); }));
  server->Serve({}, {kRobots.gvk});
  REQUIRE(Later([&] { return !IsWatched(kPods); }));
  CHECK(IsWatched(kRobots));
}

TEST_CASE_METHOD(Fixture, "a subscriber that needs a kind no more is informed of its end") {
  by_one.Need(kPods.gvk, "policy");
  by_two.Need(kPods.gvk, "dependency");
  REQUIRE(Eventually([&] { return one.Seen() == "+a " && two.Seen() == "+a "; }));
  by_one.Release(kPods.gvk, "policy");
  CHECK(Later([&] { return one.Seen() == "+a end of Pod "; }));
  CHECK(two.Seen() == "+a ");
}

TEST_CASE_METHOD(Fixture, "a subscriber can let a kind wait") {
  one.may_watch = false;
  by_one.Need(kPods.gvk, "policy");
  clock.Advance(absl::Seconds(10));
  CHECK_FALSE(IsWatched(kPods));
  one.may_watch = true;
  CHECK(Later([&] { return one.Seen() == "+a "; }));
}

TEST_CASE_METHOD(Fixture, "objects need the kinds that they name") {
  const auto kinds_of = [](const Object& object) {
    std::set<Gvk> kinds;
    for (const json::Value& kind : object.spec()["kinds"].items()) {
      kinds.insert({"x.io", "v1", kind.ToString()});
    }
    return kinds;
  };
  const auto naming = [](std::initializer_list<json::Value> kinds) {
    Object pod = Pod("p");
    pod.Set({"spec", "kinds"}, json::Value::Array(kinds));
    return Share(pod);
  };
  const auto needed = [&](const char* kind) {
    return !kinds.ReasonsFor({"x.io", "v1", kind}).empty();
  };
  const EventHandler handler = NeedKindsOf(by_one, "named by a pod", kinds_of);
  handler.on_add(naming({"A", "B"}), true);
  handler.on_update(naming({"A", "B"}), naming({"B", "C"}));
  CHECK_FALSE(needed("A"));
  CHECK(needed("B"));
  CHECK(needed("C"));
  handler.on_delete(naming({"B", "C"}));
  CHECK_FALSE(needed("B"));
  CHECK_FALSE(needed("C"));
}

TEST_CASE_METHOD(Fixture, "a kind that is needed and whose group cannot be read is named") {
  server->Serve({kPods}, {kRobots.gvk});
  by_one.Need(kRobots.gvk, "policy");
  by_one.Need(kPods.gvk, "policy");
  REQUIRE(Later([&] { return kinds.Unread().contains(kRobots.gvk.ToString()); }));
  CHECK(kinds.Unread().size() == 1);
  server->Serve({kPods});  // It is not served.
  CHECK(Later([&] { return kinds.Unread().empty(); }));
  server->FailNext("GET", 500, "InternalError", 1000);
  CHECK(Later([&] { return !kinds.Unread().empty(); }));
  server->EndFailures();
  CHECK(Later([&] { return kinds.Unread().empty(); }));
}

}  // namespace
}  // namespace kube
