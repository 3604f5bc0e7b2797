#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "tests/search/cache/members.h"

namespace search {
namespace {

using tests::Eventually;
using tests::kPods;

const kube::Resource kSecrets{{"", "v1", "Secret"}, "secrets", true};

struct Fixture : tests::SearchMembers {
  std::vector<MissingCluster> Await(Freshness::Need need, const std::string& version = "",
                                    absl::Duration within = absl::InfiniteDuration()) {
    return cache().AwaitFresh({kPods.gvr(), need, version, ""}, clock.SteadyNow() + within);
  }
  // Changes something else, so that the cluster's version moves and its pods stay.
  int64_t ChangeElsewhere(const std::string& cluster) {
    const auto secret = kube::Object::Make(kSecrets.gvk, {"n", "s"});
    return kube::ResourceVersionOf(Server(cluster).Put(kSecrets, secret));
  }
  // Returns what `read` returns, which waits on the clock: time passes in such steps meanwhile.
  std::vector<MissingCluster> WhileTimePasses(
      absl::Duration step, const std::function<std::vector<MissingCluster>()>& read) {
    std::atomic<bool> done = false;
    std::vector<MissingCluster> behind;
    std::thread reader([&] {
      behind = read();
      done = true;
    });
    (void)Eventually([&] {
      if (!done) clock.Advance(step);
      return done.load();
    });
    reader.join();
    return behind;
  }
};

TEST_CASE_METHOD(Fixture, "caches of quiet resources are brought up to what the members have now") {
  Put("m1", "n", "a");
  Put("m2", "n", "b");
  REQUIRE(Cache({"m1", "m2"}));
  const int64_t m1 = ChangeElsewhere("m1");
  const int64_t m2 = ChangeElsewhere("m2");
  const auto behind =
      WhileTimePasses(absl::Milliseconds(10), [&] { return Await(Freshness::kNow); });
  CHECK(behind.empty());
  CHECK(Version("m1") >= m1);
  CHECK(Version("m2") >= m2);
}

TEST_CASE_METHOD(Fixture, "a cluster that does not answer is named at the deadline, and no other") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1", "m2"}));
  // The other one is quiet, and has to be asked to catch up.
  const int64_t m1 = ChangeElsewhere("m1");
  Server("m2").Block("GET");
  // Small steps leave the other one the time to answer.
  const auto behind = WhileTimePasses(absl::Milliseconds(5),
                                      [&] { return Await(Freshness::kNow, "", absl::Seconds(3)); });
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].cluster == "m2");
  CHECK(behind[0].stale);
  CHECK(behind[0].reason == "the cluster has not answered in time");
  CHECK(Version("m1") >= m1);
  Server("m2").Unblock();
}

TEST_CASE_METHOD(Fixture, "who reads one object waits for that only, however much else changes") {
  Put("m1", "n", "a");
  Put("m1", "n", "b");
  REQUIRE(Cache({"m1", "m2"}));
  const int64_t m1 = ChangeElsewhere("m1");
  ChangeElsewhere("m2");
  const auto await = [&](const std::string& name) {
    return cache().AwaitFresh({kPods.gvr(), Freshness::kNow, "", "", {"n", name}},
                              base::SteadyTime::InfiniteFuture());
  };
  // Time stands still: neither a bookmark nor a list comes.
  CHECK(await("a").empty());
  CHECK(await("none").empty());
  CHECK(Version("m1") < m1);
  // What happens to the object is waited for.
  Server("m1").Put(kPods, tests::PodIn("n", "a", "changed"));
  CHECK(await("a").empty());
  CHECK(cache().Find("m1", kPods.gvr())->Find({"n", "a"})->Label("app") == "changed");
  Server("m1").Erase(kPods, {"n", "b"});
  CHECK(WhileTimePasses(absl::Milliseconds(10), [&] { return await("b"); }).empty());
  CHECK(cache().Find("m1", kPods.gvr())->Find({"n", "b"}) == nullptr);
}

TEST_CASE_METHOD(Fixture, "a cluster whose first list hangs makes no other one late") {
  Put("m2", "n", "a");
  REQUIRE(Cache({"m2"}));
  const int64_t m2 = ChangeElsewhere("m2");
  Server("m1").Block("GET");
  cache().SetScope(Scope({"m1", "m2"}));
  const auto behind = WhileTimePasses(absl::Milliseconds(5),
                                      [&] { return Await(Freshness::kNow, "", absl::Seconds(3)); });
  CHECK(behind.empty());  // Lists name m1, which has no contents yet.
  CHECK(Version("m2") >= m2);
  Server("m1").Unblock();
}

TEST_CASE_METHOD(Fixture, "a cluster that is cut off is named at once") {
  REQUIRE(Cache({"m1"}));
  Server("m1").FailNext("WATCH", 503, "ServiceUnavailable", 1000);
  Server("m1").EndWatches(absl::UnavailableError("reset"));
  REQUIRE(Eventually([&] { return !cache().Find("m1", kPods.gvr())->last_error().ok(); }));
  const auto behind = Await(Freshness::kNow);
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].stale);
}

