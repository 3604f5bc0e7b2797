// Recorded results of go-yaml: tests/data/base/yaml_go.json names its source.
#include <catch2/catch.hpp>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "base/yaml.h"

namespace {

TEST_CASE("YAML is written as go-yaml writes it") {
  const auto table = json::Parse(base::ReadFile("tests/data/base/yaml_go.json").value());
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
