#include "tests/kube/meta/truth_table.h"

#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

namespace kube_test {

json::Value LoadTable(const std::string& name) {
  const std::string path = "tests/data/kube/" + name;
  INFO("run the tests in the root of the source tree; reading " << path);
  std::ifstream file(path);
  REQUIRE(file.good());
  return Json(std::string(std::istreambuf_iterator<char>(file), {}));
}

json::Value Json(const std::string& text) {
  const auto value = json::Parse(text);
  INFO(value.status().message());
  REQUIRE(value.ok());
  return *value;
}

}  // namespace kube_test
