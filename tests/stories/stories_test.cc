// Plays the stories of this folder (README.md). STORY=<part of a path> plays only those whose file
// has it in its path.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "tests/stories/stage.h"
#include "tests/stories/story.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

std::vector<Story> Stories() {
  const char* filter = std::getenv("STORY");
  auto stories = LoadStories(KM_STORIES, filter == nullptr ? "" : filter);
  INFO(stories.status().ToString());
  REQUIRE(stories.ok());
  REQUIRE_FALSE(stories->empty());
  return *std::move(stories);
}

bool IsExpected(const Story& story, const std::string& report) {
  return std::any_of(story.reports.begin(), story.reports.end(),
                     [&](const std::string& part) { return absl::StrContains(report, part); });
}

void CheckReports(const Story& story, const Stage& stage) {
  for (const std::string& report : stage.Reports(story)) {
    if (!IsExpected(story, report)) FAIL_CHECK(report);
  }
  for (const std::string& part : stage.MissingReports(story)) {
    FAIL_CHECK(story.file << ": the report is missing: " << part);
  }
}

}  // namespace

TEST_CASE("Objects live in two members as their controllers have them live") {
  const std::vector<Story> stories = Stories();
  ControlPlane plane({.daemon_flags = {"--feature-gates=Failover=true"}});
  Stage stage(plane, stories);
  stage.Play();
  plane.StopDaemon();
  for (const Story& story : stories) CheckReports(story, stage);
  CHECK(true);
}

}  // namespace tests