TEST_CASE_METHOD(Fixture,
                 "a cluster that is connected again is stale no longer than its first reader") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  const auto error = [&] { return cache().Find("m1", kPods.gvr())->last_error(); };
  Server("m1").EndWatches(absl::UnavailableError("reset"));
  REQUIRE(Eventually([&] { return !error().ok(); }));
  // The watch is there again, and nothing happens that it could report.
  CHECK(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(1));
    return Server("m1").watches() == 1;
  }));
  CHECK(Eventually([&] {
    (void)Await(Freshness::kAny);
    return error().ok();
  }));
}

TEST_CASE_METHOD(Fixture, "a cluster whose server went back is named, and its cache follows") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  auto backup = Server("m1").Backup();
  Put("m1", "n", "b");
  // The connection of the watch stays, as through a proxy that hides the restart.
  Server("m1").Restore(std::move(backup), /*cut=*/false);
  const auto behind = WhileTimePasses(absl::Milliseconds(10),
                                      [&] { return Await(Freshness::kNow, "", absl::Seconds(3)); });
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].stale);
  CHECK(Eventually([&] { return cache().Find("m1", kPods.gvr())->size() == 1; }));
}

TEST_CASE_METHOD(Fixture, "a version that has been reached is not waited for") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  ListRequest request;
  request.gvr = kPods.gvr();
  const size_t calls = Server("m1").Calls();
  CHECK(Await(Freshness::kNotOlderThan, cache().List(request)->version).empty());
  CHECK(Await(Freshness::kAny).empty());
  CHECK(Server("m1").Calls() == calls);
}

TEST_CASE_METHOD(Fixture, "a version that the member itself has not reached is refused at once") {
  Put("m1", "n", "a");
  REQUIRE(Cache({"m1"}));
  CompositeVersion future;
  future.Set("m1", int64_t{1'000'000'000});
  const auto behind = Await(Freshness::kNotOlderThan, future.ToString());
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].stale);
  CHECK_THAT(behind[0].reason, Catch::EndsWith(" and not 1000000000"));
  // That is no reason to wait less for the cluster.
  CHECK(Await(Freshness::kNow).empty());
}

TEST_CASE_METHOD(Fixture, "a cluster that was late counts as stale for some seconds") {
  REQUIRE(Cache({"m1"}));
  const auto before = static_cast<int>(Server("m1").Requests("GET").size());
  Server("m1").Block("GET");
  std::vector<MissingCluster> behind;
  const base::SteadyTime deadline = clock.SteadyNow() + absl::Seconds(3);
  std::thread reader([&] {
    behind = cache().AwaitFresh({kPods.gvr(), Freshness::kNow, "", ""}, deadline);
  });
  REQUIRE(Server("m1").AwaitRequests("GET", before + 1));
  clock.Advance(absl::Seconds(3));
  reader.join();
  REQUIRE(behind.size() == 1);
  // Time stands still, and nobody waits.
  behind = Await(Freshness::kNow);
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].stale);
  CHECK(behind[0].reason == "the cluster did not answer in time a moment ago");
  Server("m1").Unblock();
  clock.Advance(absl::Seconds(5));
  CHECK(Await(Freshness::kNow).empty());
  CHECK(Await(Freshness::kNow).empty());
}

TEST_CASE_METHOD(Fixture, "the first list of a cluster that has just come is waited for") {
  Put("m1", "n", "a");
  Server("m1").Block("GET");
  cache().SetScope(Scope({"m1"}));
  std::atomic<bool> done = false;
  std::thread reader([&] {
    (void)Await(Freshness::kAny);
    done = true;
  });
  CHECK_FALSE(done);
  Server("m1").Unblock();
  CHECK(Eventually([&] { return done.load(); }));
  reader.join();
  CHECK(cache().Find("m1", kPods.gvr())->size() == 1);
}

TEST_CASE_METHOD(Fixture, "whatever a member answers, the others are served and it is named") {
  const auto [code, reason] = GENERATE(table<int, std::string>({{410, "Expired"},
                                                                {429, "TooManyRequests"},
                                                                {500, "InternalError"},
                                                                {403, "Forbidden"},
                                                                {200, "NoListAtAll"}}));
  Put("m1", "n", "a");
  Put("m2", "n", "b");
  Server("m2").FailNext("GET", code, reason, 100000);
  cache().SetScope(Scope({"m1", "m2"}));
  REQUIRE(Eventually([&] {
    clock.Advance(absl::Seconds(1));  // A 429 is waited for before it counts as an answer.
    return cache().Find("m1", kPods.gvr())->HasSynced() &&
           !cache().Find("m2", kPods.gvr())->last_error().ok();
  }));
  ListRequest request;
  request.gvr = kPods.gvr();
  const auto answer = cache().List(request);
  REQUIRE(answer.ok());
  CHECK(tests::Names(*answer) == "m1:n/a");
  REQUIRE(answer->missing.size() == 1);
  CHECK(answer->missing[0].cluster == "m2");
  CHECK_FALSE(answer->missing[0].reason.empty());
  Server("m2").EndFailures();
  CHECK(Eventually([&] {
    clock.AdvanceAndAwait(absl::Seconds(31));
    return tests::Names(*cache().List(request)) == "m1:n/a m2:n/b";
  }));
}

}  // namespace
}  // namespace search
