#include "kube/schema/strategic_merge_patch.h"

#include <catch2/catch.hpp>

#include "tests/kube/meta/truth_table.h"

namespace {

using kube_test::Json;

std::string Apply(const char* target, const char* patch) {
  const auto result = kube::ApplyStrategicMergePatch(Json(target), Json(patch));
  return result.ok() ? json::Write(*result) : std::string(result.status().message());
}

TEST_CASE("strategic merge patches of built-in kinds apply as apimachinery does") {
  const json::Value table = kube_test::LoadTable("strategic_merge_patches.json");
  REQUIRE(table["cases"].size() > 200);
  for (const json::Value& row : table["cases"].items()) {
    INFO(json::Write(row["patch"]));
    const json::Value& target = table["docs"].At(row["doc"].AsInt());
    const auto result = kube::ApplyStrategicMergePatch(target, row["patch"]);
    if (row.Has("error")) {
      INFO(row["error"].AsString());
      CHECK(result.status().code() == absl::StatusCode::kInvalidArgument);
      continue;
    }
    INFO(result.status().message());
    REQUIRE(result.ok());
    CHECK(json::Write(*result) == json::Write(row["result"]));
  }
}

TEST_CASE("lists of kinds that are not built in are replaced, except those of metadata") {
  CHECK(Apply(R"({"apiVersion":"example.com/v1","kind":"Pod","metadata":{"finalizers":["a"]},)"
              R"("spec":{"containers":[{"name":"x"}]}})",
              R"({"metadata":{"finalizers":["b"]},"spec":{"containers":[{"name":"y"}]}})") ==
        R"({"apiVersion":"example.com/v1","kind":"Pod","metadata":{"finalizers":["b","a"]},)"
        R"("spec":{"containers":[{"name":"y"}]}})");
}

TEST_CASE("new items carry neither nulls nor directives") {
  CHECK(Apply(R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[]}})",
              R"({"spec":{"containers":[{"name":"x","image":null,)"
              R"("$setElementOrder/env":[{"name":"E"}],"env":[{"name":"E","value":null}]}]}})") ==
        R"({"apiVersion":"v1","kind":"Pod",)"
        R"("spec":{"containers":[{"env":[{"name":"E"}],"name":"x"}]}})");
}

TEST_CASE("an order directive for a list that does not merge is ignored") {
  CHECK(Apply(R"({"apiVersion":"v1","kind":"Pod","spec":{"tolerations":[{"key":"a"}]}})",
              R"({"spec":{"$setElementOrder/tolerations":[{"key":"b"}],)"
              R"("tolerations":[{"key":"b"}]}})") ==
        R"({"apiVersion":"v1","kind":"Pod","spec":{"tolerations":[{"key":"b"}]}})");
}

TEST_CASE("a strategic merge patch must be an object") {
  CHECK_FALSE(kube::ApplyStrategicMergePatch(json::Value::Object(), json::Value::Array()).ok());
  CHECK_FALSE(kube::ApplyStrategicMergePatch(json::Value::Object(), nullptr).ok());
}

}  // namespace
