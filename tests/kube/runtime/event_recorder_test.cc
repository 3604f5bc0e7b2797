#include "kube/runtime/event_recorder.h"

#include <catch2/catch.hpp>

#include "tests/support/recording_events.h"

namespace kube {
namespace {

struct Fixture {
  tests::RecordingEvents sink;
  EventRecorder recorder{sink, "a-controller"};

  InvolvedObject pod = {.api_version = "v1", .kind = "Pod", .ns = "n", .name = "p"};

  void Try(const absl::Status& result, bool changed = false, const char* what = "a",
           bool routine = false) {
    recorder.Outcome({.of = {.key = {"n", what}},
                      .about = {pod},
                      .success = {"Done", "it is done"},
                      .failure = {"NotDone", ""},
                      .changed = changed,
                      .routine = routine},
                     result);
  }
};

TEST_CASE_METHOD(Fixture, "every failure is an event, of successes the one that ends a failure") {
  Try(absl::OkStatus());
  CHECK(sink.All().empty());
  Try(absl::UnavailableError("down"));
  Try(absl::OkStatus());
  Try(absl::OkStatus());
  CHECK(sink.All() ==
        std::vector<std::string>{"Warning NotDone Pod: down", "Normal Done Pod: it is done"});
}

TEST_CASE_METHOD(Fixture, "a success that changed something is an event") {
  Try(absl::OkStatus(), true);
  CHECK(sink.All() == std::vector<std::string>{"Normal Done Pod: it is done"});
}

TEST_CASE_METHOD(Fixture, "a routine success is an event only if the sink wants it") {
  const auto do_it = [&] {
    Try(absl::OkStatus(), false, "a", /*routine=*/true);
    Try(absl::OkStatus());
    recorder.Routine(pod, "Seen", "it is seen");
  };
  do_it();
  CHECK(sink.All().empty());
  sink.WantRoutine();
  do_it();
  CHECK(sink.All() ==
        std::vector<std::string>{"Normal Done Pod: it is done", "Normal Seen Pod: it is seen"});
}

TEST_CASE_METHOD(Fixture, "a routine attempt that fails is a failure") {
  Try(absl::UnavailableError("down"), false, "a", /*routine=*/true);
  CHECK(sink.All() == std::vector<std::string>{"Warning NotDone Pod: down"});
}

TEST_CASE_METHOD(Fixture, "conflicts and cancellations are not outcomes") {
  Try(absl::AbortedError("changed"));
  Try(absl::CancelledError("stopping"));
  Try(absl::OkStatus());
  CHECK(sink.All().empty());
  Try(absl::UnavailableError("down"));
  Try(absl::AbortedError("changed"));
  Try(absl::OkStatus());
  CHECK(sink.All().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a failure that was forgotten is not ended by a success") {
  Try(absl::UnavailableError("down"), false, "a");
  Try(absl::UnavailableError("down"), false, "b");
  recorder.Forget({.key = {"n", "a"}});
  Try(absl::OkStatus(), false, "a");
  CHECK(sink.All().size() == 2);
  Try(absl::OkStatus(), false, "b");
  CHECK(sink.All().size() == 3);
}

TEST_CASE_METHOD(Fixture, "a conflict that does not end by trying again is a failure") {
  const Request a{.key = {"n", "a"}};
  const auto meet = [&] { Try(recorder.Judge(a, "", absl::AbortedError("denied"))); };
  for (int i = 0; i < Outcomes::kSilentConflicts; ++i) meet();
  CHECK(sink.All().empty());
  meet();
  CHECK(sink.All() == std::vector<std::string>{"Warning NotDone Pod: denied"});
  Try(recorder.Judge(a, "", absl::OkStatus()));
  CHECK(sink.All().back() == "Normal Done Pod: it is done");
}

TEST_CASE_METHOD(Fixture, "recorders that share outcomes forget together") {
  Outcomes outcomes;
  EventRecorder sharing{sink, "another", outcomes};
  const Request a{.key = {"n", "a"}};
  const EventRecorder::Attempt attempt = {
      .of = a, .about = {pod}, .success = {"Done", ""}, .failure = {"NotDone", ""}};
  sharing.Outcome(attempt, absl::UnavailableError("down"));
  outcomes.Forget(a);
  sharing.Outcome(attempt, absl::OkStatus());
  CHECK(sink.All() == std::vector<std::string>{"Warning NotDone Pod: down"});
}

}  // namespace
}  // namespace kube
