#include "kube/runtime/enqueue.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "kube/runtime/work_queue.h"
#include "tests/support/fake_clock.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using tests::Pod;

Object Parse(absl::string_view text) { return Object(*json::Parse(text)); }

TEST_CASE("a generation that comes again with another spec has changed") {
  const Object before = Parse(R"({"metadata": {"generation": 3}, "spec": {"a": 1}})");
  CHECK_FALSE(GenerationChanged(
      before, Parse(R"({"metadata": {"generation": 3}, "spec": {"a": 1}, "status": {"b": 2}})")));
  CHECK(GenerationChanged(before, Parse(R"({"metadata": {"generation": 3}, "spec": {"a": 2}})")));
  CHECK(GenerationChanged(before, Parse(R"({"metadata": {"generation": 3,
      "deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"a": 1}})")));
}

TEST_CASE("labels and annotations are content, the status is not") {
  const Object before = Pod("a");
  Object after = before;
  after.Set({"status", "phase"}, "Running");
  CHECK_FALSE(ContentChanged(before, after));
  SECTION("labels") { after.SetLabel("a", "b"); }
  SECTION("annotations") { after.SetAnnotation("a", "b"); }
  SECTION("the spec") { after.Set({"spec", "nodeName"}, "n"); }
  CHECK(ContentChanged(before, after));
}

TEST_CASE("events become requests as the predicates and the mapping say") {
  tests::FakeClock clock;
  WorkQueue queue({.name = "q"}, clock);
  const auto is_named_a = [](const Object& o) { return o.name() == "a"; };
  const auto owner = [](const Object& o) {
    return std::vector<Request>{{.key = {"", std::string(o.Label("owner"))}}};
  };
  const auto owned = [](const char* by) {
    Object pod = Pod("a");
    pod.SetLabel("owner", by);
    return Share(pod);
  };
  SECTION("initial adds come with low priority") {
    const EventHandler handler = EnqueueHandler(queue, {});
    handler.on_add(Share(Pod("a")), true);
    CHECK(queue.Get()->priority == kInitialListPriority);
    handler.on_add(Share(Pod("b")), false);
    CHECK(queue.Get()->priority == kNormalPriority);
  }
  SECTION("predicates drop events") {
    const EventHandler handler = EnqueueHandler(
        queue, {.when = {.add = is_named_a, .update = NeverUpdate, .remove = Never}});
    handler.on_add(Share(Pod("b")), false);
    handler.on_update(owned("x"), owned("y"));
    handler.on_delete(owned("x"));
    CHECK(queue.size() == 0);
    handler.on_add(Share(Pod("a")), false);
    CHECK(queue.size() == 1);
  }
  SECTION("an update is mapped from both its states") {
    EnqueueHandler(queue, {.map = owner}).on_update(owned("x"), owned("y"));
    CHECK(queue.Get()->request.key.name == "x");
    CHECK(queue.Get()->request.key.name == "y");
  }
  SECTION("an update can be mapped by comparing its states") {
    const auto change = [](const Object& before, const Object& after) {
      return std::vector<Request>{
          {.key = {"", absl::StrCat(before.Label("owner"), " to ", after.Label("owner"))}}};
    };
    EnqueueHandler(queue, {.map = owner, .map_update = change}).on_update(owned("x"), owned("y"));
    CHECK(queue.Get()->request.key.name == "x to y");
    CHECK(queue.size() == 0);
  }
  SECTION("with a delay, requests wait and those of one key become one") {
    const EventHandler handler = EnqueueHandler(queue, {.delay = absl::Seconds(1)});
    handler.on_add(Share(Pod("a")), false);
    handler.on_update(owned("x"), owned("y"));
    CHECK(queue.size() == 1);
    CHECK(queue.Idle());
    clock.Advance(absl::Seconds(1));
    CHECK(queue.Get()->request.key.name == "a");
    CHECK(queue.size() == 0);
  }
  SECTION("with a delay of removals, only requests for what is gone wait") {
    const auto for_b = [](const Object& last) {
      return last.name() == "b" ? absl::Seconds(1) : absl::ZeroDuration();
    };
    const EventHandler handler = EnqueueHandler(queue, {.removal_delay = for_b});
    handler.on_delete(Share(Pod("b")));
    CHECK(queue.Idle());
    handler.on_delete(Share(Pod("a")));
    CHECK(queue.Get()->request.key.name == "a");
    clock.Advance(absl::Seconds(1));
    CHECK(queue.Get()->request.key.name == "b");
  }
}

}  // namespace
}  // namespace kube
