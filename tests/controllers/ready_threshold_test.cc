#include "controllers/cluster_status/ready_threshold.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/json.h"

namespace {

using controllers::ReadyThreshold;

kube::Condition Ready(const std::string& status, const std::string& reason = "R") {
  return {.type = "Ready", .status = status, .reason = reason, .message = "m"};
}
json::Value Stored(const char* status) {
  return json::Value::Object(
      {{"type", "Ready"}, {"status", status}, {"reason", "stored"}, {"message", "old"}});
}

ReadyThreshold::Observation Seen(const std::string& status, const std::string& reason = "R") {
  return {Ready(status, reason), "endpoint"};
}

// Success counts after 30 s, failure after 10 s.
struct Fixture {
  ReadyThreshold threshold{absl::Seconds(30), absl::Seconds(10)};
  const base::SteadyTime start;

  std::string Adjusted(const char* observed, const char* stored, int seconds) {
    const json::Value current = Stored(stored);
    return threshold.Adjust("m1", Seen(observed), &current, start + absl::Seconds(seconds)).status;
  }
};

TEST_CASE_METHOD(Fixture, "a cause is told until another one has lasted, or the outage ends") {
  const auto told = [&](const std::string& status, const std::string& cause, int seconds,
                        const std::string& configuration = "endpoint") {
    const json::Value current = Stored("False");
    threshold.Adjust("m1", {Ready(status), configuration, cause}, &current,
                     start + absl::Seconds(seconds));
    return threshold.CauseToTell("m1");
  };
  CHECK(threshold.CauseToTell("m1").empty());
  CHECK(told("False", "refused", 0) == "refused");
  CHECK(told("False", "slow", 10) == "refused");
  CHECK(told("False", "refused", 20) == "refused");
  CHECK(told("False", "slow", 30) == "refused");
  CHECK(told("False", "slow", 90) == "slow");
  CHECK(told("True", "", 100).empty());
  CHECK(told("False", "refused", 110) == "refused");
  CHECK(told("False", "slow", 120, "repaired") == "slow");
  threshold.Forget("m1");
  CHECK(threshold.CauseToTell("m1").empty());
}

TEST_CASE_METHOD(Fixture, "the first look at a cluster counts as it is") {
  CHECK(Adjusted("False", "True", 0) == "False");
  const json::Value current = Stored("False");
  CHECK(threshold.Adjust("m2", Seen("True"), &current, start).status == "True");
}

TEST_CASE_METHOD(Fixture, "a failure counts once it has lasted, counted from its first sight") {
  Adjusted("True", "True", 0);
  const json::Value current = Stored("True");
  const kube::Condition kept =
      threshold.Adjust("m1", Seen("False"), &current, start + absl::Seconds(100));
  CHECK(kept.status == "True");
  CHECK(kept.reason == "stored");
  CHECK(kept.message == "old");
  CHECK(Adjusted("False", "True", 109) == "True");
  CHECK(Adjusted("False", "True", 110) == "False");
}

TEST_CASE_METHOD(Fixture, "a recovery counts once it has lasted, by its own threshold") {
  Adjusted("False", "False", 0);
  CHECK(Adjusted("True", "False", 10) == "False");
  CHECK(Adjusted("True", "False", 39) == "False");
  CHECK(Adjusted("True", "False", 40) == "True");
}

TEST_CASE_METHOD(Fixture, "a flip in between starts the wait again") {
  Adjusted("True", "True", 0);
  CHECK(Adjusted("False", "True", 10) == "True");
  CHECK(Adjusted("True", "True", 15) == "True");
  CHECK(Adjusted("False", "True", 19) == "True");
  CHECK(Adjusted("False", "True", 28) == "True");
  CHECK(Adjusted("False", "True", 29) == "False");
}

TEST_CASE_METHOD(Fixture, "what is not a flip between ready and not ready is reported at once") {
  Adjusted("False", "False", 0);
  CHECK(Adjusted("False", "Unknown", 1) == "False");
  Adjusted("True", "True", 2);
  const json::Value current = Stored("True");
  CHECK(threshold.Adjust("m1", Seen("True", "other"), &current, start).reason == "other");
  CHECK(threshold.Adjust("m1", Seen("False"), nullptr, start + absl::Seconds(3)).status == "False");
}

TEST_CASE_METHOD(Fixture, "clusters do not share their history, and a forgotten one has none") {
  Adjusted("True", "True", 0);
  const json::Value current = Stored("True");
  CHECK(threshold.Adjust("m2", Seen("False"), &current, start).status == "False");
  CHECK(Adjusted("False", "True", 1) == "True");
  threshold.Forget("m1");
  CHECK(Adjusted("False", "True", 2) == "False");
}

TEST_CASE_METHOD(Fixture, "a success after a change of the configuration counts at once") {
  const auto adjusted = [&](const char* observed, const char* stored, const char* configuration,
                            int seconds) {
    const json::Value current = Stored(stored);
    return threshold
        .Adjust("m1", {Ready(observed), configuration}, &current, start + absl::Seconds(seconds))
        .status;
  };
  adjusted("False", "False", "old", 0);
  CHECK(adjusted("True", "False", "new", 1) == "True");
  // A failure has to last all the same.
  CHECK(adjusted("False", "True", "newer", 2) == "True");
  CHECK(adjusted("False", "True", "newest", 11) == "True");
  CHECK(adjusted("False", "True", "newest", 12) == "False");
  // A probe that fails after the repair does not undo it.
  CHECK(adjusted("False", "False", "other", 13) == "False");
  CHECK(adjusted("True", "False", "other", 14) == "True");
  // The success counts again when it could not be stored, and no longer when it was.
  CHECK(adjusted("True", "False", "other", 15) == "True");
  CHECK(adjusted("True", "True", "other", 16) == "True");
  CHECK(adjusted("True", "False", "other", 17) == "False");
  // A failure that has lasted since the repair shows that nothing was repaired.
  CHECK(adjusted("False", "False", "another", 50) == "False");
  CHECK(adjusted("False", "False", "another", 60) == "False");
  CHECK(adjusted("True", "False", "another", 61) == "False");
  CHECK(adjusted("True", "False", "another", 91) == "True");
}

TEST_CASE_METHOD(Fixture, "a first success counts until it is stored") {
  CHECK(Adjusted("True", "False", 0) == "True");
  CHECK(Adjusted("True", "False", 1) == "True");
  CHECK(Adjusted("True", "True", 2) == "True");
  CHECK(Adjusted("True", "False", 3) == "False");
}

TEST_CASE_METHOD(Fixture, "a message that goes back and forth is not reported") {
  const auto adjusted = [&](const char* message, const char* configuration, int seconds) {
    const json::Value current = json::Value::Object(
        {{"type", "Ready"}, {"status", "False"}, {"reason", "R"}, {"message", "refused"}});
    kube::Condition ready = Ready("False");
    ready.message = message;
    return threshold.Adjust("m1", {ready, configuration}, &current, start + absl::Seconds(seconds))
        .message;
  };
  adjusted("refused", "c", 0);
  for (int seconds = 10; seconds < 200; seconds += 20) {
    CHECK(adjusted("reset", "c", seconds) == "refused");
    CHECK(adjusted("refused", "c", seconds + 10) == "refused");
  }
  CHECK(adjusted("reset", "c", 300) == "refused");
  CHECK(adjusted("reset", "c", 359) == "refused");
  CHECK(adjusted("reset", "c", 360) == "reset");
  CHECK(adjusted("timeout", "changed", 361) == "timeout");
}

}  // namespace
