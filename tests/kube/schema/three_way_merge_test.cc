#include "kube/schema/three_way_merge.h"

#include <catch2/catch.hpp>

#include "tests/kube/meta/truth_table.h"

namespace {

using kube_test::Json;

std::string Merge(const char* last, const char* file, const char* live) {
  return json::Write(kube::ThreeWayMerge(Json(last), Json(file), Json(live)));
}

TEST_CASE("kubectl apply: files merge into live objects as apimachinery merges them") {
  const json::Value table = kube_test::LoadTable("three_way_merges.json");
  REQUIRE(table["cases"].size() >= 90);
  for (const json::Value& row : table["cases"].items()) {
    INFO("last " << json::Write(row["last"]));
    INFO("file " << json::Write(row["file"]));
    INFO("live " << json::Write(row["live"]));
    CHECK(json::Write(kube::ThreeWayMerge(row["last"], row["file"], row["live"])) ==
          json::Write(row["result"]));
  }
}

TEST_CASE("kubectl apply: what a webhook has added to a list stays, what the file had goes") {
  CHECK(
      Merge(
          R"({"spec":{"template":{"spec":{"containers":[{"name":"web"},{"name":"old"}]}}}})",
          R"({"spec":{"template":{"spec":{"containers":[{"name":"web","image":"b"}]}}}})",
          R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[)"
          R"({"name":"proxy"},{"name":"web","image":"a","tty":true},{"name":"old"}]}}}})") ==
      R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[)"
      R"({"name":"proxy"},{"image":"b","name":"web","tty":true}]}}}})");
}

TEST_CASE("kubectl apply: items with one key are those of the same place") {
  constexpr char kPorts[] =
      R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[{"name":"dns","port":53},)"
      R"({"name":"dns-tcp","port":53}]}})";
  CHECK(
      Merge(
          kPorts, kPorts,
          R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[)"
          R"({"name":"dns","nodePort":1,"port":53},{"name":"dns-tcp","nodePort":2,"port":53}]}})") ==
      R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[)"
      R"({"name":"dns","nodePort":1,"port":53},{"name":"dns-tcp","nodePort":2,"port":53}]}})");
}

TEST_CASE("kubectl apply: lists of kinds that are not built in are replaced") {
  CHECK(
      Merge(
          "null", R"({"spec":{"containers":[{"name":"a"}]}})",
          R"({"apiVersion":"x.io/v1","kind":"Deployment","spec":{"containers":[{"name":"b"}]}})") ==
      R"({"apiVersion":"x.io/v1","kind":"Deployment","spec":{"containers":[{"name":"a"}]}})");
}

TEST_CASE("kubectl apply: labels of others stay when the file has none any more") {
  CHECK(Merge(R"({"metadata":{"labels":{"a":"1"},"annotations":{"b":"1"}}})", R"({"metadata":{}})",
              R"({"metadata":{"labels":{"a":"1","other":"2"},"annotations":{"b":"1"}}})") ==
        R"({"metadata":{"labels":{"other":"2"}}})");
}

TEST_CASE("kubectl apply: an item without its key makes the whole list that of the file") {
  CHECK(Merge("null", R"({"spec":{"ports":[{"name":"x"}]}})",
              R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":1}]}})") ==
        R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[{"name":"x"}]}})");
}

}  // namespace
