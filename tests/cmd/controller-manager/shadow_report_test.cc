// The verdict of a shadow.
#include "cmd/controller-manager/shadow_report.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/files.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "tests/support/temp_directory.h"

namespace cmd {
namespace {

using Verdict = ShadowResult::Verdict;

bool NoneIsDown(const std::string&) { return false; }

Verdict VerdictOf(const kube::Shadow::Numbers& numbers, const kube::Shadow::Failing& failing = {}) {
  return ResultOf(numbers, failing, NoneIsDown).verdict;
}

}  // namespace

TEST_CASE("Mends and what is refused with the leader, too, do not count") {
  CHECK(VerdictOf({.rounds = 1}) == Verdict::kSame);
  CHECK(VerdictOf({.outstanding = 3, .mends = 2, .refused_upstream = 1, .rounds = 1}) ==
        Verdict::kSame);
  CHECK(VerdictOf({.outstanding = 4, .mends = 2, .refused_upstream = 1, .rounds = 1}) ==
        Verdict::kDifferent);
  CHECK(VerdictOf({.held = 2, .rounds = 1}) == Verdict::kSame);
}

TEST_CASE("There is no verdict while something is open") {
  CHECK(VerdictOf({}) == Verdict::kUndecided);
  CHECK(VerdictOf({.held = 1, .held_long = 1, .rounds = 1}) == Verdict::kUndecided);
  CHECK(VerdictOf({.not_listed = 1, .rounds = 1}) == Verdict::kUndecided);
  CHECK(VerdictOf({.unanswered = {{"m1", 1}}, .rounds = 1}) == Verdict::kUndecided);
  const auto is_down = [](const std::string& cluster) { return cluster == "m1"; };
  CHECK(ResultOf({.unanswered = {{"m1", 1}}, .rounds = 1}, {}, is_down).verdict == Verdict::kSame);
}

TEST_CASE("When the time is over, what differs counts although something is open") {
  const kube::Shadow::Numbers numbers{.outstanding = 1, .held = 1, .held_long = 1, .rounds = 1};
  CHECK(ResultOf(numbers, {}, NoneIsDown).verdict == Verdict::kUndecided);
  CHECK(ResultOf(numbers, {}, NoneIsDown, true).verdict == Verdict::kDifferent);
  CHECK(ResultOf({}, {}, NoneIsDown, true).verdict == Verdict::kUndecided);
}

TEST_CASE("What was not compared is said, and leaves the verdict as it is") {
  ShadowResult result = ResultOf({.rounds = 1}, {}, NoneIsDown);
  AddUncompared({}, result);
  CHECK(result.because.empty());
  AddUncompared(
      {.clusters = {{"m2", "Ready=False (ClusterNotReachable): no"}}, .leader = "nobody leads"},
      result);
  CHECK(result.verdict == Verdict::kSame);
  CHECK(result.because ==
        std::vector<std::string>{"m2 is not compared: Ready=False (ClusterNotReachable): no",
                                 "nobody leads"});
}

TEST_CASE("A Lease tells whether there is a leader to compare with") {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  const auto lease = [&](absl::Duration age) {
    kube::Object object;
    object.Set({"spec", "leaseDurationSeconds"}, 15);
    object.Set({"spec", "renewTime"}, kube::FormatMicroTime(now - age));
    return object;
  };
  CHECK(LeaderMissing(lease(absl::Seconds(30)), "ns/cm", now).empty());
  CHECK(LeaderMissing(lease(absl::Seconds(40)), "ns/cm", now) ==
        absl::StrCat("nobody leads as ns/cm (its lease was last renewed at ",
                     kube::FormatMicroTime(now - absl::Seconds(40)),
                     "), so nobody makes the writes that are due"));
  CHECK(absl::StrContains(LeaderMissing(absl::NotFoundError("no"), "ns/cm", now),
                          "there is no Lease ns/cm"));
  CHECK(absl::StrContains(LeaderMissing(absl::PermissionDeniedError("not you"), "ns/cm", now),
                          "not known: the Lease ns/cm cannot be read: not you"));
}

TEST_CASE("The report says why, in sentences, and has the page") {
  const ShadowResult result =
      ResultOf({.outstanding = 1, .rounds = 1}, {.count = 3, .upstream = 1}, NoneIsDown);
  const json::Value report =
      json::Parse(ReportText(result, json::Value::Object({{"rounds", 1}}))).value();
  CHECK(report["verdict"].AsString() == "different");
  CHECK(report["rounds"].AsInt() == 1);
  CHECK(report["because"].At(0).AsString() ==
        "1 write would be made that the leader does not make");
  CHECK(absl::StartsWith(report["because"].At(1).AsString(), "2 keys fail here, and neither"));
  CHECK(report["because"].At(2).AsString() == "1 key fails here and with the leader");
}

TEST_CASE("The file of a report has no verdict of before, and is looked at before it is needed") {
  const tests::TempDirectory directory;
  const std::string file = directory.path() + "/report";
  CHECK(BeginReport("").ok());
  CHECK(BeginReport("-").ok());
  CHECK(BeginReport("/dev/null").ok());
  const absl::Status refused = BeginReport("/nowhere/at/all");
  CHECK(absl::IsInvalidArgument(refused));
  CHECK(absl::StrContains(refused.message(), "/nowhere/at/all"));
  REQUIRE(WriteReport(file, R"({"verdict":"same","because":["a text that is longer"]})").ok());
  REQUIRE(BeginReport(file).ok());
  CHECK(json::Parse(base::ReadFile(file).value()).value()["verdict"].AsString() == "undecided");
  REQUIRE(WriteReport(file, "text\n").ok());
  CHECK(base::ReadFile(file).value() == "text\n");
}

TEST_CASE("Only its owner may read a report, also in a file that others could read") {
  const tests::TempDirectory directory;
  const std::string file = directory.path() + "/report";
  std::ofstream(file) << "before";
  REQUIRE(chmod(file.c_str(), 0644) == 0);
  REQUIRE(WriteReport(file, "text\n").ok());
  struct stat found = {};
  REQUIRE(stat(file.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
}

TEST_CASE("A shadow that was stopped has no verdict, and says what it knew") {
  const ShadowResult stopped = Stopped(ResultOf({.outstanding = 1, .rounds = 1}, {}, NoneIsDown));
  CHECK(stopped.verdict == Verdict::kUndecided);
  CHECK(stopped.because ==
        std::vector<std::string>{"the shadow was stopped before it had a verdict",
                                 "1 write would be made that the leader does not make"});
}

}  // namespace cmd
