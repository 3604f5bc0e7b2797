#include "base/json_fields.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/json.h"

namespace {

std::string Read(absl::string_view text, const std::vector<std::string>& paths) {
  const json::Fields fields(paths);
  const auto value = json::Parse(text, {.kept = &fields});
  return value.ok() ? json::Write(*value) : value.status().ToString();
}

constexpr char kPod[] = R"({"kind": "Pod", "metadata": {"name": "a", "labels": {"x": "y"}},
  "spec": {"nodeName": "n", "volumes": [{"name": "v", "secret": {}}, []], "containers": [
    {"name": "c", "resources": {"requests": {"cpu": "1"}}, "env": [{"name": "E"}]}, {"name": "d"}]},
  "status": {"phase": "Running", "podIP": "1.2.3.4"}})";

TEST_CASE("only the wanted fields of a document are built") {
  CHECK(Read(kPod, {"kind", "metadata.name", "spec.containers.*.resources", "status.phase"}) ==
        R"({"kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[)"
        R"({"resources":{"requests":{"cpu":"1"}}},{}]},"status":{"phase":"Running"}})");
  CHECK(Read(kPod, {"spec.volumes"}) == R"({"spec":{"volumes":[{"name":"v","secret":{}},[]]}})");
  CHECK(Read(kPod, {"missing", "status.missing"}) == R"({"status":{}})");
  CHECK(Read(kPod, {}) == json::Write(*json::Parse(kPod)));
}

TEST_CASE("a path that is the beginning of another one wants it all") {
  for (const std::vector<std::string>& paths :
       {std::vector<std::string>{"a", "a.b"}, std::vector<std::string>{"a.b", "a"}}) {
    CHECK(Read(R"({"a": {"b": 1, "c": [2]}, "d": 3})", paths) == R"({"a":{"b":1,"c":[2]}})");
  }
}

TEST_CASE("where the document has another form than the paths, nothing below is wanted") {
  CHECK(Read(R"({"a": [1, {"b": 2}]})", {"a.b"}) == R"({"a":[]})");
  CHECK(Read(R"({"a": {"b": 2}})", {"a.*"}) == R"({"a":{}})");
  CHECK(Read(R"({"a": 7})", {"a.b"}) == R"({"a":7})");
  CHECK(Read("[1, 2]", {"a"}) == "[]");
}

TEST_CASE("what is not wanted is read to its end all the same") {
  CHECK_THAT(Read(R"({"a": 1, "b": [}})", {"a"}), Catch::Contains("invalid JSON at byte 15"));
  CHECK_THAT(Read(R"({"a": 1, "b": {"c": 1})", {"a"}), Catch::Contains("invalid JSON"));
}

TEST_CASE("what is dropped and what is not wanted do not get into each other's way") {
  const json::Fields fields({"object.metadata", "object.spec.a"});
  const absl::string_view dropped[] = {"object", "metadata", "managedFields"};
  const auto value =
      json::Parse(R"({"object": {"spec": {"managedFields": [{}], "a": [1]}, "metadata":
                      {"managedFields": [{"f": {}}], "name": "n"}, "status": {"metadata": {}}}})",
                  {.dropped = dropped, .kept = &fields});
  REQUIRE(value.ok());
  CHECK(json::Write(*value) == R"({"object":{"metadata":{"name":"n"},"spec":{"a":[1]}}})");
}

}  // namespace
