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
    recorder.Outcome({.what = what,
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
  Try(absl::UnavailableError("down"), false, "a/1");
  Try(absl::UnavailableError("down"), false, "b");
  recorder.ForgetAll("a/");
  recorder.Forget("b");
  Try(absl::OkStatus(), false, "a/1");
  Try(absl::OkStatus(), false, "b");
  CHECK(sink.All().size() == 2);
}

}  // namespace
}  // namespace kube
