#include "config/version.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "config/internal/build_stamp.h"

namespace config::internal {

// What the build of a program knows, and that of a test does not.
BuildStamp Stamp() {
  return {"v1.2.3", "0123456789abcdef0123456789abcdef01234567", "dirty", "2026-11-24T17:11:21Z"};
}

}  // namespace config::internal

TEST_CASE("the labels of a build have all that is known of it") {
  const std::map<std::string, std::string> labels = config::BuildLabels();
  CHECK(labels.at("git_version") == "v1.2.3");
  CHECK(labels.at("git_commit") == "0123456789abcdef0123456789abcdef01234567");
  CHECK(labels.at("git_short_commit") == "012345678");
  CHECK(labels.at("git_tree_state") == "dirty");
  CHECK(labels.at("build_date") == "2026-11-24T17:11:21Z");
  CHECK(labels.at("go_version").empty());
  CHECK(labels.at("compiler") == config::Build().compiler);
  CHECK(labels.at("platform") == config::Build().platform);
  CHECK(labels.size() == 8);
}
