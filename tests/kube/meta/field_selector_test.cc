#include <catch2/catch.hpp>

#include "kube/meta/selector.h"
#include "tests/kube/meta/truth_table.h"

namespace {

using kube::FieldSelector;
using kube_test::Json;

TEST_CASE("field selectors parse, print, match and fail as apimachinery's do") {
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
    json::Value matches = json::Value::Array();
    for (size_t i = 0; i < table["objects"].size(); ++i) {
      if (selector->Matches(table["objects"].At(i))) matches.Append(static_cast<int64_t>(i));
    }
    CHECK(json::Write(matches) == json::Write(row["matches"]));
  }
}

TEST_CASE("fields that are not strings compare by their JSON text") {
  const json::Value object = Json(R"({"spec":{"unschedulable":true,"replicas":3,"list":["a"]}})");
  CHECK(FieldSelector::Parse("spec.unschedulable=true")->Matches(object));
  CHECK(FieldSelector::Parse("spec.replicas=3")->Matches(object));
  CHECK(FieldSelector::Parse("spec.replicas!=4")->Matches(object));
  CHECK(FieldSelector::Parse("spec.list=")->Matches(object));
}

}  // namespace
