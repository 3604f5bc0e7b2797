// Watches as clients see them.
#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/kube/server/watch_lines.h"
#include "tests/sandbox/http/front_end_fixture.h"

namespace sandbox {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kWatch[] = "/api/v1/namespaces/default/configmaps?watch=true";

kube::Object Labelled(const std::string& name, const std::string& colour) {
  kube::Object o = ConfigMap(name);
  o.SetLabel("colour", colour);
  return o;
}

TEST_CASE("a watch without a version begins with what exists") {
  FrontEndFixture f;
  f.Post(kMaps, ConfigMap("a"));
  const Reply watch = f.Get(kWatch);
  f.Post(kMaps, ConfigMap("b"));
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;");
}

TEST_CASE("a watch from a version sees only what came later") {
  FrontEndFixture f;
  f.Post(kMaps, ConfigMap("a"));
  const std::string version = f.Get(kMaps).body["metadata"]["resourceVersion"].ToString();
  f.Post(kMaps, ConfigMap("b"));
  const Reply watch = f.Get(std::string(kWatch) + "&resourceVersion=" + version);
  f.Send({.method = "DELETE", .target = std::string(kMaps) + "/a"});
  CHECK(watch.stream->Summary() == "ADDED b;DELETED a;");
}

TEST_CASE("an object that enters or leaves the selection is added or deleted") {
  FrontEndFixture f;
  f.Post(kMaps, Labelled("a", "red"));
  f.Post(kMaps, Labelled("b", "blue"));
  const Reply watch = f.Get(std::string(kWatch) + "&labelSelector=colour=red");
  const auto paint = [&f](const std::string& name, const std::string& colour) {
    return f.Send({.method = "PUT",
                   .target = std::string(kMaps) + "/" + name,
                   .body = json::Write(Labelled(name, colour).root())});
  };
  const Reply painted = paint("a", "blue");
  paint("b", "red");
  paint("b", "green");
  CHECK(watch.stream->Summary() == "ADDED a;DELETED a;ADDED b;DELETED b;");
  const json::Value left = watch.stream->Events()[1]["object"];
  CHECK(left["metadata"]["labels"]["colour"].AsString() == "red");
  CHECK(left["metadata"]["resourceVersion"] == painted.body["metadata"]["resourceVersion"]);
}

TEST_CASE("a watch of one name sees that object only") {
  FrontEndFixture f;
  const Reply watch = f.Get(std::string(kWatch) + "&fieldSelector=metadata.name=b");
  f.Post(kMaps, ConfigMap("a"));
  f.Post(kMaps, ConfigMap("b"));
  CHECK(watch.stream->Summary() == "ADDED b;");
}

TEST_CASE("an expired version ends the watch with a 410 in its stream") {
  FrontEndFixture f;
  f.faults.ExpireHistory();
  const Reply watch = f.Get(std::string(kWatch) + "&resourceVersion=1");
  CHECK(watch.code == 200);
  REQUIRE(watch.stream->Events().size() == 1);
  const json::Value event = watch.stream->Events()[0];
  CHECK(event["type"].AsString() == "ERROR");
  CHECK(event["object"]["code"].AsInt() == 410);
  CHECK(event["object"]["reason"].AsString() == "Expired");
  CHECK(watch.stream->properly());
}

TEST_CASE("bookmarks are sent to clients that asked for them") {
  FrontEndFixture f;
  const Reply with = f.Get(std::string(kWatch) + "&allowWatchBookmarks=true");
  const Reply without = f.Get(kWatch);
  f.Post("/api/v1/namespaces/default/secrets",
         kube::Object::Make({"", "v1", "Secret"}, {"default", "other"}));
  f.backend.store().Bookmark();
  // The first one ends the initial objects, of which there are none.
  REQUIRE(with.stream->Events().size() == 2);
  const json::Value bookmark = with.stream->Events()[1];
  CHECK(bookmark["type"].AsString() == "BOOKMARK");
  CHECK_FALSE(bookmark["object"]["metadata"].Has("annotations"));
  CHECK(bookmark["object"]["kind"].AsString() == "ConfigMap");
  CHECK(bookmark["object"]["metadata"]["resourceVersion"].AsString() ==
        std::to_string(f.backend.store().version()));
  CHECK(without.stream->Events().empty());
}

TEST_CASE("sendInitialEvents marks where the initial objects end") {
  FrontEndFixture f;
  f.Post(kMaps, ConfigMap("a"));
  const Reply watch = f.Get(std::string(kWatch) +
                            "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                            "&allowWatchBookmarks=true");
  REQUIRE(watch.stream->Summary() == "ADDED a;BOOKMARK ;");
  CHECK(watch.stream->Events()[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"]
            .AsString() == "true");
  CHECK(f.Get(std::string(kWatch) + "&sendInitialEvents=true").code == 422);
  CHECK(f.Get(std::string(kWatch) + "&sendInitialEvents=false").code == 422);
  const Reply later =
      f.Get(std::string(kWatch) + "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  CHECK(later.stream->Events().empty());
}

TEST_CASE("a watch of the sandbox has the lines of every watch") {
  FrontEndFixture f;
  f.Post(kMaps, ConfigMap("a"));
  const auto lines = [&](const std::string& accept) {
    return f.Get(absl::StrCat(kWatch, "&", tests::kWatchList), accept).stream->Events();
  };
  tests::CheckFormsOfWatch(lines, "ConfigMap", "a");
}

TEST_CASE("a watch of tables sends the columns once") {
  FrontEndFixture f;
  const Reply watch = f.Get(kWatch, "application/json;as=Table;v=v1;g=meta.k8s.io");
  f.Post(kMaps, ConfigMap("a"));
  f.Post(kMaps, ConfigMap("b"));
  const auto events = watch.stream->Events();
  REQUIRE(events.size() == 2);
  CHECK(events[0]["object"]["columnDefinitions"].size() == 3);
  CHECK(events[1]["object"]["columnDefinitions"].is_null());
  CHECK(events[1]["object"]["rows"].At(0)["cells"].At(0).AsString() == "b");
}

TEST_CASE("dropped watches are cut off, and their subscriptions end") {
  FrontEndFixture f;
  const Reply watch = f.Get(kWatch);
  f.faults.DropWatches();
  CHECK(watch.stream->ended());
  CHECK_FALSE(watch.stream->properly());
  f.Post(kMaps, ConfigMap("a"));
  CHECK(watch.stream->Events().empty());
}

TEST_CASE("a watcher that disconnects gets no more events") {
  FrontEndFixture f;
  const Reply watch = f.Get(kWatch);
  watch.stream->Abort();
  f.Post(kMaps, ConfigMap("a"));
  CHECK(watch.stream->Events().empty());
}

}  // namespace
}  // namespace sandbox
