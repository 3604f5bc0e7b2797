#include <catch2/catch.hpp>

#include "kube/meta/selector.h"
#include "tests/kube/meta/truth_table.h"

namespace {

using kube::LabelSelector;
using kube_test::Json;

void CheckSelector(const absl::StatusOr<LabelSelector>& selector, const json::Value& row,
                   const json::Value& label_sets) {
  INFO(json::Write(row));
  if (row.Has("error")) {
    REQUIRE_FALSE(selector.ok());
    CHECK(selector.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(selector.status().message()) == row["error"].ToString());
    return;
  }
  INFO(selector.status().message());
  REQUIRE(selector.ok());
  if (row.Has("text")) CHECK(selector->ToString() == row["text"].ToString());
  json::Value matches = json::Value::Array();
  for (size_t i = 0; i < label_sets.size(); ++i) {
    if (selector->Matches(label_sets.At(i))) matches.Append(static_cast<int64_t>(i));
  }
  CHECK(json::Write(matches) == json::Write(row["matches"]));
}

TEST_CASE("selector texts parse, print, match and fail as apimachinery's do") {
  const json::Value table = kube_test::LoadTable("selectors.json");
  REQUIRE(table["parse"].size() > 100);
  for (const json::Value& row : table["parse"].items()) {
    CheckSelector(LabelSelector::Parse(row["in"].AsString()), row, table["labelSets"]);
  }
}

TEST_CASE("selector objects convert and fail as LabelSelectorAsSelector does") {
  const json::Value table = kube_test::LoadTable("selectors.json");
  for (const json::Value& row : table["json"].items()) {
    CheckSelector(LabelSelector::FromJson(row["in"]), row, table["labelSets"]);
  }
}

TEST_CASE("a printed selector parses to one that prints and matches the same") {
  const json::Value table = kube_test::LoadTable("selectors.json");
  for (const json::Value& row : table["parse"].items()) {
    if (row.Has("error")) continue;
    const auto again = LabelSelector::Parse(row["text"].AsString());
    CheckSelector(again, row, table["labelSets"]);
  }
}

TEST_CASE("a null selector matches nothing, not even in its text form") {
  const auto selector = LabelSelector::FromJson(nullptr);
  REQUIRE(selector.ok());
  CHECK(selector->MatchesNothing());
  CHECK_FALSE(selector->MatchesEverything());
  const auto reread = LabelSelector::Parse(selector->ToString());
  REQUIRE(reread.ok());
  for (const char* labels : {"null", "{}", R"({"a":"b"})", R"({"nothing":""})"}) {
    INFO(labels);
    CHECK_FALSE(selector->Matches(Json(labels)));
    CHECK_FALSE(reread->Matches(Json(labels)));
  }
}

TEST_CASE("the empty selector matches everything") {
  CHECK(LabelSelector().MatchesEverything());
  CHECK(LabelSelector().Matches(nullptr));
  CHECK(LabelSelector().ToString().empty());
  CHECK(LabelSelector::FromJson(json::Value::Object())->MatchesEverything());
}

TEST_CASE("a selector for one label matches that value only") {
  const LabelSelector selector = LabelSelector::Equal("app", "web");
  CHECK(selector.ToString() == "app=web");
  CHECK(selector.Matches(Json(R"({"app":"web","x":"y"})")));
  CHECK_FALSE(selector.Matches(Json(R"({"app":"db"})")));
  CHECK_FALSE(selector.Matches(nullptr));
}

TEST_CASE("selector objects of the wrong shape are refused") {
  for (const char* text :
       {R"("a=b")", R"([])", R"({"matchLabels":[]})", R"({"matchLabels":{"a":1}})",
        R"({"matchExpressions":{}})", R"({"matchExpressions":["a"]})",
        R"({"matchExpressions":[{"key":"a","operator":"In","values":"b"}]})",
        R"({"matchExpressions":[{"key":"a","operator":"In","values":[1]}]})"}) {
    INFO(text);
    CHECK(LabelSelector::FromJson(Json(text)).status().code() ==
          absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
