// Lists and watches that read only some fields of objects.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/client/client.h"
#include "tests/kube/client/scripted_transport.h"
#include "tests/support/fake_clock.h"

namespace kube {
namespace {

const Resource kPods = {{"", "v1", "Pod"}, "pods", true};
const std::vector<std::string> kFields = {"status.phase", "spec.containers.*.resources"};

constexpr char kPod[] = R"({"metadata":{"name":"p","namespace":"n","uid":"u","labels":{"a":"b"},
  "resourceVersion":"7"},"spec":{"nodeName":"x","containers":[{"name":"c","resources":{"limits":{}}}]},
  "status":{"phase":"Running","podIP":"1.1.1.1"}})";
constexpr char kRead[] =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n",)"
    R"("resourceVersion":"7","uid":"u"},"spec":{"containers":[{"resources":{"limits":{}}}]},)"
    R"("status":{"phase":"Running"}})";

struct Recorder : WatchHandler {
  void OnEvent(EventType, Object object) override { objects.push_back(std::move(object)); }
  void OnEnd(absl::Status status) override { end = std::move(status); }
  std::vector<Object> objects;
  absl::Status end;
};

}  // namespace

TEST_CASE("Of a list's items only the wanted fields are read, and what tells objects apart") {
  tests::FakeClock clock;
  const auto transport = std::make_shared<tests::ScriptedTransport>([](const HttpRequest&, int) {
    return tests::Answer(
        200, absl::StrCat(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":)",
                          R"("9","continue":"more"},"items":[)", kPod, "]}"));
  });
  Client client(transport, {}, clock, nullptr);
  const auto page = client.List(kPods, "", {.fields = kFields}, {});
  REQUIRE(page.ok());
  CHECK(page->resource_version == "9");
  CHECK(page->continue_token == "more");
  REQUIRE(page->items.size() == 1);
  CHECK(json::Write(page->items[0].root()) == kRead);
}

TEST_CASE("Of a watch's objects only the wanted fields are read, but of an error everything") {
  tests::FakeClock clock;
  const auto transport = std::make_shared<tests::ScriptedTransport>(nullptr);
  Client client(transport, {}, clock, nullptr);
  Recorder recorder;
  const auto watch = client.StartWatch(kPods, "", {.fields = kFields}, recorder);
  transport->stream.on_head({.code = 200});
  const auto send = [&](absl::string_view type, absl::string_view object) {
    std::string line = absl::StrCat(R"({"type":")", type, R"(","object":)", object, "}");
    line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
    transport->stream.on_data(line + "\n");
  };
  send("MODIFIED", kPod);
  send("BOOKMARK", R"({"metadata":{"resourceVersion":"8","annotations":{"x":"y"}}})");
  REQUIRE(recorder.objects.size() == 2);
  CHECK(json::Write(recorder.objects[0].root()) == kRead);
  CHECK(recorder.objects[1].resource_version() == "8");
  send("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");
  CHECK(FailureOf(recorder.end).reason == "Expired");
  CHECK(FailureOf(recorder.end).message == "too old");
}

}  // namespace kube
