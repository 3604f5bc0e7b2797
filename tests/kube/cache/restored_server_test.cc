// A server whose etcd was restored from a backup, and watches that cannot be opened.
#include <catch2/catch.hpp>

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/cache/informer.h"
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

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "fake"}, clock, nullptr};
  InformerSet informers{client, clock};

  std::shared_ptr<Informer> Synced() {
    std::shared_ptr<Informer> informer = informers.Get(kPods);
    REQUIRE(informer->WaitForSync(base::SteadyTime::InfiniteFuture(), {}).ok());
    REQUIRE(server->AwaitWatches(1));
    return informer;
  }
  // Advances the clock, so that retries become due, until `done`.
  bool PassTimeUntil(const std::function<bool()>& done, absl::Duration step = absl::Seconds(31)) {
    return tests::PassTimeUntil(clock, step, done);
  }
  // Returns the content of the informer: "a@101 b@102".
  static std::string Contents(const Informer& informer) {
    std::set<std::string> names;
    for (const ObjectPtr& object : informer.store().List()) {
      names.insert(absl::StrCat(object->name(), "@", object->resource_version()));
    }
    return absl::StrJoin(names, " ");
  }
  std::string OnServer() {
    std::set<std::string> names;
    for (const Object& object : server->All(kPods)) {
      names.insert(absl::StrCat(object.name(), "@", object.resource_version()));
    }
    return absl::StrJoin(names, " ");
  }
};

TEST_CASE_METHOD(Fixture, "a server that went back to an earlier state is followed there") {
  server->Put(kPods, Pod("edited"));
  server->Put(kPods, Pod("erased"));
  server->Put(kPods, Pod("erased-by-us", 0, "u"));
  const auto informer = Synced();
  const tests::FakeObjects backup = server->Backup();
  server->Put(kPods, Pod("edited"));
  server->Erase(kPods, {"ns", "erased"});
  server->Put(kPods, Pod("added"));
  REQUIRE(Eventually([&] { return Contents(*informer) == OnServer(); }));
  informer->WrittenDeleteOf({"ns", "erased-by-us"}, "u");

  server->Restore(backup);
  SECTION("and its versions are lower than those seen") {}
  SECTION("and its versions have overtaken those seen") {
    for (int i = 0; i < 20; ++i) server->Put(kPods, Pod("busy"));
    server->Compact();
  }
  REQUIRE(PassTimeUntil([&] { return Contents(*informer) == OnServer(); }));
  CHECK(informer->store().size() >= 3);

  // Later changes arrive, also those of objects that were deleted before the restore.
  REQUIRE(PassTimeUntil([&] { return server->watches() == 1; }));
  server->Put(kPods, Pod("added"));
  server->Put(kPods, Pod("erased"));
  server->Erase(kPods, {"ns", "edited"});
  CHECK(Eventually([&] { return Contents(*informer) == OnServer(); }));
}

TEST_CASE_METHOD(Fixture, "handlers hear what a server that went back has changed by it") {
  server->Put(kPods, Pod("edited"));
  const auto informer = Synced();
  const tests::FakeObjects backup = server->Backup();
  server->Put(kPods, Pod("edited"));
  server->Put(kPods, Pod("added"));
  REQUIRE(Eventually([&] { return Contents(*informer) == OnServer(); }));
  absl::Mutex mu;
  std::set<std::string> heard;
  const auto note = [&](const std::string& line) {
    absl::MutexLock lock(&mu);
    heard.insert(line);
  };
  EventHandler handler;
  handler.on_update = [&](const ObjectPtr& before, const ObjectPtr& after) {
    note(absl::StrCat("update ", before->resource_version(), "->", after->resource_version()));
  };
  handler.on_delete = [&](const ObjectPtr& last) { note(absl::StrCat("delete ", last->name())); };
  informer->AddHandler(handler);
  server->Restore(backup);
  CHECK(PassTimeUntil([&] {
    absl::MutexLock lock(&mu);
    return heard == std::set<std::string>{"update 102->101", "delete added"};
  }));
}

TEST_CASE_METHOD(Fixture, "a watch that is refused again and again is followed by a list") {
  const auto informer = Synced();
  // Three refusals in a row lead to a list. A watch that lasts five seconds, as one does whose
  // refusal comes late on a busy machine while the clock goes on, begins the row again.
  server->FailNext("WATCH", 500, "InternalError", 100000);
  server->Put(kPods, Pod("a"));
  server->EndWatches(absl::UnavailableError("connection reset"));
  REQUIRE(PassTimeUntil([&] { return server->Requests("GET").size() >= 2; }, absl::Seconds(1)));
  server->EndFailures();
  REQUIRE(PassTimeUntil([&] { return server->watches() == 1; }));
  server->Put(kPods, Pod("b"));
  CHECK(Eventually([&] { return informer->store().size() == 2 && informer->last_error().ok(); }));
}

TEST_CASE_METHOD(Fixture, "a page that is too large is asked for in smaller ones") {
  for (int i = 0; i < 300; ++i) server->Put(kPods, Pod(absl::StrCat("p", i)));
  server->FailNext("GET", 413, "RequestEntityTooLarge", 2);
  CHECK(Synced()->store().size() == 300);
  CHECK(server->Requests("GET").back().find("limit=125") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "watches that begin together end at different times") {
  std::set<int> seconds;
  for (int i = 0; i < 20; ++i) {
    const Resource r{{"", "v1", absl::StrCat("Kind", i)}, absl::StrCat("kinds", i), true};
    informers.Get(r);
  }
  REQUIRE(server->AwaitWatches(20));
  for (const std::string& request : server->Requests("WATCH")) {
    const std::string value = request.substr(request.find("timeoutSeconds=") + 15);
    seconds.insert(std::stoi(value));
  }
  CHECK(seconds.size() > 10);
  CHECK(*seconds.begin() >= 300);
  CHECK(*seconds.rbegin() <= 600);
}

}  // namespace
}  // namespace kube
