// Reads and watches as of another API server that lags.
#include "sandbox/http/lag.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/sandbox/http/front_end_fixture.h"
#include "tests/sandbox/http/test_interference.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"

namespace sandbox {
namespace {

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kInitial[] =
    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

// There before the fixture is, and still there after it.
struct WithClock {
  tests::FakeClock clock;
};

// A server whose reads and watches lag once a lag is set.
class Lagging : public WithClock, public FrontEndFixture {
 public:
  Lagging() : FrontEndFixture(clock) {
    interference->on_request = [this](const RequestPtr& request) {
      return request->IsWrite() ? RequestVerdict::Pass() : RequestVerdict::Read(lag);
    };
    front_end.SetInterference(interference);
  }

  // Creates or updates an object and returns the version of that.
  int64_t Write(const std::string& name, const std::string& value = "1") {
    const Reply posted = Post(kMaps, ConfigMap(name, value));
    if (posted.code == 409) Put(absl::StrCat(kMaps, "/", name), ConfigMap(name, value));
    return version();
  }
  int64_t version() { return backend.store().version(); }
  std::string Names(const std::string& query = "") {
    std::string out;
    const Reply list = Get(absl::StrCat(kMaps, query));
    if (list.code != 200) return absl::StrCat(list.code);
    for (const json::Value& item : list.body["items"].items()) {
      absl::StrAppend(&out, item["metadata"]["name"].AsString(), "=",
                      item["data"]["key"].AsString(), ";");
    }
    return out;
  }
  std::string ListVersion(const std::string& query = "") {
    return Get(absl::StrCat(kMaps, query)).body["metadata"]["resourceVersion"].ToString();
  }
  Reply Watch(const std::string& query) { return Get(absl::StrCat(kMaps, "?watch=true", query)); }
  int64_t Count(int code) const {
    int64_t count = 0;
    for (const RequestCount& c : counts.All()) count += c.code == code ? c.count : 0;
    return count;
  }

