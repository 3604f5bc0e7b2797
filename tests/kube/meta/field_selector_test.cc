#include <catch2/catch.hpp>

#include "kube/meta/selector.h"
#include "tests/kube/meta/truth_table.h"

namespace {

using kube::FieldSelector;

TEST_CASE("field selectors parse, print and fail as apimachinery's do") {
  const json::Value table = kube_test::LoadTable("selectors.json");
  REQUIRE(table["fields"].size() > 20);
  for (const json::Value& row : table["fields"].items()) {
    INFO(json::Write(row));
    const auto selector = FieldSelector::Parse(row["in"].AsString());
    if (row.Has("error")) {
      REQUIRE_FALSE(selector.ok());
      CHECK(std::string(selector.status().message()) == row["error"].ToString());
      continue;
    }
    REQUIRE(selector.ok());
    CHECK(selector->ToString() == row["text"].ToString());
  }
}

}  // namespace
