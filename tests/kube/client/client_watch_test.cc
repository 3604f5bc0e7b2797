#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/byte_budget.h"
#include "kube/client/client.h"
#include "tests/kube/client/scripted_transport.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

const Resource kPods = {{"", "v1", "Pod"}, "pods", true};

class Recorder : public WatchHandler {
 public:
  void OnEvent(EventType type, Object object) override {
    static constexpr const char* kNames[] = {"added", "modified", "deleted", "bookmark"};
    events.push_back(absl::StrCat(kNames[static_cast<int>(type)], " ", object.name(), "@",
                                  object.resource_version(), " ", object.kind()));
  }
  bool OnKnownState(absl::string_view resource_version) override {
    if (resource_version != known) return false;
    events.push_back(absl::StrCat("known @", resource_version));
    return true;
  }
  void OnEnd(absl::Status status) override { ends.push_back(std::move(status)); }
  std::string known;
  std::vector<std::string> events;
  std::vector<absl::Status> ends;
};

struct Fixture {
  Fixture() {
    watch =
        client.StartWatch(kPods, "a", {.label_selector = "x=y", .resource_version = "5"}, recorder);
  }
  void Head(int code) { transport->stream.on_head({.code = code}); }
  void Data(const std::string& bytes) { transport->stream.on_data(bytes); }
  void End(const absl::Status& status) { transport->stream.on_end(status); }

  tests::FakeClock clock;
  std::shared_ptr<tests::ScriptedTransport> transport =
      std::make_shared<tests::ScriptedTransport>(nullptr);
  Client client{transport, {}, clock, nullptr};
  Recorder recorder;
  std::unique_ptr<Watch> watch;
};

std::string Event(const std::string& type, const std::string& name, int version) {
  return absl::StrCat(R"({"type":")", type, R"(","object":{"metadata":{"name":")", name,
                      R"(","resourceVersion":")", version, "\"}}}\n");
}

}  // namespace

TEST_CASE("A watch asks for bookmarks, a server-side end and its version") {
  Fixture f;
  const HttpRequest request = f.transport->requests().at(0);
  const std::string timeout = "&timeoutSeconds=";
  const size_t at = request.path.find(timeout) + timeout.size();
  CHECK(request.path.substr(0, at) ==
        "/api/v1/namespaces/a/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=");
  CHECK(request.path.substr(request.path.find('&', at)) ==
        "&labelSelector=x%3Dy&resourceVersion=5");
  CHECK(request.timeout == absl::Seconds(180));
}

TEST_CASE("An error answer that does not end is reported when it is large or late") {
  Fixture f;
  f.Head(500);
  for (int i = 0; i < 64 && f.recorder.ends.empty(); ++i) f.Data(std::string(2 << 10, 'x'));
  REQUIRE(f.recorder.ends.size() == 1);
  CHECK(absl::IsUnavailable(f.recorder.ends[0]));

  Fixture slow;
  slow.Head(410);
  for (int i = 0; i < 40 && slow.recorder.ends.empty(); ++i) {
    slow.clock.Advance(absl::Seconds(1));
    slow.Data("{");
  }
  REQUIRE(slow.recorder.ends.size() == 1);
  CHECK(absl::IsOutOfRange(slow.recorder.ends[0]));
  CHECK(FailureOf(slow.recorder.ends[0]).code == 410);
  slow.End(absl::OkStatus());
  CHECK(slow.recorder.ends.size() == 1);
}

TEST_CASE("A watch whose server does not end it ends all the same, to be resumed") {
  Fixture f;
  f.Head(200);
  f.Data(Event("ADDED", "p", 6));
  for (int i = 0; i < 30 && f.recorder.ends.empty(); ++i) {
    f.clock.Advance(absl::Minutes(1));
    f.Data("\n");
  }
  REQUIRE(f.recorder.ends.size() == 1);
  CHECK(f.recorder.ends[0].ok());
  CHECK(f.recorder.events == std::vector<std::string>{"added p@6 Pod"});
}

TEST_CASE("Watches end at different times, after five to ten minutes") {
  std::set<int> seconds;
  for (int i = 0; i < 50; ++i) {
    const std::string path = Fixture().transport->requests().at(0).path;
    int given = 0;
    REQUIRE(absl::SimpleAtoi(path.substr(path.find("timeoutSeconds=") + 15, 3), &given));
    CHECK(given >= 300);
    CHECK(given <= 600);
    seconds.insert(given);
  }
  CHECK(seconds.size() > 5);
}

TEST_CASE("An event that is larger than any object is refused") {
  Fixture f;
  f.Head(200);
  const std::string block(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) f.Data(block);
  REQUIRE(f.recorder.ends.size() == 1);
  CHECK(absl::IsResourceExhausted(f.recorder.ends[0]));
}

TEST_CASE("A watch reports events of all types in order, then a proper end") {
  Fixture f;
  f.Head(200);
  const std::string body = Event("ADDED", "p", 6) + Event("MODIFIED", "p", 7) +
                           Event("BOOKMARK", "", 8) + Event("DELETED", "p", 9);
  f.Data(body.substr(0, 100));
  f.Data(body.substr(100));
  f.End(absl::OkStatus());
  CHECK(f.recorder.events == std::vector<std::string>{"added p@6 Pod", "modified p@7 Pod",
                                                      "bookmark @8 Pod", "deleted p@9 Pod"});
  REQUIRE(f.recorder.ends.size() == 1);
  CHECK(f.recorder.ends[0].ok());
}