  std::shared_ptr<Lag> lag;
  std::shared_ptr<TestInterference> interference = std::make_shared<TestInterference>();
};

TEST_CASE_METHOD(Lagging, "every read of a server that lags shows the earlier state") {
  Write("a", "1");
  Write("b", "1");
  const int64_t then = Write("c", "1");
  Write("a", "2");
  Delete(absl::StrCat(kMaps, "/b"));
  Write("d", "1");
  lag = std::make_shared<Lag>(then, Lag::Reads::kAll);
  CHECK(Names() == "a=1;b=1;c=1;");
  CHECK(ListVersion() == absl::StrCat(then));
  CHECK(Names("?resourceVersion=0") == "a=1;b=1;c=1;");
  CHECK(Names("?labelSelector=none") == "");
  CHECK(Get(absl::StrCat(kMaps, "/a")).body["data"]["key"].AsString() == "1");
  CHECK(Get(absl::StrCat(kMaps, "/b")).code == 200);
  CHECK(Get(absl::StrCat(kMaps, "/d")).code == 404);

  const Reply page = Get(absl::StrCat(kMaps, "?limit=2"));
  const std::string next = page.body["metadata"]["continue"].ToString();
  CHECK(page.body["items"].size() == 2);
  CHECK(page.body["metadata"]["resourceVersion"].AsString() == absl::StrCat(then));
  CHECK(Names(absl::StrCat("?limit=2&continue=", next)) == "c=1;");

  lag->End();
  CHECK(Names() == "a=2;c=1;d=1;");
  CHECK(Get(absl::StrCat(kMaps, "/d")).code == 200);
}

TEST_CASE_METHOD(Lagging, "what a kube-apiserver reads from etcd does not lag with its cache") {
  const int64_t then = Write("a", "1");
  Write("a", "2");
  lag = std::make_shared<Lag>(then);
  CHECK(Names() == "a=2;");
  CHECK(Names("?limit=5") == "a=2;");
  CHECK(Names(absl::StrCat("?limit=5&resourceVersion=", version())) == "a=2;");
  CHECK(Names(absl::StrCat("?resourceVersionMatch=Exact&resourceVersion=", version())) == "a=2;");
  CHECK(Names("?resourceVersion=0") == "a=1;");
  CHECK(Names("?limit=5&resourceVersion=0") == "a=1;");
  CHECK(Names(absl::StrCat("?resourceVersion=", then)) == "a=1;");
  CHECK(Get(absl::StrCat(kMaps, "/a")).body["data"]["key"].AsString() == "2");
  CHECK(Get(absl::StrCat(kMaps, "/a?resourceVersion=0")).body["data"]["key"].AsString() == "1");
}

TEST_CASE_METHOD(Lagging, "writes through a server that lags meet the present state") {
  const int64_t then = Write("a", "1");
  Write("a", "2");
  lag = std::make_shared<Lag>(then, Lag::Reads::kAll);
  kube::Object old(Get(absl::StrCat(kMaps, "/a")).body);
  CHECK(Put(absl::StrCat(kMaps, "/a"), old).code == 409);
}

TEST_CASE_METHOD(Lagging, "a watch of a server that lags gets what was held back, in order") {
  Write("a", "1");
  const int64_t then = Write("b", "1");
  Write("a", "2");
  lag = std::make_shared<Lag>(then);
  const Reply watch = Watch("&resourceVersion=0");
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;");
  CHECK(watch.stream->Events()[0]["object"]["data"]["key"].AsString() == "1");
  const int64_t later = Write("c");
  Delete(absl::StrCat(kMaps, "/b"));
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;");
  lag->MoveTo(later);
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;MODIFIED a;ADDED c;");
  lag->End();
  Write("d");
  CHECK(watch.stream->Summary() == "ADDED a;ADDED b;MODIFIED a;ADDED c;DELETED b;ADDED d;");
}

TEST_CASE_METHOD(Lagging, "a watch goes on from a version that the lag has not reached") {
  const int64_t then = Write("a", "1");
  Write("b");
  const int64_t known = Write("c");
  Write("d");
  lag = std::make_shared<Lag>(then);
  const Reply watch = Watch(absl::StrCat("&resourceVersion=", known));
  CHECK(watch.stream->Events().empty());
  lag->End();
  CHECK(watch.stream->Summary() == "ADDED d;");
}

TEST_CASE_METHOD(Lagging, "bookmarks do not run ahead of a lag") {
  const int64_t then = Write("a");
  const int64_t later = Write("b");
  lag = std::make_shared<Lag>(then);
  const Reply watch = Watch(absl::StrCat("&resourceVersion=", then, "&allowWatchBookmarks=true"));
  backend.store().Bookmark();
  backend.store().Bookmark();
  CHECK(watch.stream->Events().empty());
  lag->MoveTo(later);
  CHECK(watch.stream->Summary() == "ADDED b;BOOKMARK ;");
}

TEST_CASE_METHOD(Lagging, "the initial events end when a lag has reached what was promised") {
  Write("a");
  const int64_t then = version();
  Write("b");
  SECTION("without a version: the present state") {
    lag = std::make_shared<Lag>(then);
    const Reply watch = Watch(kInitial);
    CHECK(watch.stream->Summary() == "ADDED a;");
    lag->End();
    CHECK(watch.stream->Summary() == "ADDED a;ADDED b;BOOKMARK ;");
  }
  SECTION("with any version, or when every read lags: the earlier state") {
    const bool all = GENERATE(false, true);
    lag = std::make_shared<Lag>(then, all ? Lag::Reads::kAll : Lag::Reads::kFromCache);
    const Reply watch = Watch(absl::StrCat(kInitial, all ? "" : "&resourceVersion=0"));
    CHECK(watch.stream->Summary() == "ADDED a;BOOKMARK ;");
    CHECK(watch.stream->Events()[1]["object"]["metadata"]["resourceVersion"].AsString() ==
          absl::StrCat(then));
    lag->End();
    CHECK(watch.stream->Summary() == "ADDED a;BOOKMARK ;ADDED b;");
  }
}

TEST_CASE_METHOD(Lagging, "a read of a later version waits for the lag to reach it") {
  const int64_t then = Write("a", "1");
  const int64_t later = Write("a", "2");
  Write("a", "3");
  lag = std::make_shared<Lag>(then);
  const auto list = Begin({.target = absl::StrCat(kMaps, "?resourceVersion=", later)});
  const auto get = Begin({.target = absl::StrCat(kMaps, "/a?resourceVersion=", later)});
  const auto watch =
      Begin({.target = absl::StrCat(kMaps, "?watch=true&resourceVersion=", later, kInitial)});
  CHECK(list->response.code == -1);
  CHECK(get->response.code == -1);
  CHECK(watch->response.code == -1);
  lag->MoveTo(later);
  CHECK((*json::Parse(list->response.body))["items"].items()[0]["data"]["key"].AsString() == "2");
  CHECK((*json::Parse(get->response.body))["data"]["key"].AsString() == "2");
  REQUIRE(watch->stream != nullptr);
  CHECK(watch->stream->Summary() == "ADDED a;BOOKMARK ;");
}

TEST_CASE_METHOD(Lagging, "a read of a later version is refused after three seconds") {
  const int64_t then = Write("a", "1");
  const int64_t later = Write("a", "2");
  lag = std::make_shared<Lag>(then);
  const auto list = Begin({.target = absl::StrCat(kMaps, "?resourceVersion=", later)});
  clock.AwaitWaiters(1);
  clock.AdvanceAndAwait(absl::Milliseconds(2900));
  CHECK(Count(504) == 0);
  clock.AdvanceAndAwait(absl::Milliseconds(100));
  REQUIRE(tests::Eventually([&] { return Count(504) == 1; }));
  timers.Stop();  // So that the answer may be looked at.
  const json::Value status = *json::Parse(list->response.body);
  CHECK(status["message"].AsString() ==
        absl::StrCat("Timeout: Too large resource version: ", later, ", current: ", then));
  CHECK(status["details"]["retryAfterSeconds"].AsInt() == 1);
}

TEST_CASE_METHOD(Lagging, "a watch that begins with a later state is refused in its stream") {
  const int64_t then = Write("a", "1");
  const int64_t later = Write("a", "2");
  lag = std::make_shared<Lag>(then);
  const size_t before = interference->outcomes().size();
  const auto watch =
      Begin({.target = absl::StrCat(kMaps, "?watch=true&resourceVersion=", later, kInitial)});
  clock.AwaitWaiters(1);
  clock.AdvanceAndAwait(absl::Seconds(3));
  REQUIRE(tests::Eventually([&] { return interference->outcomes().size() > before; }));
  timers.Stop();
  REQUIRE(watch->stream != nullptr);
  REQUIRE(watch->stream->Events().size() == 1);
  CHECK(watch->stream->Events()[0]["type"].AsString() == "ERROR");
  CHECK(watch->stream->Events()[0]["object"]["code"].AsInt() == 504);
  CHECK(watch->stream->properly());
}

TEST_CASE_METHOD(Lagging, "a read that waits for a lag is dropped when the server stops") {
  const int64_t then = Write("a", "1");
  const int64_t later = Write("a", "2");
  lag = std::make_shared<Lag>(then);
  const auto list = Begin({.target = absl::StrCat(kMaps, "?resourceVersion=", later)});
  front_end.DropAll();
  CHECK(list->response.code == 0);
  lag->End();
  CHECK(list->response.code == 0);
}

}  // namespace
}  // namespace sandbox
