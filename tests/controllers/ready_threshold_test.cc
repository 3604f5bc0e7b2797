#include "controllers/clusterstatus/ready_threshold.h"

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

// Success counts after 30 s, failure after 10 s.
struct Fixture {
  ReadyThreshold threshold{absl::Seconds(30), absl::Seconds(10)};
  const base::SteadyTime start;

  std::string Adjusted(const char* observed, const char* stored, int seconds) {
    const json::Value current = Stored(stored);
    return threshold.Adjust("m1", Ready(observed), &current, start + absl::Seconds(seconds)).status;
  }
};

TEST_CASE_METHOD(Fixture, "the first look at a cluster counts as it is") {
  CHECK(Adjusted("False", "True", 0) == "False");
  const json::Value current = Stored("False");
  CHECK(threshold.Adjust("m2", Ready("True"), &current, start).status == "True");
}

TEST_CASE_METHOD(Fixture, "a failure counts once it has lasted, counted from its first sight") {
  Adjusted("True", "True", 0);
  const json::Value current = Stored("True");
  const kube::Condition kept =
      threshold.Adjust("m1", Ready("False"), &current, start + absl::Seconds(100));
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

TEST_CASE_METHOD(Fixture, "a flip in between starts the wait anew") {
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
  CHECK(threshold.Adjust("m1", Ready("True", "other"), &current, start).reason == "other");
  CHECK(threshold.Adjust("m1", Ready("False"), nullptr, start + absl::Seconds(3)).status ==
        "False");
}

TEST_CASE_METHOD(Fixture, "clusters do not share their history, and a forgotten one has none") {
  Adjusted("True", "True", 0);
  const json::Value current = Stored("True");
  CHECK(threshold.Adjust("m2", Ready("False"), &current, start).status == "False");
  CHECK(Adjusted("False", "True", 1) == "True");
  threshold.Forget("m1");
  CHECK(Adjusted("False", "True", 2) == "False");
}

}  // namespace
