// Recorded results of go-yaml: tests/data/base/yaml_go.json names its source.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "base/json.h"
#include "base/yaml.h"

namespace {

TEST_CASE("YAML is written as go-yaml writes it") {
  std::ifstream file("tests/data/base/yaml_go.json", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto table = json::Parse(text);
  REQUIRE(table.ok());
  REQUIRE((*table)["cases"].size() > 700);
  for (const json::Value& row : (*table)["cases"].items()) {
    INFO(json::Write(row["json"]));
    const auto written = yaml::WriteAsGo(row["json"], 1 << 20);
    REQUIRE(written.ok());
    CHECK(*written == row["yaml"].AsString());
  }
}

}  // namespace
