// Watches of resourceregistries as clients see them.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/kube/server/watch_lines.h"
#include "tests/search/registry/api_fixture.h"

namespace search {
namespace {

TEST_CASE("a watch of registries has the lines of every watch") {
  Api api;
  api.running.etcd.Put(Key("a"), Text("a"));
  REQUIRE(tests::Eventually([&] { return api.running.feed.Current()->objects.size() == 1; }));
  const auto lines = [&](const std::string& accept) {
    const auto watch = api.Watch(tests::kWatchList, accept);
    tests::Eventually([&] { return watch->Lines().size() >= 2; });
    return watch->Lines();
  };
  tests::CheckFormsOfWatch(lines, "ResourceRegistry", "a");
}

TEST_CASE("a watch-list ends its initial objects with one bookmark, and then follows") {
  Api api;
  api.running.etcd.Put(Key("a"), Text("a"));
  REQUIRE(tests::Eventually([&] { return api.running.feed.Current()->objects.size() == 1; }));
  const auto watch = api.Watch(
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  REQUIRE(watch->Await({"ADDED a", "BOOKMARK "}));
  CHECK(watch->Lines()[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"]
            .AsString() == "true");
  api.Create("b");
  api.Do("DELETE", "/a");
  CHECK(watch->Await({"ADDED a", "BOOKMARK ", "ADDED b", "DELETED a"}));
  const auto resumed = api.Watch(absl::StrCat(
      "resourceVersion=", watch->Lines()[1]["object"]["metadata"]["resourceVersion"].AsString()));
  CHECK(resumed->Await({"ADDED b", "DELETED a"}));
  CHECK(api.Watch("sendInitialEvents=true")->response().code == 422);
  CHECK(api.Watch("", "application/yaml")->response().code == 406);
}

TEST_CASE("what begins or stops matching a watch's selector is added or deleted") {
  Api api;
  const auto watch = api.Watch("labelSelector=on=yes");
  api.Create("r");
  const auto label = [&](const char* value) {
    api.Do("PATCH", "/r", absl::StrCat(R"({"metadata":{"labels":{"on":)", value, "}}}"),
           "application/merge-patch+json");
  };
  label("\"yes\"");
  api.Do("PATCH", "/r", R"({"metadata":{"labels":{"x":"y"}}})", "application/merge-patch+json");
  label("null");
  REQUIRE(watch->Await({"ADDED r", "MODIFIED r", "DELETED r"}));
  CHECK(watch->Lines()[2]["object"]["metadata"]["labels"]["on"].AsString() == "yes");
}

TEST_CASE("a watch from a version that is too old gets 410 as its only event") {
  Api api;
  const auto old = api.Watch("resourceVersion=1");
  CHECK(old->Await({"ERROR "}));
  CHECK(old->Lines()[0]["object"]["code"].AsInt() == 410);
  CHECK(old->closed());
}

TEST_CASE("a watch without initial events begins now") {
  Api api;
  api.Create("a");
  REQUIRE(tests::Eventually([&] { return api.running.feed.Current()->objects.size() == 1; }));
  const auto watch =
      api.Watch("resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  api.Create("b");
  CHECK(watch->Await({"ADDED b"}));
}

TEST_CASE("watches end with their time, and all of them when the server stops") {
  tests::FakeClock clock;
  Api api(clock);
  const auto brief = api.Watch("timeoutSeconds=5");
  const auto lasting = api.Watch("");
  base::StopSource stop;
  std::thread thread([&] { api.api.Run(stop.get_token()); });
  clock.AwaitWaiters(1);
  clock.AdvanceAndAwait(absl::Seconds(6));
  CHECK(tests::Eventually([&] { return brief->closed(); }));
  CHECK_FALSE(lasting->closed());
  stop.request_stop();
  thread.join();
  CHECK(lasting->closed());
}

}  // namespace
}  // namespace search
