// When watches deliver what, as a test decides.
#include "sandbox/http/watch_gate.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tests/sandbox/http/front_end_fixture.h"
#include "tests/sandbox/http/test_interference.h"

namespace sandbox {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kSecrets[] = "/api/v1/namespaces/default/secrets";

kube::Object Secret(const std::string& name) {
  return kube::Object::Make({"", "v1", "Secret"}, {"default", name});
}

// A server with a gate for ConfigMaps and one for Secrets.
class Gated : public FrontEndFixture {
 public:
  Gated() {
    interference->on_request = [this](const RequestPtr& request) {
      const bool is_map = request->info.gvr.resource == "configmaps";
      return RequestVerdict::Read(nullptr, is_map ? maps : secrets);
    };
    front_end.SetInterference(interference);
  }
  Reply Watch(const std::string& path, const std::string& query = "") {
    return Get(absl::StrCat(path, "?watch=true", query));
  }
  Reply Change(const std::string& name, const std::string& value) {
    return Put(absl::StrCat(kMaps, "/", name), ConfigMap(name, value));
  }

  std::shared_ptr<WatchGate> maps = std::make_shared<WatchGate>();
  std::shared_ptr<WatchGate> secrets = std::make_shared<WatchGate>();
  std::shared_ptr<TestInterference> interference = std::make_shared<TestInterference>();
};

TEST_CASE_METHOD(Gated,
                 "a gate that is closed holds deliveries and releases as many as it is told") {
  const Reply watch = Watch(kMaps);
  Post(kMaps, ConfigMap("a"));
  maps->Hold();
  Post(kMaps, ConfigMap("b"));
  Change("b", "2");
  Delete(absl::StrCat(kMaps, "/a"));
  CHECK(watch.stream->Summary() == "ADDED a;");
  REQUIRE(maps->Held().size() == 3);
  CHECK(maps->Held()[1].type == "MODIFIED");
  CHECK(maps->Held()[1].object->name() == "b");
  CHECK(maps->Held()[2].version == backend.store().version());

  CHECK(maps->Release(1) == 1);
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;");
  CHECK(maps->Release(5) == 2);
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;MODIFIED b;DELETED a;");
  CHECK(maps->Release(1) == 0);

  Post(kMaps, ConfigMap("c"));
  CHECK(maps->Held().size() == 1);
  maps->Open();
  Post(kMaps, ConfigMap("d"));
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;MODIFIED b;DELETED a;ADDED c;ADDED d;");
}

TEST_CASE_METHOD(Gated, "watches of two kinds deliver in the order that their gates are opened") {
  const Reply map_watch = Watch(kMaps);
  const Reply secret_watch = Watch(kSecrets);
  maps->Hold();
  secrets->Hold();
  Post(kMaps, ConfigMap("a"));
  Post(kSecrets, Secret("s"));
  CHECK(interference->log() == "held ADDED a;held ADDED s;");
  secrets->Open();
  CHECK(map_watch.stream->Events().empty());
  maps->Open();
  CHECK(interference->log() == "held ADDED a;held ADDED s;sent ADDED s;sent ADDED a;");
  CHECK(secret_watch.stream->Summary() == "ADDED s;");
}

TEST_CASE_METHOD(Gated, "a gate releases the oldest event of all its watches first") {
  const Reply one = Watch(kMaps, "&fieldSelector=metadata.name=a");
  const Reply two = Watch(kMaps, "&fieldSelector=metadata.name=b");
  maps->Hold();
  Post(kMaps, ConfigMap("b"));
  Post(kMaps, ConfigMap("a"));
  CHECK(maps->watches() == 2);
  CHECK(maps->Release(1) == 1);
  CHECK(one.stream->Events().empty());
  CHECK(two.stream->Summary() == "ADDED b;");
  CHECK(maps->Release(1) == 1);
  CHECK(one.stream->Summary() == "ADDED a;");
}

TEST_CASE_METHOD(Gated, "a watch that begins behind a closed gate has its initial events held") {
  Post(kMaps, ConfigMap("a"));
  Post(kMaps, ConfigMap("b"));
  maps->Hold();
  const Reply watch = Watch(kMaps,
                            "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                            "&allowWatchBookmarks=true");
  REQUIRE(maps->Held().size() == 3);
  CHECK(maps->Held()[2].ends_initial_events);
  CHECK(maps->Release(1) == 1);
  CHECK(watch.stream->Summary() == "ADDED a;");
  CHECK(maps->Release(9) == 1);
  maps->Open();
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;BOOKMARK ;");
}

TEST_CASE_METHOD(Gated, "bookmarks go with the event behind them, and many become one") {
  const Reply watch = Watch(
      kMaps, absl::StrCat("&allowWatchBookmarks=true&resourceVersion=", backend.store().version()));
  maps->Hold();
  backend.store().Bookmark();
  Post(kMaps, ConfigMap("a"));
  backend.store().Bookmark();
  Post(kSecrets, Secret("s"));
  backend.store().Bookmark();
  CHECK(maps->Held().size() == 3);
  CHECK(maps->Release(1) == 1);
  CHECK(watch.stream->Summary() == "BOOKMARK ;ADDED a;");
  maps->Open();
  REQUIRE(watch.stream->Summary() == "BOOKMARK ;ADDED a;BOOKMARK ;");
  CHECK(watch.stream->Events()[2]["object"]["metadata"]["resourceVersion"].AsString() ==
        absl::StrCat(backend.store().version()));
}

TEST_CASE_METHOD(Gated, "watches that expire have their clients list again and see events merged") {
  const Reply watch = Watch(kMaps);
  maps->Hold();
  Post(kMaps, ConfigMap("a", "1"));
  Change("a", "2");
  Post(kMaps, ConfigMap("gone"));
  Delete(absl::StrCat(kMaps, "/gone"));
  maps->Expire();
  REQUIRE(watch.stream->Events().size() == 1);
  CHECK(watch.stream->Events()[0]["object"]["code"].AsInt() == 410);
  CHECK(watch.stream->Events()[0]["object"]["reason"].AsString() == "Expired");
  CHECK(watch.stream->properly());
  CHECK(maps->watches() == 0);
  CHECK(maps->Held().empty());
  maps->Open();
  const Reply again = Watch(kMaps);
  CHECK(again.stream->Summary() == "ADDED a;");
  CHECK(absl::StrContains(interference->log(), "sent ERROR ;sent ADDED a;"));
}

TEST_CASE_METHOD(Gated, "watches that are cut resume where their clients were") {
  const Reply watch = Watch(kMaps);
  Post(kMaps, ConfigMap("a", "1"));
  const int64_t seen = backend.store().version();
  maps->Hold();
  Change("a", "2");
  Change("a", "3");
  maps->Cut();
  CHECK(watch.stream->ended());
  CHECK_FALSE(watch.stream->properly());
  maps->Open();
  const Reply again = Watch(kMaps, absl::StrCat("&resourceVersion=", seen));
  CHECK(again.stream->Summary() == "MODIFIED a;MODIFIED a;");
}

TEST_CASE_METHOD(Gated, "a watch that is cut within an event has sent the half of it") {
  const Reply watch = Watch(kMaps);
  Post(kMaps, ConfigMap("a", "1"));
  const int64_t seen = backend.store().version();
  maps->CutWithinNext();
  Change("a", "2");
  Change("a", "3");
  CHECK(watch.stream->ended());
  CHECK_FALSE(watch.stream->properly());
  CHECK(watch.stream->Summary() == "ADDED a;");
  CHECK(absl::StartsWith(watch.stream->Unfinished(), R"({"type":"MODIFIED","object":{)"));
  const Reply again = Watch(kMaps, absl::StrCat("&resourceVersion=", seen));
  CHECK(again.stream->Summary() == "MODIFIED a;MODIFIED a;");
}

TEST_CASE_METHOD(Gated, "what is held can be released while the interference is told of it") {
  interference->on_held_back = [this](const Delivery&) {
    CHECK(maps->Held().size() == 1);
    CHECK(maps->Release(5) == 1);
  };
  const Reply watch = Watch(kMaps);
  maps->Hold();
  Post(kMaps, ConfigMap("a"));
  Post(kMaps, ConfigMap("b"));
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;");
  CHECK(interference->log() == "held ADDED a;sent ADDED a;held ADDED b;sent ADDED b;");
}

TEST_CASE_METHOD(Gated, "a delivery may write, and what it writes follows") {
  interference->on_delivery = [this](const Delivery& delivery) {
    if (delivery.object->name() != "a") return;
    CHECK(backend.Create(kConfigMaps, ConfigMap("b"), false).ok());
  };
  const Reply watch = Watch(kMaps);
  Post(kMaps, ConfigMap("a"));
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;");
}

TEST_CASE_METHOD(Gated, "a client that goes away leaves nothing in the gate") {
  const Reply watch = Watch(kMaps);
  maps->Hold();
  Post(kMaps, ConfigMap("a"));
  watch.stream->Abort();
  CHECK(maps->Held().empty());
  CHECK(maps->watches() == 0);
  CHECK(maps->Release(1) == 0);
  maps->Open();
}

TEST_CASE_METHOD(Gated, "a server that stops ends the watches that are held") {
  const Reply watch = Watch(kMaps);
  maps->Hold();
  Post(kMaps, ConfigMap("a"));
  front_end.DropAll();
  CHECK(watch.stream->ended());
  CHECK(maps->watches() == 0);
  maps->Open();
  CHECK(watch.stream->Events().empty());
}

TEST_CASE_METHOD(Gated, "a watch keeps its order, whoever writes, holds and releases") {
  constexpr int kWrites = 200;
  const Reply watch = Watch(kMaps);
  std::atomic<bool> done{false};
  std::thread releaser([&] {
    while (!done) {
      maps->Hold();
      maps->Release(3);
      maps->Open();
      maps->Release(1);
    }
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < kWrites; ++i) {
        base::IgnoreError(
            backend.Create(kConfigMaps, ConfigMap(absl::StrCat("m", w, "-", i)), false).status(),
            "the events are counted");
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  releaser.join();
  maps->Open();
  const auto events = watch.stream->Events();
  REQUIRE(events.size() == 2 * kWrites);
  int64_t last = 0;
  for (const json::Value& event : events) {
    const int64_t version = kube::ResourceVersionOf(kube::Object(event["object"]));
    CHECK(version > last);
    last = version;
  }
}

}  // namespace
}  // namespace sandbox
