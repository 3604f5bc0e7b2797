// What readers learn of members whose objects are not known.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/search/proxy/reading_client.h"

namespace search {
namespace {

using tests::Eventually;
using tests::kPods;

constexpr char kPod[] = "/api/v1/namespaces/a/pods/x?resourceVersion=0";

struct Fixture : CacheReadsFixture {
  // Begins to cache m1, which has no pod x, and m2, and waits for those of `read`.
  void Begin(const std::vector<std::string>& read = {"m1", "m2"}) {
    cache().SetScope(Fixture::Scope({"m1", "m2"}));
    for (const std::string& name : read) {
      REQUIRE(Eventually([&] { return cache().Find(name, kPods.gvr())->HasSynced(); }));
    }
    // Nobody waits for first lists that began long ago.
    clock.Advance(absl::Minutes(1));
  }
  // Returns the code and the message of an error.
  std::string Ask(const std::string& target) {
    const json::Value body = Send(target)->Body();
    return absl::StrCat(body["code"].AsInt(), " ", body["message"].AsString());
  }
};

TEST_CASE("who finds no object learns which members could not be read") {
  Fixture f;
  f.Lock("m2");
  f.Begin({"m1"});
  const auto client = f.Send(kPod);
  const json::Value error = client->Body();
  CHECK(error["code"].AsInt() == 404);
  CHECK(error["reason"].AsString() == "NotFound");
  CHECK(error["details"]["name"].AsString() == "x");
  CHECK_THAT(error["message"].ToString(),
             Catch::StartsWith("pods \"x\" not found; cluster m2 has not been read: ") &&
                 Catch::Contains("does not have a secret"));
  REQUIRE(client->Warnings().size() == 1);
  CHECK_THAT(client->Warnings()[0], Catch::StartsWith("299 - \"cluster m2 is missing: "));
}

TEST_CASE("a cluster that has just come into the scope is missing until its cache begins") {
  Fixture f;
  f.Begin();
  f.connecting = "m3";
  CHECK_THAT(f.Ask(kPod), Catch::StartsWith("503 ") && Catch::Contains("m3"));
  const auto list = f.Send("/api/v1/pods?resourceVersion=0");
  REQUIRE(list->Warnings().size() == 1);
  CHECK_THAT(list->Warnings()[0], Catch::Contains("cluster m3 is missing: its cache begins"));
  const auto watch = f.Send("/api/v1/pods?watch=1&resourceVersion=0");
  REQUIRE(watch->Warnings().size() == 1);
  CHECK_THAT(watch->Warnings()[0], Catch::Contains("cluster m3 is missing: its cache begins"));
}

// The cache of a cluster begins, and lists, at each moment of a read at which the scope is asked.
TEST_CASE("whenever a cluster's cache begins, its objects are shown or the cluster is missing") {
  for (const int moment : {1, 2, 3, 4}) {
    CAPTURE(moment);
    Fixture f;
    f.Begin();
    f.Put("m3", "a", "x");
    std::atomic<int> asked = 0;
    CacheReads::Options options = f.Options(absl::Seconds(3));
    options.clusters = [&](const kube::Gvr& gvr) {
      if (++asked == moment) {
        f.cache().SetScope(Fixture::Scope({"m1", "m2", "m3"}));
        (void)Eventually([&] { return f.cache().Find("m3", gvr)->HasSynced(); });
      }
      return std::vector<std::string>{"m1", "m2", "m3"};
    };
    CacheReads reads(std::move(options));
    const auto ask = [&](const std::string& target) {
      f.cache().SetScope(Fixture::Scope({"m1", "m2"}));
      asked = 0;
      const auto client = ReadingClient::Make();
      f.Start(reads, target, "", client);
      REQUIRE(Eventually([&] { return client->closed(); }));
      return client;
    };
    const int code = ask(kPod)->answer().code;
    CHECK((code == 200 || code == 503));
    const auto list = ask("/api/v1/pods?resourceVersion=0");
    INFO(json::Write(list->Body()));
    INFO(list->Warnings().size());
    CHECK((list->Body()["items"].size() == 1 || list->Warnings().size() == 1));
  }
}

TEST_CASE("nothing is said of objects whose caches are being emptied") {
  Fixture f;
  f.Begin();
  std::atomic<int> asked = 0;
  CacheReads::Options options = f.Options(absl::Seconds(3));
  // The registry goes between the beginning of the read and its end.
  options.resource = [&](const kube::Gvr&) {
    return asked++ == 0 ? std::optional<kube::Resource>(kPods) : std::nullopt;
  };
  CacheReads reads(std::move(options));
  for (const char* target :
       {kPod, "/api/v1/pods?resourceVersion=0", "/api/v1/pods?watch=1",
        "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"}) {
    CAPTURE(target);
    asked = 0;
    const auto client = ReadingClient::Make();
    f.Start(reads, target, "", client);
    REQUIRE(Eventually([&] { return client->answered(); }));
    const json::Value error = client->Body();
    CHECK(error["code"].AsInt() == 503);
    CHECK(error["details"]["retryAfterSeconds"].AsInt() == 1);
  }
}

// Returns the value of a header, "-" without it.
std::string HeaderOf(const base::HttpResponse& response, absl::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "-";
}

TEST_CASE("whoever demands a complete answer gets all members, or an error that names the others") {
  Fixture f;
  f.Lock("m2");
  f.Begin({"m1"});
  f.Put("m1", "a", "x");
  const std::vector<std::string> targets = {"/api/v1/pods?resourceVersion=0",
                                            "/api/v1/pods?limit=1&",
                                            kPod,
                                            "/api/v1/namespaces/a/pods/none?resourceVersion=0",
                                            "/api/v1/pods?watch=1&resourceVersion=0",
                                            "/api/v1/pods?resourceVersion=0&sort=metadata.name"};
  for (const std::string& target : targets) {
    CAPTURE(target);
    const auto partial = f.Send(target)->answer();
    CHECK(partial.code != 503);
    CHECK(HeaderOf(partial, "X-Karmada-Missing-Clusters") == "m2");
    const auto refused = f.Send(target + "&requireComplete=true");
    CHECK(refused->answer().code == 503);
    CHECK(HeaderOf(refused->answer(), "X-Karmada-Missing-Clusters") == "m2");
    const json::Value error = refused->Body();
    CHECK_THAT(error["message"].ToString(),
               Catch::StartsWith("a complete answer was demanded, and there is none; cluster m2 is "
                                 "missing: "));
    CHECK(error["reason"].AsString() == "ServiceUnavailable");
    // Nothing is under way that would make it complete: kubectl shows the error at once.
    CHECK(error["details"]["retryAfterSeconds"].is_null());
    CHECK(HeaderOf(refused->answer(), "Retry-After") == "-");
  }
  // What is asked of members that can be read is complete.
  CHECK(f.Send("/api/v1/pods?resourceVersion=0&cluster=m1&requireComplete=true")->answer().code ==
        200);
  f.Unlock("m2");
  CHECK(Eventually([&] {
    f.clock.Advance(absl::Seconds(10));
    return f.Send("/api/v1/pods?resourceVersion=0&requireComplete=true")->answer().code == 200;
  }));
}

TEST_CASE("whoever demands a complete answer is asked to wait for a first list") {
  Fixture f;
  f.Server("m2").Block("GET");
  f.Begin({"m1"});
  const auto refused = f.Send("/api/v1/pods?resourceVersion=0&requireComplete=true");
  CHECK(refused->answer().code == 503);
  CHECK(refused->Body()["details"]["retryAfterSeconds"].AsInt() == 1);
  f.Server("m2").Unblock();
}

TEST_CASE("a complete answer is not older than the request demands") {
  Fixture f;
  REQUIRE(f.Cache({"m1", "m2"}));
  f.Server("m2").FailNext("WATCH", 500, "InternalError", 1000);
  f.Server("m2").EndWatches(absl::UnavailableError("cut off"));
  REQUIRE(Eventually([&] { return !f.cache().Find("m2", kPods.gvr())->last_error().ok(); }));
  const auto stale = f.Send("/api/v1/pods?requireComplete=true")->answer();
  CHECK(stale.code == 503);
  CHECK(HeaderOf(stale, "X-Karmada-Stale-Clusters") == "m2");
  CHECK(HeaderOf(stale, "X-Karmada-Missing-Clusters") == "-");
  CHECK(f.Send("/api/v1/pods?resourceVersion=0&requireComplete=true")->answer().code == 200);
}

TEST_CASE("of many clusters those that are missing are named first, and all are counted") {
  std::vector<MissingCluster> clusters;
  for (int i = 0; i < 12; ++i) clusters.push_back({absl::StrCat("old", i), "slow", true});
  clusters.push_back({"lost", "down", false});
  base::HttpResponse response;
  AddWarnings(clusters, response);
  std::vector<std::string> warnings;
  for (const auto& [name, value] : response.headers) {
    if (name == "Warning") warnings.push_back(value);
  }
  CHECK(HeaderOf(response, "X-Karmada-Missing-Clusters") == "lost");
  CHECK_THAT(HeaderOf(response, "X-Karmada-Stale-Clusters"), Catch::StartsWith("old0,old1,"));
  base::HttpResponse many;
  AddWarnings(std::vector<MissingCluster>(300, {"m", "down", false}), many);
  CHECK_THAT(HeaderOf(many, "X-Karmada-Missing-Clusters"), Catch::EndsWith("m,*"));
  REQUIRE(warnings.size() == 11);
  CHECK_THAT(warnings[0], Catch::Contains("cluster lost is missing: down"));
  CHECK_THAT(warnings[1], Catch::Contains("cluster old0 may not be shown as it is now: slow"));
  CHECK_THAT(warnings[10], Catch::Contains("3 further clusters may not be shown as they are now"));

  const std::vector<MissingCluster> missing(11, {"lost", "down", false});
  CHECK_THAT(UnreadText(missing), Catch::EndsWith("; 1 further cluster has not been read"));
}

TEST_CASE("nobody is told that an object does not exist while its member is being read") {
  Fixture f;
  f.Server("m2").Block("GET");
  f.Begin({"m1"});
  const auto client = f.Send(kPod);
  CHECK(client->Body()["message"].AsString() ==
        "it is not known whether pods \"x\" exists; cluster m2 has not been read: its objects are "
        "still being read");
  CHECK(client->answer().code == 503);
  CHECK(client->Body()["details"]["retryAfterSeconds"].AsInt() == 1);
  f.Server("m2").Unblock();
  CHECK(Eventually([&] { return f.Ask(kPod) == "404 pods \"x\" not found"; }));
}

TEST_CASE("a member is waited for as long as its first list is young, and its Cluster Ready") {
  Fixture f;
  std::atomic<bool> ready = true;
  CacheReads::Options options = f.Options(absl::Seconds(3));
  options.is_ready = [&](const std::string&) { return ready.load(); };
  CacheReads reads(std::move(options));
  f.Server("m2").Block("GET");
  f.cache().SetScope(Fixture::Scope({"m1", "m2"}));
  REQUIRE(Eventually([&] { return f.cache().Find("m1", kPods.gvr())->HasSynced(); }));
  f.Put("m1", "a", "x");
  const auto m2 = [&] {
    const Holders holders = reads.HoldersOf(kPods.gvr(), {"a", "x"});
    CHECK(holders.clusters == std::vector<std::string>{"m1"});
    CHECK(holders.asked == 2);
    REQUIRE(holders.unread.size() == 1);
    CHECK(holders.unread[0].cluster == "m2");
    return holders.unread[0];
  };
  CHECK(Eventually([&] { return m2().being_read; }));
  CHECK(m2().just_begun);
  ready = false;
  CHECK_FALSE(m2().being_read);
  CHECK_FALSE(m2().just_begun);
  CHECK_THAT(m2().reason, Catch::Contains("not Ready"));
  ready = true;
  f.clock.Advance(absl::Seconds(11));
  CHECK(m2().being_read);
  CHECK_FALSE(m2().just_begun);
  f.Server("m2").Unblock();
  CHECK(Eventually([&] { return reads.HoldersOf(kPods.gvr(), {"a", "x"}).unread.empty(); }));
}

TEST_CASE("a member that answers by an error, or has no credentials, is not waited for") {
  Fixture f;
  f.Lock("m2");
  f.Server("m3").FailNext("GET", 403, "Forbidden", 1000);
  f.cache().SetScope(Fixture::Scope({"m1", "m2", "m3"}));
  REQUIRE(Eventually([&] { return !f.cache().Find("m3", kPods.gvr())->last_error().ok(); }));
  const Holders holders = f.reads.HoldersOf(kPods.gvr(), {"a", "x"});
  REQUIRE(holders.unread.size() >= 2);
  for (const MissingCluster& m : holders.unread) {
    CAPTURE(m.cluster, m.reason);
    CHECK((m.cluster == "m1" || !m.being_read));
  }
}

TEST_CASE("of the members that were asked for at least one has to be known") {
  Fixture f;
  f.Lock("m2");
  f.Begin({"m1"});
  const std::string chosen = absl::StrCat(kPod, "&cluster=m2");
  CHECK_THAT(f.Ask(chosen), Catch::StartsWith("503 it is not known whether pods \"x\" exists"));
  CHECK(f.Ask(absl::StrCat(kPod, "&cluster=m1")) == "404 pods \"x\" not found");

  Fixture none;
  for (const char* cluster : {"m1", "m2", "m3"}) none.Lock(cluster);
  none.cache().SetScope(tests::SearchMembers::Scope({"m1", "m2", "m3"}));
  CHECK_THAT(none.Ask(kPod), Catch::StartsWith("503 it is not known"));
}

TEST_CASE("a member that does not serve the resource has no such object") {
  Fixture f;
  f.Server("m2").FailNext("GET", 404, "NotFound", 1000);
  f.Begin({"m1"});
  CHECK(Eventually([&] { return f.Ask(kPod) == "404 pods \"x\" not found"; }));
}

TEST_CASE("a watch names the members that it does not show, or not as they are") {
  Fixture f;
  f.Lock("m2");
  f.Begin({"m1"});
  for (const char* target :
       {"/api/v1/pods?watch=1", "/api/v1/pods?watch=1&resourceVersion=0",
        "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"}) {
    CAPTURE(target);
    const auto watch = f.Send(target);
    REQUIRE(watch->Warnings().size() == 1);
    CHECK_THAT(watch->Warnings()[0], Catch::StartsWith("299 - \"cluster m2 is missing: "));
  }
  CHECK(f.Send("/api/v1/pods?watch=1&cluster=m1")->Warnings().empty());
  // It has been listed, and answers no more.
  f.Server("m1").FailNext("WATCH", 500, "InternalError", 1000);
  f.Server("m1").EndWatches(absl::UnavailableError("cut off"));
  REQUIRE(Eventually([&] { return !f.cache().Find("m1", kPods.gvr())->last_error().ok(); }));
  const auto watch = f.Send("/api/v1/pods?watch=1&cluster=m1");
  REQUIRE(watch->Warnings().size() == 1);
  CHECK_THAT(watch->Warnings()[0],
             Catch::StartsWith("299 - \"cluster m1 may not be shown as it is now: "));
}

}  // namespace
}  // namespace search
