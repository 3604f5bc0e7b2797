#include "kube/runtime/conflict_streak.h"

#include <catch2/catch.hpp>
#include <string>

namespace {

TEST_CASE("a few conflicts in a row are silent, then they count as a failure") {
  kube::ConflictStreak streak;
  const absl::Status conflict = absl::AbortedError("denied");
  for (int i = 0; i < kube::ConflictStreak::kSilent; ++i) {
    CHECK(absl::IsAborted(streak.Judge("a", conflict)));
  }
  CHECK(absl::IsAborted(streak.Judge("b", conflict)));  // Each item has its own count.
  const absl::Status failure = streak.Judge("a", conflict);
  CHECK(absl::IsFailedPrecondition(failure));
  // A message that stays the same is written to conditions and events only once.
  CHECK(failure.message() == "denied");
  CHECK(streak.Judge("a", conflict) == failure);
}

TEST_CASE("another outcome ends the row") {
  kube::ConflictStreak streak;
  const absl::Status conflict = absl::AbortedError("denied");
  const absl::Status between = GENERATE(absl::OkStatus(), absl::UnavailableError("down"));
  for (int i = 0; i < kube::ConflictStreak::kSilent; ++i) streak.Judge("a", conflict).IgnoreError();
  CHECK(streak.Judge("a", between) == between);
  CHECK(absl::IsAborted(streak.Judge("a", conflict)));
}

}  // namespace
