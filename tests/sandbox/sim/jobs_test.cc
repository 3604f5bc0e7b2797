#include <catch2/catch.hpp>

#include "tests/sandbox/sim/member_fixture.h"

namespace sandbox {
namespace {

struct Fixture : MemberFixture {
  static json::Value JobWith(const std::string& spec, const std::string& command = "true") {
    json::Value job = Json(absl::StrCat(R"({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "pi", "namespace": "default"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "busybox", "command": ["sh", "-c", ")",
                                        command, R"("]}]}}}})"));
    const json::Value members = Json(spec);
    for (const json::Member& member : members.members()) {
      job.Set({"spec", member.name()}, member.value);
    }
    return job;
  }
  kube::ObjectPtr Pi() { return Get(kinds::Jobs(), "default", "pi"); }
  int64_t Status(absl::string_view field) { return Pi()->status()[field].AsInt(); }
  std::string Reason(absl::string_view type) {
    const json::Value* condition = kube::FindCondition(Pi()->status()["conditions"], type);
    return condition == nullptr ? "" : (*condition)["reason"].ToString();
  }
  bool Is(absl::string_view condition) {
    return kube::IsConditionTrue(Pi()->status()["conditions"], condition);
  }
};

TEST_CASE_METHOD(Fixture, "a job runs its completions a few at a time and completes") {
  Create(JobWith(R"({"parallelism": 2, "completions": 3})"));
  Settle();
  CHECK(Status("active") == 2);
  CHECK(Pi()->status()["startTime"].is_string());
  CHECK(Pi()->status()["ready"] == json::Value(0));
  AdvanceSeconds(1);
  CHECK(Status("ready") == 2);
  AdvanceSeconds(5);
  CHECK(Status("succeeded") == 2);
  CHECK(Status("active") == 1);
  CHECK_FALSE(Is("Complete"));
  AdvanceSeconds(6);
  CHECK(Status("succeeded") == 3);
  CHECK(Pi()->status()["active"].is_null());
  CHECK(Is("SuccessCriteriaMet"));
  CHECK(Is("Complete"));
  CHECK(Pi()->status()["completionTime"].is_string());
  CHECK(CountPods("Succeeded") == 3);
}

TEST_CASE_METHOD(Fixture, "finished pods count even when they are deleted") {
  Create(JobWith(R"({"parallelism": 1, "completions": 2})"));
  AdvanceSeconds(6);
  REQUIRE(Status("succeeded") == 1);
  for (const auto& pod : Pods()) {
    if (pod->status()["phase"] != json::Value("Succeeded")) continue;
    Delete(kinds::Pods(), "default", std::string(pod->name()));
  }
  AdvanceSeconds(6);
  CHECK(Is("Complete"));
  CHECK(Status("succeeded") == 2);
}

TEST_CASE_METHOD(Fixture, "a job whose pods keep failing gives up after backoffLimit") {
  Create(JobWith(R"({"backoffLimit": 1})", "echo no; exit 3"));
  AdvanceSeconds(6);
  CHECK(Status("failed") == 1);
  for (const auto& pod : Pods()) {
    if (pod->status()["phase"] != json::Value("Failed")) continue;
    const json::Value& container = pod->status()["containerStatuses"].At(0);
    CHECK(container["state"]["terminated"]["exitCode"].AsInt() == 3);
  }
  CHECK_FALSE(Is("Failed"));
  AdvanceSeconds(6);
  CHECK(Status("failed") == 2);
  CHECK(Is("FailureTarget"));
  CHECK(Is("Failed"));
  CHECK(Reason("Failed") == "BackoffLimitExceeded");
}

TEST_CASE_METHOD(Fixture, "a suspended job has no pods until it is resumed") {
  Create(JobWith(R"({"suspend": true})"));
  AdvanceSeconds(2);
  CHECK(Pods().empty());
  CHECK(Is("Suspended"));
  CHECK(Pi()->status()["startTime"].is_null());
  Patch(kinds::Jobs(), "default", "pi", R"({"spec": {"suspend": false}})");
  Settle();
  CHECK(Status("active") == 1);
  CHECK_FALSE(Is("Suspended"));
}

TEST_CASE_METHOD(Fixture, "a job that fails as it is suspended keeps its start") {
  Create(JobWith(R"({"backoffLimit": 1})", "exit 3"));
  AdvanceSeconds(6);
  REQUIRE(Status("failed") == 1);
  const json::Value started = Pi()->status()["startTime"];
  Patch(kinds::Jobs(), "default", "pi", R"({"spec": {"suspend": true, "backoffLimit": 0}})");
  Settle();
  CHECK(Is("Failed"));
  CHECK(Pi()->status()["startTime"] == started);
}

TEST_CASE_METHOD(Fixture, "a job past its active deadline fails and loses its pods") {
  Create(JobWith(R"({"activeDeadlineSeconds": 3})"));
  AdvanceSeconds(4);
  CHECK(Is("Failed"));
  CHECK(Pods().empty());
}

TEST_CASE_METHOD(Fixture, "a finished job goes after its time to live") {
  Create(JobWith(R"({"ttlSecondsAfterFinished": 10})"));
  AdvanceSeconds(7);
  CHECK(Is("Complete"));
  AdvanceSeconds(11);
  CHECK(Pi() == nullptr);
  CHECK(Pods().empty());
}

TEST_CASE_METHOD(Fixture, "a job deleted in the background takes its pods along") {
  Create(JobWith("{}"));
  Settle();
  CHECK(Pods().size() == 1);
  Delete(kinds::Jobs(), "default", "pi");
  Settle();
  CHECK(Pods().empty());
}

}  // namespace
}  // namespace sandbox