TEST_CASE("A state that the receiver knows is not read, a deletion always is") {
  Fixture f;
  f.recorder.known = "7";
  f.Head(200);
  f.Data(Event("ADDED", "p", 6) + Event("MODIFIED", "p", 7) + Event("DELETED", "p", 7) +
         Event("BOOKMARK", "", 7));
  CHECK(f.recorder.events == std::vector<std::string>{"added p@6 Pod", "known @7",
                                                      "deleted p@7 Pod", "bookmark @7 Pod"});
}

TEST_CASE("An ERROR event ends the watch with the server's code, and nothing comes after it") {
  Fixture f;
  f.Head(200);
  f.Data(
      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","
      "\"message\":\"too old\"}}\n" +
      Event("ADDED", "p", 6));
  f.Data(Event("ADDED", "q", 7));
  f.End(absl::OkStatus());
  CHECK(f.recorder.events.empty());
  REQUIRE(f.recorder.ends.size() == 1);
  CHECK(absl::IsOutOfRange(f.recorder.ends[0]));
  CHECK(f.recorder.ends[0].message() == "watch pods in a: too old");
  CHECK(FailureOf(f.recorder.ends[0]).reason == "Expired");
}

TEST_CASE("A refused watch ends with the error that the body describes") {
  Fixture f;
  f.Head(403);
  f.Data(R"({"kind":"Status","message":)");
  f.Data(R"("no access"})");
  CHECK(f.recorder.ends.empty());
  f.End(absl::OkStatus());
  REQUIRE(f.recorder.ends.size() == 1);
  CHECK(absl::IsPermissionDenied(f.recorder.ends[0]));
  CHECK(f.recorder.ends[0].message() == "watch pods in a: no access");
}

TEST_CASE("Broken, cut and malformed watches end with an error") {
  struct Case {
    const char* data;
    absl::Status end;
    absl::StatusCode want;
  };
  for (const Case& c : {
           Case{"", absl::UnavailableError("broke"), absl::StatusCode::kUnavailable},
           Case{"", absl::CancelledError("by the library"), absl::StatusCode::kUnavailable},
           Case{"{\"type\":\"AD", absl::OkStatus(), absl::StatusCode::kUnavailable},
           Case{"nonsense\n", absl::OkStatus(), absl::StatusCode::kInvalidArgument},
           Case{"{\"type\":\"ODD\",\"object\":{}}\n", absl::OkStatus(),
                absl::StatusCode::kInvalidArgument},
       }) {
    CAPTURE(c.data, c.end);
    Fixture f;
    f.Head(200);
    f.Data(c.data);
    f.End(c.end);
    REQUIRE(f.recorder.ends.size() == 1);
    CHECK(f.recorder.ends[0].code() == c.want);
  }
}

TEST_CASE_METHOD(Fixture, "An event that has not ended after a minute ends the watch") {
  const std::string event = Event("ADDED", "x", 6);
  Head(200);
  Data(event.substr(0, 10));
  clock.Advance(absl::Seconds(60));
  Data(event.substr(10, 1));
  CHECK(recorder.ends.empty());
  clock.Advance(absl::Seconds(1));
  Data(event.substr(11, 1));
  REQUIRE(recorder.ends.size() == 1);
  CHECK(absl::IsUnavailable(recorder.ends[0]));
  CHECK(recorder.ends[0].message() == "watch pods in a: an event has not ended after 1m");
}

TEST_CASE_METHOD(Fixture, "Each event has a minute of its own") {
  const std::string event = Event("ADDED", "x", 6);
  Head(200);
  Data(event.substr(0, 10));
  for (int i = 0; i < 5; ++i) {
    clock.Advance(absl::Seconds(40));
    Data(absl::StrCat(event.substr(10), event.substr(0, 10)));
  }
  CHECK(recorder.ends.empty());
  CHECK(recorder.events.size() == 5);
}

TEST_CASE("Unfinished events of all watches of a client are charged together") {
  const auto budget = std::make_shared<base::ByteBudget>(1000);
  const auto transport = std::make_shared<tests::ScriptedTransport>(nullptr);
  tests::FakeClock clock;
  Client client(transport, {.memory = budget}, clock, nullptr);
  Recorder first, second;
  auto watch = client.StartWatch(kPods, "a", {}, first);
  const StreamCallbacks stream = transport->stream;
  auto other = client.StartWatch(kPods, "b", {}, second);
  stream.on_head({.code = 200});
  transport->stream.on_head({.code = 200});

  stream.on_data(std::string(700, 'x'));
  CHECK(budget->used() == 700);
  transport->stream.on_data(std::string(200, 'x'));
  CHECK(second.ends.empty());
  transport->stream.on_data(std::string(200, 'x'));
  REQUIRE(second.ends.size() == 1);
  CHECK(absl::IsResourceExhausted(second.ends[0]));
  CHECK(budget->used() == 700);
  CHECK(first.ends.empty());
  watch.reset();
  CHECK(budget->used() == 0);
}

}  // namespace kube
