#include "cmd/search/memory_gate.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"

namespace cmd {
namespace {

TEST_CASE("near the memory limit nothing new is cached until much is free again") {
  MemoryGate gate;
  CHECK(gate.MayGrow().ok());
  CHECK_FALSE(gate.Note({.working_set = 84, .limit = 100}));
  CHECK(gate.MayGrow().ok());
  CHECK(gate.Note({.working_set = 85, .limit = 100}));
  CHECK(absl::IsResourceExhausted(gate.MayGrow()));
  CHECK(gate.Note({.working_set = 71, .limit = 100}));
  // True at 71 %, too.
  CHECK(absl::StrContains(gate.MayGrow().message(), "85 % of the memory limit"));
  CHECK(absl::StrContains(gate.MayGrow().message(), "were used"));
  CHECK(absl::StrContains(gate.MayGrow().message(), "until less than 70 % are"));
  CHECK_FALSE(gate.Note({.working_set = 69, .limit = 100}));
  CHECK(gate.MayGrow().ok());
}

}  // namespace
}  // namespace cmd
