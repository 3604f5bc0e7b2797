#include "kube/cache/informer.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "kube/cache/internal/backoff.h"
#include "kube/cache/internal/own_versions.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/passing_time.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::Eventually;
using tests::kPods;
using tests::Pod;
using Lines = std::vector<std::string>;

// Records the calls of a handler: "add a@101 initial", "update a@101->102", "delete a@102".
class Diary {
 public:
  EventHandler Handler() {
    EventHandler handler;
    handler.on_add = [this](const ObjectPtr& o, bool initial) {
      Write("add " + Name(*o) + (initial ? " initial" : ""));
    };
    handler.on_update = [this](const ObjectPtr& before, const ObjectPtr& after) {
      Write("update " + Name(*before) + "->" + std::string(after->resource_version()));
    };
    handler.on_delete = [this](const ObjectPtr& last) { Write("delete " + Name(*last)); };
    return handler;
  }
  Lines lines() const {
    absl::MutexLock lock(&mu_);
    return lines_;
  }
  bool AwaitLines(size_t n) const {
    return Eventually([&] { return lines().size() >= n; });
  }

 private:
  static std::string Name(const Object& o) {
    return std::string(o.name()) + "@" + std::string(o.resource_version());
  }
  void Write(std::string line) {
    absl::MutexLock lock(&mu_);
    lines_.push_back(std::move(line));
  }

  mutable absl::Mutex mu_;
  Lines lines_ ABSL_GUARDED_BY(mu_);
};

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "fake"}, clock, nullptr};
  InformerSet informers{client, clock};
  Diary diary;
  base::StopSource stop;

  std::shared_ptr<Informer> Synced(const Resource& r = kPods) {
    std::shared_ptr<Informer> informer = informers.Get(r);
    REQUIRE(informer->WaitForSync(base::SteadyTime::InfiniteFuture(), stop.get_token()).ok());
    REQUIRE(server->AwaitWatches(1));
    return informer;
  }
  // Advances the clock, so that retries become due, until `done`.
  bool PassTimeUntil(const std::function<bool()>& done) {
    return tests::PassTimeUntil(clock, absl::Seconds(31), done);
  }
};

