#include "config/skipped_apis.h"

#include <catch2/catch.hpp>

namespace config {
namespace {

TEST_CASE("Skipped APIs name groups, group versions or kinds, the core group by its version") {
  const auto skipped = SkippedApis::Parse("a.io;b.io/v1;c.io/v1/X,Y;v1/Pod,Secret;").value();
  CHECK(skipped.Contains("a.io", "v2", "Any"));
  CHECK(skipped.Contains("b.io", "v1", "Any"));
  CHECK_FALSE(skipped.Contains("b.io", "v2", "Any"));
  CHECK(skipped.Contains("c.io", "v1", "Y"));
  CHECK_FALSE(skipped.Contains("c.io", "v1", "Z"));
  CHECK(skipped.Contains("", "v1", "Secret"));
  CHECK_FALSE(skipped.Contains("", "v1", "ConfigMap"));
  CHECK_FALSE(SkippedApis::Parse("").value().Contains("", "v1", "ConfigMap"));
  CHECK(SkippedApis::Parse("a.io;a/b/c/d").status().message() ==
        "--skipped-propagating-apis: \"a/b/c/d\" is neither group, group/version nor "
        "group/version/Kind,Kind");
}

}  // namespace
}  // namespace config
