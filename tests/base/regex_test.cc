#include "base/regex.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"

namespace {

bool Finds(const char* pattern, const std::string& text) {
  const absl::StatusOr<base::Regex> regex = base::Regex::Compile(pattern);
  INFO(pattern);
  REQUIRE(regex.ok());
  return regex->Finds(text);
}

TEST_CASE("a part of the text is enough unless the pattern is anchored") {
  CHECK(Finds("b+", "abba"));
  CHECK_FALSE(Finds("^b+$", "abba"));
  CHECK(Finds("^ab+a$", "abba"));
  CHECK_FALSE(Finds("c", "abba"));
}

TEST_CASE("the grammar is Go's") {
  CHECK(Finds("(?i)^KUBE-", "kube-system"));
  CHECK(Finds("^(?P<team>[a-z]+)-prod$", "web-prod"));
  CHECK(Finds("^\\pL+$", "\xc3\xa4hre"));
  CHECK(Finds("^[[:alpha:]]+$", "team"));
  CHECK(Finds("\\Aa\\z", "a"));
}

TEST_CASE("what Go refuses is refused with the pattern and the reason") {
  for (const char* bad : {"(", "(?=look)", "a**", "(a)\\1", "a{1001}"}) {
    INFO(bad);
    const absl::StatusOr<base::Regex> regex = base::Regex::Compile(bad);
    REQUIRE_FALSE(regex.ok());
    CHECK(absl::IsInvalidArgument(regex.status()));
    CHECK(absl::StrContains(regex.status().message(), bad));
  }
}

TEST_CASE("a pattern that is slow for backtracking matchers is not slow, nor is a long text") {
  CHECK_FALSE(Finds("^(a|aa)+$", std::string(1 << 16, 'a') + "b"));
}

}  // namespace