TEST_CASE_METHOD(Fixture, "an informer first reports the existing objects and then their changes") {
  server->Put(kPods, Pod("a"));
  informers.Get(kPods)->AddHandler(diary.Handler());
  Synced();
  CHECK(diary.lines() == Lines{"add a@101 initial"});

  server->Put(kPods, Pod("b"));
  server->Put(kPods, Pod("a"));
  server->Erase(kPods, {"ns", "a"});
  REQUIRE(diary.AwaitLines(4));
  CHECK(diary.lines() ==
        Lines{"add a@101 initial", "add b@102", "update a@101->103", "delete a@104"});
  CHECK(informers.Get(kPods)->store().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a list comes in pages") {
  for (int i = 0; i < 1100; ++i) server->Put(kPods, Pod(absl::StrCat("p", i)));
  CHECK(Synced()->store().size() == 1100);
  CHECK(server->Requests("GET").size() == 3);
}

TEST_CASE_METHOD(Fixture,
                 "a handler added late is notified of everything before AddHandler returns") {
  server->Put(kPods, Pod("a"));
  Synced()->AddHandler(diary.Handler());
  CHECK(diary.lines() == Lines{"add a@101 initial"});
}

TEST_CASE_METHOD(Fixture, "a removed handler is notified of nothing more") {
  const auto informer = Synced();
  const int64_t id = informer->AddHandler(diary.Handler());
  Diary other;
  informer->AddHandler(other.Handler());
  informer->RemoveHandler(id);
  server->Put(kPods, Pod("a"));
  REQUIRE(other.AwaitLines(1));
  CHECK(diary.lines().empty());
}

TEST_CASE_METHOD(Fixture, "handlers may use the informer they belong to") {
  const auto informer = Synced();
  EventHandler handler;
  handler.on_add = [&](const ObjectPtr& o, bool) {
    if (o->name() != "a") return;
    CHECK(informer->store().Find(o->key()) == o);
    informer->Written(Pod("b", 1000, "b"));
    informer->AddHandler(diary.Handler());
  };
  informer->AddHandler(handler);
  informer->Written(Pod("a", 999, "a"));
  REQUIRE(diary.AwaitLines(2));
  CHECK(informer->store().size() == 2);
}

TEST_CASE_METHOD(Fixture, "what a removed handler owned may remove handlers itself") {
  const auto informer = Synced();
  struct Registration {
    Registration(std::shared_ptr<Informer> of, EventHandler handler)
        : informer(std::move(of)), id(informer->AddHandler(std::move(handler))) {}
    ~Registration() { informer->RemoveHandler(id); }
    const std::shared_ptr<Informer> informer;
    const int64_t id;
  };
  const auto owning = [&] {
    EventHandler handler;
    const auto owned = std::make_shared<Registration>(informer, diary.Handler());
    handler.on_add = [owned](const ObjectPtr&, bool) {};
    return informer->AddHandler(std::move(handler));
  };
  informer->RemoveHandler(owning());
  Diary other;
  informer->AddHandler(other.Handler());
  // So it is when the handler is removed in a call.
  int64_t id = 0;
  EventHandler last;
  last.on_add = [&](const ObjectPtr&, bool) { informer->RemoveHandler(id); };
  id = owning();
  informer->AddHandler(last);
  informer->Written(Pod("a", 999, "a"));
  REQUIRE(other.AwaitLines(1));
  REQUIRE(diary.AwaitLines(1));
  informer->Written(Pod("b", 1000, "b"));
  REQUIRE(other.AwaitLines(2));
  CHECK(diary.lines() == Lines{"add a@999"});
}

TEST_CASE("an echo of an own write is known once, and only when it comes after the answer") {
  internal::OwnVersions own;
  own.Add(5);
  own.Add(8);
  CHECK_FALSE(own.Pass(4));
  CHECK(own.Pass(5));
  CHECK_FALSE(own.Pass(5));
  CHECK_FALSE(own.Pass(6));
  own.Add(6);  // The watch has already passed 6.
  CHECK_FALSE(own.Pass(6));
  CHECK_FALSE(own.Pass(9));
  CHECK_FALSE(own.Pass(8));  // The watch went back, but versions that it has passed are forgotten.
  own.Add(20);
  own.Reset();
  CHECK_FALSE(own.Pass(20));
  own.Reset();
  own.Add(3);
  CHECK(own.Pass(3));
}

TEST_CASE_METHOD(Fixture, "after the echo of an own write the watch goes on from there") {
  const auto informer = Synced();
  informer->AddHandler(diary.Handler());
  Object pod = Pod("a");
  pod.Set({"metadata", "resourceVersion"}, "101");  // The version that the server will assign.
  pod.Set({"metadata", "uid"}, "u-a");
  informer->Written(pod);
  server->Put(kPods, Pod("a"));
  server->Put(kPods, Pod("b"));
  REQUIRE(diary.AwaitLines(2));
  CHECK(diary.lines() == Lines{"add a@101", "add b@102"});
}

TEST_CASE_METHOD(Fixture, "a write is seen at once and not reported again by the watch") {
  const auto informer = Synced();
  informer->AddHandler(diary.Handler());
  // The answer to the write comes before the watch event.
  const Object written = server->Put(kPods, Pod("a"));
  informer->Written(written);
  CHECK(informer->store().Find({"ns", "a"})->resource_version() == "101");
  server->Put(kPods, Pod("b"));
  REQUIRE(diary.AwaitLines(2));
  CHECK(diary.lines() == Lines{"add a@101", "add b@102"});
}

TEST_CASE_METHOD(Fixture, "a late answer to a write does not undo what the watch said") {
  const auto informer = Synced();
  informer->AddHandler(diary.Handler());
  const Object written = server->Put(kPods, Pod("a"));
  server->Erase(kPods, {"ns", "a"});
  REQUIRE(diary.AwaitLines(2));
  informer->Written(written);
  CHECK(informer->store().size() == 0);
  CHECK(diary.lines().size() == 2);
}

TEST_CASE_METHOD(Fixture, "our own delete is seen at once, and only of the incarnation it met") {
  server->Put(kPods, Pod("a", 0, "one"));
  const auto informer = Synced();
  informer->AddHandler(diary.Handler());
  informer->WrittenDeleteOf({"ns", "a"}, "zero");
  CHECK(informer->store().size() == 1);
  informer->WrittenDeleteOf({"ns", "a"}, "one");
  CHECK(informer->store().size() == 0);
  CHECK(diary.lines() == Lines{"add a@101 initial", "delete a@101"});
}

TEST_CASE_METHOD(Fixture, "an object replaced under its name is reported as delete and add") {
  server->Put(kPods, Pod("a", 0, "one"));
  const auto informer = Synced();
  informer->AddHandler(diary.Handler());
  informer->Written(Pod("a", 200, "two"));
  CHECK(diary.lines() == Lines{"add a@101 initial", "delete a@101", "add a@200"});
}

TEST_CASE_METHOD(Fixture, "a watch the server closes is resumed where it ended, without a list") {
  const auto informer = Synced();
  informer->AddHandler(diary.Handler());
  server->Put(kPods, Pod("a"));
  REQUIRE(diary.AwaitLines(1));
  server->EndWatches(absl::OkStatus());
  REQUIRE(server->AwaitWatches(1));
  server->Put(kPods, Pod("b"));
  REQUIRE(diary.AwaitLines(2));
  CHECK(server->Requests("GET").size() == 1);
  CHECK(server->Requests("WATCH").back().find("resourceVersion=101") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a bookmark moves the place to resume from") {
  Synced();
  server->Put({{"", "v1", "Secret"}, "secrets", true}, Pod("elsewhere"));
  server->SendBookmarks();
  server->EndWatches(absl::OkStatus());
  REQUIRE(server->AwaitRequests("WATCH", 2));
  CHECK(server->Requests("WATCH").back().find("resourceVersion=101") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "servers that close every watch at once are not asked in a busy loop") {
  Synced();
  server->EndWatches(absl::OkStatus());
  REQUIRE(server->AwaitRequests("WATCH", 2));
  const int64_t waits = clock.waits();
  server->EndWatches(absl::OkStatus());
  REQUIRE(Eventually([&] { return clock.waits() > waits; }));  // The next attempt waits.
  CHECK(server->Requests("WATCH").size() == 2);
  REQUIRE(PassTimeUntil([&] { return server->Requests("WATCH").size() == 3; }));
}

TEST_CASE_METHOD(Fixture, "a version that is gone leads to a list that reports the difference") {
  server->Put(kPods, Pod("gone"));
  server->Put(kPods, Pod("stays"));
  const auto informer = Synced();
  informer->AddHandler(diary.Handler());
  server->EndWatches(absl::UnavailableError("connection reset"));
  REQUIRE(Eventually([&] { return absl::IsUnavailable(informer->last_error()); }));

  server->Erase(kPods, {"ns", "gone"});
  server->Put(kPods, Pod("fresh"));
  server->Compact();
  REQUIRE(PassTimeUntil([&] { return diary.lines().size() == 4; }));
  const Lines lines = diary.lines();
  CHECK(Lines(lines.begin() + 2, lines.end()) == Lines{"add fresh@104", "delete gone@101"});
  REQUIRE(server->AwaitWatches(1));
  CHECK(server->Requests("GET").size() == 2);
  CHECK(informer->last_error().ok());
}

TEST_CASE_METHOD(Fixture, "what was written after the list began survives the list") {
  const auto informer = Synced();
  server->Block("GET");
  server->EndWatches(absl::OutOfRangeError("gone"));
  REQUIRE(server->AwaitRequests("GET", 2));
  // The object is not in the server's list, and its version is higher than the list's.
  informer->Written(Pod("young", 5000, "y"));
  server->Unblock();
  REQUIRE(server->AwaitWatches(1));
  CHECK(informer->store().Find({"ns", "young"}) != nullptr);
}

TEST_CASE_METHOD(Fixture, "a list that fails is tried again and says why meanwhile") {
  server->Put(kPods, Pod("a"));
  server->FailNext("GET", 404, "NotFound", 2);
  const auto informer = informers.Get(kPods);
  REQUIRE(Eventually([&] { return absl::IsNotFound(informer->last_error()); }));
  CHECK_FALSE(informer->HasSynced());
  const absl::Status waited = informer->WaitForSync(clock.SteadyNow(), stop.get_token());
  CHECK(absl::IsDeadlineExceeded(waited));
  CHECK(waited.message().find("v1/pods of fake") != std::string::npos);
  CHECK(waited.message().find("fake: NotFound") != std::string::npos);

  REQUIRE(PassTimeUntil([&] { return informer->HasSynced(); }));
  CHECK(server->Requests("GET").size() == 3);
  CHECK(informer->last_error().ok());
}

TEST_CASE_METHOD(Fixture, "a broken watch is an error until the server has accepted the next one") {
  const auto informer = Synced();
  server->EndWatches(absl::UnavailableError("connection reset"));
  REQUIRE(Eventually([&] { return absl::IsUnavailable(informer->last_error()); }));
  // Nothing changes at the server, so that there is no event.
  CHECK(PassTimeUntil([&] { return informer->last_error().ok(); }));
  CHECK(server->watches() == 1);
}

TEST_CASE_METHOD(Fixture,
                 "a request that is refused before the watch is open is an error after it") {
  server->Block("WATCH");
  const auto informer = informers.Get(kPods);
  informer->AddHandler(diary.Handler());
  REQUIRE(server->AwaitRequests("WATCH", 1));
  server->FailNext("GET", 401, "Unauthorized", 1);
  informer->AskState({}, [](const absl::StatusOr<Informer::ServerState>&) {});
  REQUIRE(Eventually([&] { return !informer->last_error().ok(); }));
  server->Unblock();
  server->Put(kPods, Pod("first"));
  REQUIRE(diary.AwaitLines(1));  // The watch has been accepted.
  CHECK(absl::IsUnauthenticated(informer->last_error()));
  CHECK(PassTimeUntil([&] { return informer->last_error().ok(); }));
}

TEST_CASE_METHOD(Fixture, "a refused request beside an open watch is an error until one succeeds") {
  const auto informer = Synced();
  informer->AddHandler(diary.Handler());
  server->Put(kPods, Pod("first"));
  REQUIRE(diary.AwaitLines(1));  // The watch has been accepted.
  server->FailNext("GET", 401, "Unauthorized", 2);
  informer->AskState({}, [](const absl::StatusOr<Informer::ServerState>&) {});
  REQUIRE(Eventually([&] { return !informer->last_error().ok(); }));
  CHECK(server->watches() == 1);
  // An event on the connection of before says nothing about the credentials.
  server->Put(kPods, Pod("second"));
  REQUIRE(diary.AwaitLines(2));
  CHECK_FALSE(informer->last_error().ok());
  // It is asked again without anybody's doing.
  CHECK(PassTimeUntil([&] { return informer->last_error().ok(); }));
  CHECK(server->Requests("GET").size() == 4);
}

TEST_CASE_METHOD(Fixture, "who asks an informer that ends, or has ended, is answered") {
  auto set = std::make_unique<InformerSet>(client, clock);
  server->Block("GET");
  const auto informer = set->Get(kPods);
  REQUIRE(server->AwaitRequests("GET", 1));
  absl::Status sent, waiting, afterwards;
  informer->AskState(
      {}, [&](const absl::StatusOr<Informer::ServerState>& state) { sent = state.status(); });
  REQUIRE(server->AwaitRequests("GET", 2));
  informer->AskState(
      {}, [&](const absl::StatusOr<Informer::ServerState>& state) { waiting = state.status(); });
  set.reset();
  CHECK(absl::IsUnavailable(sent));
  CHECK(absl::IsUnavailable(waiting));
  // The set and its threads are gone.
  informer->AskState(
      {}, [&](const absl::StatusOr<Informer::ServerState>& state) { afterwards = state.status(); });
  CHECK(absl::IsUnavailable(afterwards));
  informer->CatchUp();
}

TEST_CASE_METHOD(Fixture, "a stop ends the waiting for the sync") {
  server->Block("GET");
  const auto informer = informers.Get(kPods);
  stop.request_stop();
  CHECK(absl::IsCancelled(
      informer->WaitForSync(base::SteadyTime::InfiniteFuture(), stop.get_token())));
}

TEST_CASE_METHOD(Fixture, "a label selector holds for lists, watches and writes") {
  informers.SetDefaultOptions(kPods, {.label_selector = "mine=true"});
  Object mine = Pod("mine");
  mine.SetLabel("mine", "true");
  server->Put(kPods, mine);
  server->Put(kPods, Pod("other"));
  const auto informer = Synced();
  CHECK_FALSE(informer->HoldsAll());
  CHECK(informer->store().size() == 1);

  informer->Written(server->Put(kPods, Pod("another")));
  CHECK(informer->store().size() == 1);
  // A write that removes the label removes the object; a write that restores it adds it again.
  informer->Written(server->Put(kPods, Pod("mine")));
  CHECK(informer->store().size() == 0);
  informer->Written(server->Put(kPods, mine));
  CHECK(informer->store().size() == 1);
}

TEST_CASE_METHOD(Fixture, "one name is asked for, and nothing else is stored") {
  informers.SetDefaultOptions(kPods, {.name = "mine"});
  server->Put(kPods, Pod("mine"));
  server->Put(kPods, Pod("other"));  // This server ignores field selectors.
  const auto informer = Synced();
  CHECK_FALSE(informer->HoldsAll());
  CHECK(informer->store().size() == 1);
  CHECK(absl::StrContains(server->Requests("GET").back(), "fieldSelector=metadata.name%3Dmine"));
  CHECK(absl::StrContains(server->Requests("WATCH").back(), "fieldSelector=metadata.name%3Dmine"));

  informer->AddHandler(diary.Handler());
  server->Put(kPods, Pod("other"));
  informer->Written(server->Put(kPods, Pod("another")));
  server->Put(kPods, Pod("mine"));
  REQUIRE(diary.AwaitLines(2));
  CHECK(informer->store().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a local kind has what was written, and its server is not asked") {
  informers.SetDefaultOptions(kPods, {.local = true});
  const kube::Object stored = server->Put(kPods, Pod("a"));
  const auto informer = informers.Get(kPods);
  CHECK(informer->HasSynced());
  CHECK(informer->IsLocal());
  CHECK_FALSE(informer->HoldsAll());
  CHECK(informer->last_error().ok());
  CHECK(informer->store().size() == 0);
  informer->AddHandler(diary.Handler());
  informer->Written(stored);
  CHECK(diary.lines() == Lines{"add a@101"});
  informer->WrittenDeleteOf(stored.key(), stored.uid());
  CHECK(informer->store().size() == 0);
  clock.AdvanceAndAwait(absl::Minutes(10));
  CHECK(server->Requests().empty());
}

TEST_CASE_METHOD(Fixture, "only the wanted fields are stored") {
  informers.SetDefaultOptions({.fields = {"spec.node"}});
  Object pod = Pod("a");
  pod.Set({"spec"}, json::Value::Object({{"node", "n"}, {"image", "i"}}));
  server->Put(kPods, pod);
  const auto informer = Synced();
  REQUIRE(server->AwaitWatches(1));
  pod.Set({"metadata", "name"}, "b");
  server->Put(kPods, pod);
  REQUIRE(tests::Eventually([&] { return informer->store().size() == 2; }));
  for (const ObjectPtr& held : informer->store().List()) {
    CHECK(held->spec() == json::Value::Object({{"node", "n"}}));
  }
}

TEST_CASE_METHOD(Fixture, "objects are trimmed before they are stored") {
  informers.SetDefaultOptions({.transform = [](Object& o) { o.Erase({"spec"}); }});
  Object pod = Pod("a");
  pod.Set({"spec", "node"}, "n");
  pod.Set({"metadata", "managedFields"}, json::Value::Array({"x"}));
  server->Put(kPods, pod);
  const auto informer = Synced();
  informer->Written(server->Put(kPods, [&] {
    Object other = pod;
    other.Set({"metadata", "name"}, "b");
    return other;
  }()));
  REQUIRE(informer->store().size() == 2);
  for (const ObjectPtr& held : informer->store().List()) {
    CHECK_FALSE(held->root().Has("spec"));
    CHECK_FALSE(held->metadata().Has("managedFields"));
  }
}

TEST_CASE_METHOD(Fixture, "an informer is shared, found once asked for, and stays readable") {
  server->Put(kPods, Pod("a"));
  CHECK(informers.Find(kPods) == nullptr);
  const auto informer = Synced();
  CHECK(informers.Get(kPods) == informer);
  CHECK(informers.Find(kPods) == informer);
  CHECK(informers.All().size() == 1);
  informer->AddHandler(diary.Handler());

  informers.Remove(kPods);
  CHECK(informers.Find(kPods) == nullptr);
  CHECK(server->watches() == 0);
  informer->Written(Pod("b", 1000));
  CHECK(informer->store().size() == 1);
  CHECK(diary.lines().size() == 1);
}

TEST_CASE_METHOD(Fixture, "after a stop of the set nothing is watched and nothing hangs") {
  Synced();
  informers.Stop();
  CHECK(server->watches() == 0);
  const auto late = informers.Get({{"", "v1", "Secret"}, "secrets", true});
  CHECK(absl::IsCancelled(late->WaitForSync(base::SteadyTime::InfiniteFuture(), stop.get_token())));
}

TEST_CASE_METHOD(Fixture, "order per key holds while a writer and the watch race") {
  const auto informer = Synced();
  // What the handler knows of each object must never go back to an older version.
  absl::Mutex mu;
  std::map<std::string, int64_t> seen;
  int backward = 0;
  const auto note = [&](const ObjectPtr& o) {
    absl::MutexLock lock(&mu);
    int64_t& last = seen[std::string(o->name())];
    if (ResourceVersionOf(*o) <= last) ++backward;
    last = ResourceVersionOf(*o);
  };
  EventHandler handler;
  handler.on_add = [&](const ObjectPtr& o, bool) { note(o); };
  handler.on_update = [&](const ObjectPtr&, const ObjectPtr& o) { note(o); };
  const int64_t id = informer->AddHandler(handler);

  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        informer->Written(server->Put(kPods, Pod(absl::StrCat("p", i % 4))));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const auto caught_up = [&] {
    absl::MutexLock lock(&mu);
    return std::any_of(seen.begin(), seen.end(), [](auto& s) { return s.second == 700; });
  };
  CHECK(Eventually(caught_up));
  informer->RemoveHandler(id);
  CHECK(backward == 0);
}

TEST_CASE("back-off grows from 0.8 s to 30 s, spread, and starts again after a reset") {
  internal::Backoff backoff(absl::Milliseconds(800), absl::Seconds(30));
  const absl::Duration first = backoff.Next();
  CHECK(first >= absl::Milliseconds(800));
  CHECK(first <= absl::Milliseconds(1600));
  for (int i = 0; i < 20; ++i) CHECK(backoff.Next() <= absl::Seconds(30));
  CHECK(backoff.Next() >= absl::Seconds(15));
  backoff.Reset();
  CHECK(backoff.Next() <= absl::Milliseconds(1600));
}

}  // namespace
}  // namespace kube
