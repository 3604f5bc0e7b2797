#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/patch.h"
#include "tests/kube/meta/truth_table.h"

namespace {

using kube_test::Json;

TEST_CASE("JSON patches apply and fail as Karmada's library does") {
  const json::Value table = kube_test::LoadTable("json_patches.json");
  REQUIRE(table["cases"].size() > 150);
  for (const json::Value& row : table["cases"].items()) {
    INFO(json::Write(row));
    const auto result = kube::ApplyJsonPatch(table["docs"].At(row["doc"].AsInt()), row["patch"]);
    if (row.Has("error")) {
      CHECK(result.status().code() == absl::StatusCode::kInvalidArgument);
      continue;
    }
    INFO(result.status().message());
    REQUIRE(result.ok());
    CHECK(json::Write(*result) == json::Write(row["result"]));
  }
}

TEST_CASE("errors of JSON patches name operation and path") {
  const json::Value document = Json(R"({"a":[1],"b":{}})");
  for (const char* op : {"remove", "replace", "test"}) {
    const auto result = kube::ApplyJsonPatch(
        document, Json(absl::StrCat(R"([{"op":")", op, R"(","path":"/b/missing","value":1}])")));
    INFO(result.status().message());
    CHECK(absl::StrContains(result.status().message(), op));
    CHECK(absl::StrContains(result.status().message(), "/b/missing"));
  }
}

TEST_CASE("a JSON patch must be a list of objects") {
  for (const char* patch : {"{}", "null", R"("x")", "[1]", "[null]", "[[]]"}) {
    INFO(patch);
    CHECK(kube::ApplyJsonPatch(json::Value::Object(), Json(patch)).status().code() ==
          absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("copies that multiply without end are refused") {
  std::string patch = "[";
  for (int i = 0; i < 60; ++i) {
    absl::StrAppend(&patch, i > 0 ? "," : "", R"({"op":"copy","from":"/a","path":"/a/-"})");
  }
  const auto result = kube::ApplyJsonPatch(Json(R"({"a":["some text"]})"), Json(patch + "]"));
  REQUIRE_FALSE(result.ok());
  CHECK(absl::StrContains(result.status().message(), "add up to more than"));
}

TEST_CASE("a JSON patch cannot build a document deeper than documents may be") {
  std::string patch = "[";
  for (int i = 0; i < 600; ++i) {
    absl::StrAppend(
        &patch, i > 0 ? "," : "", R"({"op":"move","from":"/a","path":"/b"},)",
        R"({"op":"add","path":"/a","value":{}},{"op":"move","from":"/b","path":"/a/a"})");
  }
  const auto result = kube::ApplyJsonPatch(Json(R"({"a":{}})"), Json(patch + "]"));
  REQUIRE_FALSE(result.ok());
  CHECK(absl::StrContains(result.status().message(), "nested too deeply"));
}

TEST_CASE("a JSON patch that fails leaves the target as it was") {
  const json::Value target = Json(R"({"a":{"b":[1,2]}})");
  const std::string before = json::Write(target);
  CHECK_FALSE(kube::ApplyJsonPatch(target, Json(R"([{"op":"remove","path":"/a/b/0"},
                                                   {"op":"test","path":"/a","value":0}])"))
                  .ok());
  CHECK(json::Write(target) == before);
}

}  // namespace
