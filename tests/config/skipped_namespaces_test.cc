#include "config/skipped_namespaces.h"

#include <catch2/catch.hpp>
#include <string>

namespace config {
namespace {

TEST_CASE("Patterns of skipped namespaces match whole names, each by itself") {
  const auto skipped = SkippedNamespaces::Create({"(a|b)", "team-[0-9]+"}).value();
  for (const char* ns : {"a", "b", "team-12"}) CHECK(skipped.Contains(ns));
  for (const char* ns : {"ab", "xa", "bx", "team-", "team-1x", ""}) {
    CHECK_FALSE(skipped.Contains(ns));
  }
}

TEST_CASE("Patterns of skipped namespaces are Go's, anchored as upstream does") {
  const auto skips = [](const std::string& pattern, const char* ns) {
    const absl::StatusOr<SkippedNamespaces> skipped = SkippedNamespaces::Create({pattern});
    INFO(pattern);
    REQUIRE(skipped.ok());
    return skipped->Contains(ns);
  };
  CHECK(skips("(?i)INFRA", "infra"));
  CHECK(skips("kube-.*", "kube-system"));
  CHECK_FALSE(skips("kube", "kube-system"));
  CHECK_FALSE(skips("system", "kube-system"));
  // Upstream puts ^ and $ around the text, so ^ belongs only to the first alternative and $ only to
  // the last.
  CHECK(skips("kube|infra", "kube-system"));
  CHECK(skips("kube|infra", "my-infra"));
  CHECK_FALSE(skips("(kube|infra)", "my-infra"));
  CHECK(SkippedNamespaces::Create({"(?=x)"}).status().message() ==
        "--skipped-propagating-namespaces: \"^(?=x)$\" is not a valid regular expression: "
        "invalid perl operator: (?=");
}

}  // namespace
}  // namespace config
