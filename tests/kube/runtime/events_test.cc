#include "kube/runtime/events.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "kube/runtime/internal/event_correlator.h"
#include "kube/runtime/internal/lru_cache.h"
#include "kube/runtime/worker_pool.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/pods.h"

namespace kube {
namespace {

using internal::EventCorrelator;
using internal::EventNote;
using tests::Eventually;
using tests::Pod;

const Resource kEvents{{"", "v1", "Event"}, "events", true};

// Makes notes about pod "a", whose resourceVersion changes with each note unless a test sets it.
class Notes {
 public:
  EventNote Make(const std::string& message) {
    return {"src",
            InvolvedObject::Of(Pod("a", ++version_, "u")),
            EventType::kNormal,
            "Why",
            message,
            absl::FromUnixSeconds(1'700'000'000),
            now_ = now_ + absl::Seconds(1)};
  }
  void Pass(absl::Duration d) { now_ = now_ + d; }

 private:
  int64_t version_ = 0;
  base::SteadyTime now_;
};

// Returns what the correlator makes of a note when every write succeeds.
std::string Outcome(EventCorrelator& correlator, const EventNote& note) {
  const auto decision = correlator.Correlate(note);
  if (!decision.has_value()) return "dropped";
  correlator.Written(*decision);
  if (decision->patch.is_null()) return "new: " + decision->event.root()["message"].ToString();
  return absl::StrCat("count ", decision->patch["count"].AsInt(), ": ",
                      decision->patch["message"].AsString());
}

TEST_CASE("an equal event about a changed object is counted on the first one") {
  EventCorrelator correlator;
  Notes notes;
  CHECK(Outcome(correlator, notes.Make("m")) == "new: m");
  CHECK(Outcome(correlator, notes.Make("m")) == "count 2: m");
  CHECK(Outcome(correlator, notes.Make("other")) == "new: other");
  CHECK(Outcome(correlator, notes.Make("m")) == "count 3: m");
}

TEST_CASE("where every success is reported, one without a version is no repetition") {
  Notes notes;
  EventNote note = notes.Make("m");
  note.about.resource_version.clear();
  SECTION("of the same success") {
    EventCorrelator correlator(true);
    CHECK(Outcome(correlator, note) == "new: m");
    CHECK(Outcome(correlator, note) == "count 2: m");
  }
  SECTION("but a failure is") {
    EventCorrelator correlator(true);
    note.type = EventType::kWarning;
    CHECK(Outcome(correlator, note) == "new: m");
    CHECK(Outcome(correlator, note) == "dropped");
  }
  SECTION("and elsewhere a success is") {
    EventCorrelator correlator;
    CHECK(Outcome(correlator, note) == "new: m");
    CHECK(Outcome(correlator, note) == "dropped");
  }
}

TEST_CASE("an equal event about an unchanged object is dropped for ten minutes") {
  EventCorrelator correlator;
  Notes notes;
  EventNote note = notes.Make("m");
  CHECK(Outcome(correlator, note) == "new: m");
  note.at = note.at + absl::Minutes(5);
  CHECK(Outcome(correlator, note) == "dropped");
  SECTION("but not when something else was said in between") {
    EventNote other = note;
    other.message = "other";
    CHECK(Outcome(correlator, other) == "new: other");
    CHECK(Outcome(correlator, note) == "count 2: m");
  }
  SECTION("nor of another type or object") {
    EventNote warning = note;
    warning.type = EventType::kWarning;
    CHECK(Outcome(correlator, warning) == "new: m");
    note.about.uid = "successor";
    CHECK(Outcome(correlator, note) == "new: m");
  }
  SECTION("nor later") {
    note.at = note.at + absl::Minutes(5);
    CHECK(Outcome(correlator, note) == "count 2: m");
  }
}

TEST_CASE("many similar events become one") {
  EventCorrelator correlator;
  Notes notes;
  for (int i = 1; i <= 9; ++i) {
    const std::string message = absl::StrCat("m", i);
    CHECK(Outcome(correlator, notes.Make(message)) == "new: " + message);
  }
  CHECK(Outcome(correlator, notes.Make("m10")) == "new: (combined from similar events): m10");
  CHECK(Outcome(correlator, notes.Make("m11")) == "count 2: (combined from similar events): m11");
  notes.Pass(absl::Minutes(11));
  CHECK(Outcome(correlator, notes.Make("m12")) == "new: m12");
}

TEST_CASE("a source that is noisy about one object is limited to a burst of 25") {
  EventCorrelator correlator;
  Notes notes;
  for (int i = 0; i < 25; ++i) CHECK(Outcome(correlator, notes.Make("m")) != "dropped");
  CHECK(Outcome(correlator, notes.Make("m")) == "dropped");
  EventNote other_object = notes.Make("m");
  other_object.about.name = "b";
  CHECK(Outcome(correlator, other_object) == "new: m");
  notes.Pass(absl::Seconds(300));
  CHECK(Outcome(correlator, notes.Make("m")) == "count 26: m");
  CHECK(Outcome(correlator, notes.Make("m")) == "dropped");
}

TEST_CASE("an event that the limit dropped is written once the limit allows it") {
  EventCorrelator correlator;
  Notes notes;
  for (int i = 0; i < 25; ++i) REQUIRE(Outcome(correlator, notes.Make("m")) != "dropped");
  EventNote outage = notes.Make("outage");
  CHECK(Outcome(correlator, outage) == "dropped");
  outage.at = outage.at + absl::Seconds(300);  // The object is unchanged.
  CHECK(Outcome(correlator, outage) == "new: outage");
}

TEST_CASE("an event whose first writing failed is written again, not counted") {
  EventCorrelator correlator;
  Notes notes;
  REQUIRE(correlator.Correlate(notes.Make("m")).has_value());  // The event is never Written.
  CHECK(Outcome(correlator, notes.Make("m")) == "new: m");
}

TEST_CASE("the cache forgets what was not used longest") {
  internal::LruCache<int> cache(2);
  const base::SteadyTime now;
  cache.Use("a", now) = 1;
  cache.Use("b", now) = 2;
  cache.Use("a", now) += 10;
  cache.Use("c", now) = 3;
  CHECK(cache.size() == 2);
  CHECK(cache.Use("a", now) == 11);
  CHECK(cache.Use("b", now) == 0);
}

TEST_CASE("the cache forgets what was not used for some time") {
  internal::LruCache<int> cache(10);
  const base::SteadyTime now;
  cache.Use("a", now) = 1;
  cache.Use("b", now + absl::Seconds(1)) = 2;
  cache.Use("a", now + absl::Seconds(2)) += 10;
  cache.DropUnusedSince(now + absl::Seconds(2));
  CHECK(cache.size() == 1);
  CHECK(cache.Use("a", now + absl::Seconds(2)) == 11);
}

TEST_CASE("nothing is left of a burst of events when it has no effect any more") {
  EventCorrelator correlator;
  base::SteadyTime now;
  const auto note = [&](int object) {
    return EventNote{"src",
                     InvolvedObject::Of(Pod(absl::StrCat("p", object), 1, "u")),
                     EventType::kNormal,
                     "Why",
                     "m",
                     absl::FromUnixSeconds(1'700'000'000),
                     now};
  };
  for (int i = 0; i < 3000; ++i) Outcome(correlator, note(i));
  const size_t after_burst = correlator.size();
  CHECK(after_burst >= 3000);
  now = now + absl::Minutes(5);
  correlator.Forget(now);
  CHECK(correlator.size() == after_burst);
  CHECK(Outcome(correlator, note(0)) == "dropped");
  now = now + absl::Minutes(11);
  correlator.Forget(now);
  CHECK(correlator.size() < after_burst);
  now = now + absl::Hours(3);
  correlator.Forget(now);
  CHECK(correlator.size() == 0);
}

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  Client client{server, {.name = "fake"}, clock, nullptr};
  // The sink writes on a thread of its own, or on those of a pool.
  std::shared_ptr<WorkerPool> pool =
      GENERATE(false, true) ? std::make_shared<WorkerPool>(clock) : nullptr;
  std::unique_ptr<EventSink> sink = NewEventSink(client, clock, {.pool = pool});

  void Record(const Object& about, const std::string& message,
              EventType type = EventType::kWarning) {
    sink->Record("src", InvolvedObject::Of(about), type, "Why", message);
  }
  // Returns the events that the server has afterwards.
  std::vector<Object> Written() {
    sink.reset();
    return server->All(kEvents);
  }
};

TEST_CASE_METHOD(Fixture, "a message has no control characters for terminals") {
  Record(Pod("a", 5, "u"), std::string("\x1b[2J\0x\x7f\tis\nfine", 15));
  REQUIRE(Written().size() == 1);
  CHECK(Written()[0].root()["message"].AsString() == "?[2J?x?\tis\nfine");
}

TEST_CASE_METHOD(Fixture, "an event names source, object, reason and times") {
  Record(Pod("a", 5, "u"), "m");
  const std::vector<Object> written = Written();
  REQUIRE(written.size() == 1);
  const json::Value& event = written[0].root();
  CHECK(written[0].ns() == "ns");
  CHECK(written[0].name() == absl::StrCat("a.", absl::Hex(absl::ToUnixNanos(clock.Now()))));
  CHECK(event["involvedObject"] == json::Value::Object({{"apiVersion", "v1"},
                                                        {"kind", "Pod"},
                                                        {"namespace", "ns"},
                                                        {"name", "a"},
                                                        {"uid", "u"},
                                                        {"resourceVersion", "5"}}));
  CHECK(event["type"].AsString() == "Warning");
  CHECK(event["reason"].AsString() == "Why");
  CHECK(event["message"].AsString() == "m");
  CHECK(event["count"].AsInt() == 1);
  CHECK(event.Get({"source", "component"}).AsString() == "src");
  CHECK(event["reportingComponent"].AsString() == "src");
  CHECK(event["firstTimestamp"].AsString() == kube::FormatTime(clock.Now()));
  CHECK(event["lastTimestamp"] == event["firstTimestamp"]);
}

TEST_CASE_METHOD(Fixture, "events of cluster-scoped objects go to the default namespace") {
  Record(Object::Make({"rbac.authorization.k8s.io", "v1", "ClusterRole"}, {"", "system:role"}),
         "m");
  const std::vector<Object> written = Written();
  REQUIRE(written.size() == 1);
  CHECK(written[0].ns() == "default");
  CHECK(written[0].name().size() == 36);  // "system:role.…" would be no valid name.
}

TEST_CASE_METHOD(Fixture, "a repeated event becomes a patch of the first one") {
  Record(Pod("a", 5, "u"), "m");
  clock.Advance(absl::Seconds(1));
  Record(Pod("a", 6, "u"), "m");
  const std::vector<Object> written = Written();
  REQUIRE(written.size() == 1);
  CHECK(written[0].root()["count"].AsInt() == 2);
  CHECK(written[0].root()["lastTimestamp"].AsString() == kube::FormatTime(clock.Now()));
  CHECK(server->Requests("PATCH").size() == 1);
}

TEST_CASE_METHOD(Fixture, "when the first one has expired a repeated event is created again") {
  Record(Pod("a", 5, "u"), "m");
  REQUIRE(Eventually([&] { return server->All(kEvents).size() == 1; }));
  server->Erase(kEvents, server->All(kEvents)[0].key());
  Record(Pod("a", 6, "u"), "m");
  const std::vector<Object> written = Written();
  REQUIRE(written.size() == 1);
  CHECK(written[0].root()["count"].AsInt() == 2);
}

TEST_CASE_METHOD(Fixture, "a standing event is written once, whatever process records it") {
  const auto record = [&](const Object& about, const std::string& message) {
    sink->RecordStanding("src", InvolvedObject::Of(about), "Why", message);
  };
  record(Pod("a", 5, "u"), "m");
  clock.Advance(absl::Hours(1));
  record(Pod("a", 6, "u"), "m");
  REQUIRE(Written().size() == 1);
  sink = NewEventSink(client, clock);  // As after a restart.
  record(Pod("a", 7, "u"), "m");
  std::vector<Object> written = Written();
  REQUIRE(written.size() == 1);
  CHECK(written[0].root()["count"].AsInt() == 1);
  CHECK(written[0].root()["type"].AsString() == "Warning");
  CHECK(server->Requests("PATCH").empty());
  CHECK(server->Requests("POST").size() == 2);

  // Another message, and a successor of the same name, have events of their own.
  sink = NewEventSink(client, clock);
  record(Pod("a", 7, "u"), "other");
  record(Pod("a", 8, "successor"), "m");
  CHECK(Written().size() == 3);
  // What has expired is written again.
  server->Erase(kEvents, written[0].key());
  sink = NewEventSink(client, clock);
  record(Pod("a", 9, "u"), "m");
  CHECK(Written().size() == 3);
}

TEST_CASE_METHOD(Fixture,
                 "an event the server cannot take now is tried again, a refused one is not") {
  SECTION("unavailable") {
    server->FailNext("POST", 500, "InternalError");
    Record(Pod("a", 5, "u"), "m");
    REQUIRE(server->AwaitRequests("POST", 1));
    REQUIRE(Eventually([&] {
      clock.Advance(absl::Seconds(10));
      return server->All(kEvents).size() == 1;
    }));
  }
  SECTION("forbidden") {
    server->FailNext("POST", 403, "Forbidden");
    Record(Pod("a", 5, "u"), "m");
    Record(Pod("a", 5, "u"), "next");
    const std::vector<Object> written = Written();
    REQUIRE(written.size() == 1);
    CHECK(written[0].root()["message"].AsString() == "next");
    CHECK(server->Requests("POST").size() == 2);
  }
}

TEST_CASE_METHOD(Fixture, "recording neither blocks nor piles up while the server hangs") {
  server->Block("POST");
  for (int i = 0; i < 3000; ++i) Record(Pod(absl::StrCat("p", i), 5, "u"), "m");
  std::atomic<bool> destroyed = false;
  std::thread destroyer([&] {
    sink.reset();
    destroyed = true;
  });
  // The flush ends after two seconds although the server does not answer.
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(3));
    return destroyed.load();
  }));
  destroyer.join();
  server->Unblock();
  CHECK(server->All(kEvents).empty());
}

TEST_CASE_METHOD(Fixture, "many Normal events do not push out a warning") {
  server->Block("POST");
  for (int i = 0; i < 3000; ++i) {
    Record(Pod(absl::StrCat("p", i), 5, "u"), "m", EventType::kNormal);
  }
  Record(Pod("a", 5, "u"), "the warning");
  server->Unblock();
  const std::vector<Object> written = Written();
  CHECK(std::any_of(written.begin(), written.end(), [](const Object& event) {
    return event.root()["message"].AsString() == "the warning";
  }));
  CHECK(written.size() < 1000);
}

TEST_CASE("the null sink takes everything") {
  NewNullEventSink()->Record("src", {}, EventType::kNormal, "Why", "m");
}

}  // namespace
}  // namespace kube
