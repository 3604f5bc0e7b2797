#include "tests/kube/meta/truth_table.h"

#include <catch2/catch.hpp>

#include "base/files.h"

namespace kube_test {

json::Value LoadTable(const std::string& name) {
  const std::string path = "tests/data/kube/" + name;
  INFO("run the tests in the root of the source tree; reading " << path);
  return Json(base::ReadFile(path).value());
}

json::Value Json(const std::string& text) {
  const auto value = json::Parse(text);
  INFO(value.status().message());
  REQUIRE(value.ok());
  return *value;
}

}  // namespace kube_test
