// Watches of the proxy over a cache of members in memory.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/json.h"
#include "search/cache/composite_version.h"
#include "search/proxy/cache_reads.h"
#include "tests/kube/server/watch_lines.h"
#include "tests/search/proxy/reading_client.h"

namespace search {
namespace {

using tests::Eventually;
using tests::kPods;

constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io";

TEST_CASE("a watch begins with what there is, says where that ends, and goes on") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1", "m2"}));
  f.Put("m1", "a", "x");
  f.Put("m2", "a", "y");
  const auto client = f.Send(
      "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
      "allowWatchBookmarks=true");
  REQUIRE(Eventually([&] { return client->Events().size() == 3; }));
  CHECK(client->Events() == std::vector<std::string>{"ADDED m1/x", "ADDED m2/y", "BOOKMARK end/"});
  f.Put("m2", "a", "z");
  f.Erase("m1", "a", "x");
  REQUIRE(Eventually([&] { return client->Events().size() == 5; }));
  std::vector<std::string> later = client->Events();
  later.erase(later.begin(), later.begin() + 3);
  std::sort(later.begin(), later.end());
  CHECK(later == std::vector<std::string>{"ADDED m2/z", "DELETED m1/x"});
  CHECK_FALSE(client->closed());
  f.stop.request_stop();
  CHECK(Eventually([&] { return client->closed(); }));
}

TEST_CASE("a watch of many clusters has the lines of every watch") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x");
  const auto lines = [&](const std::string& accept) {
    const auto client = f.Send(absl::StrCat("/api/v1/pods?watch=1&", tests::kWatchList), accept);
    std::vector<json::Value> out;
    tests::Eventually([&] {
      out.clear();
      const std::string body = client->answer().body;
      for (const absl::string_view line : absl::StrSplit(body, '\n', absl::SkipEmpty())) {
        out.push_back(json::Parse(line).value_or(json::Value()));
      }
      return out.size() >= 2;
    });
    return out;
  };
  tests::CheckFormsOfWatch(lines, "Pod", "x");
}

TEST_CASE("a client continues where its list ended") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x");
  const std::string version =
      f.Send("/api/v1/pods")->Body()["metadata"]["resourceVersion"].ToString();
  f.Put("m1", "a", "y");
  const auto client = f.Send("/api/v1/pods?watch=1&resourceVersion=" + version);
  REQUIRE(Eventually([&] { return !client->Events().empty(); }));
  CHECK(client->Events() == std::vector<std::string>{"ADDED m1/y"});
  client->Close();

  CompositeVersion old;
  old.Set("m1", int64_t{1});
  const auto expired = f.Send("/api/v1/pods?watch=1&resourceVersion=" + old.ToString());
  REQUIRE(Eventually([&] { return expired->closed(); }));
  const json::Value error = expired->Body();
  CHECK(error["type"].AsString() == "ERROR");
  CHECK(error["object"]["code"].AsInt() == 410);
  CHECK(error["object"]["reason"].AsString() == "Expired");
}

TEST_CASE("a watch that was the control plane's before begins with a list") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x");
  // The client has objects of the control plane, which no event would delete.
  const auto client = f.Send("/api/v1/pods?watch=1&resourceVersion=12345");
  CHECK(client->Body()["object"]["code"].AsInt() == 410);
  // One that gets everything again needs no list.
  const auto again = f.Send(
      "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
      "resourceVersion=12345");
  CHECK(Eventually([&] { return again->Events() == std::vector<std::string>{"ADDED m1/x"}; }));
}

TEST_CASE("watches that name one of several clusters have a share of the references, too") {
  CacheReadsFixture f;
  f.Server("m1").Put(kPods, tests::PodIn("a", "x"));
  for (int i = 0; i < 100; ++i) f.Server("m2").Put(kPods, tests::PodIn("a", absl::StrCat(i)));
  REQUIRE(f.Cache({"m1", "m2"}));
  CacheReads::Options options = f.Options(absl::Seconds(3));
  options.max_sent_bytes = 64 << 10;
  CacheReads reads(options);
  CompositeVersion version;
  version.Set("m1", f.Version("m1"));
  const std::string target =
      absl::StrCat("/api/v1/pods?watch=1&resourceVersion=", version.ToString());
  std::vector<std::shared_ptr<ReadingClient>> clients;
  const auto send = [&] {
    clients.push_back(ReadingClient::Make());
    clients.back()->SetRoom(false);
    f.Start(reads, target, "", clients.back());
    REQUIRE(Eventually([&] { return clients.back()->answered(); }));
    return clients.back()->answer();
  };
  // Each refers to 100 objects, and one user has half of what there is.
  base::HttpResponse answer;
  while (clients.size() < 100 && answer.code == 200) answer = send();
  CHECK(clients.size() == 21);
  CHECK(answer.code == 429);
  // Who takes the objects makes room.
  clients.front()->SetRoom(true);
  REQUIRE(Eventually([&] { return clients.front()->Events().size() == 100; }));
  CHECK(Eventually([&] { return send().code == 200; }));
  for (const auto& client : clients) client->Close();
}

TEST_CASE("the events of a slow client wait in the cache") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  const auto client = ReadingClient::Make();
  client->SetRoom(false);
  f.Send("/api/v1/pods?watch=1&resourceVersion=0", "", client);
  const auto quick = f.Send("/api/v1/pods?watch=1&resourceVersion=0");
  f.Put("m1", "a", "x");
  f.Put("m1", "a", "y");
  // Who is told of changes after the slow one has them.
  REQUIRE(Eventually([&] { return quick->Events().size() == 2; }));
  CHECK(client->Events().empty());
  client->SetRoom(true);
  REQUIRE(Eventually([&] { return client->Events().size() >= 2; }));
  CHECK(client->Events() == quick->Events());
}

TEST_CASE("watches that show nothing new keep no thread") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x");
  CacheReads::Options options = f.Options(absl::Seconds(3));
  options.waiting_threads = 1;
  options.max_waiting = 1;
  CacheReads few(std::move(options));
  for (int i = 0; i < 40; ++i) {
    const auto watch = ReadingClient::Make();
    f.Start(few, absl::StrCat("/api/v1/pods?watch=1&", tests::kWatchList), "", watch);
    REQUIRE(Eventually([&] { return watch->Events().size() >= 1; }));
  }
  const auto list = ReadingClient::Make();
  f.Start(few, "/api/v1/pods", "", list);
  CHECK(list->Body()["items"].size() == 1);
  f.stop.request_stop();
}

TEST_CASE("watchers get tables, of which only the first has columns") {
  CacheReadsFixture f;
  REQUIRE(f.Cache({"m1"}));
  f.Put("m1", "a", "x");
  f.Put("m1", "a", "y");
  const auto client = f.Send("/api/v1/pods?watch=1", kTable);
  const auto lines = [&] {
    return std::vector<std::string>(absl::StrSplit(client->answer().body, '\n', absl::SkipEmpty()));
  };
  REQUIRE(Eventually([&] { return lines().size() >= 2; }));
  const json::Value first = *json::Parse(lines()[0]), second = *json::Parse(lines()[1]);
  CHECK(first["object"]["kind"].AsString() == "Table");
  CHECK(first["object"]["columnDefinitions"].size() > 2);
  CHECK(second["object"]["columnDefinitions"].empty());
  CHECK(second["object"]["rows"].At(0)["cells"].At(1).AsString() == "m1");
}

}  // namespace
}  // namespace search
