#include "base/yaml_position.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace {

// Returns "key line:column, value line:column".
std::string Find(absl::string_view text, json::Path path) {
  const auto place = yaml::FindPlace(text, path);
  const auto indexed = yaml::PlaceIndex(text).Find(path);
  CHECK(indexed.has_value() == place.has_value());
  if (place && indexed) {
    CHECK(indexed->key.line == place->key.line);
    CHECK(indexed->key.column == place->key.column);
    CHECK(indexed->value.line == place->value.line);
    CHECK(indexed->value.column == place->value.column);
  }
  if (!place) return "nowhere";
  return absl::StrCat("key ", place->key.line, ":", place->key.column, ", value ",
                      place->value.line, ":", place->value.column);
}

constexpr char kManifest[] = R"(# A comment.
kind: Widget
spec:
  target: {kind: Pod}
  script: |
    first
    second
  list:
  - name: a
  - name: b
    deep: [1, 2]
)";

}  // namespace

TEST_CASE("A member of a YAML text is found with the place of its name and of its value") {
  CHECK(Find(kManifest, {"kind"}) == "key 2:1, value 2:7");
  CHECK(Find(kManifest, {"spec", "target", "kind"}) == "key 4:12, value 4:18");
  CHECK(Find(kManifest, {"spec", "script"}) == "key 5:3, value 5:11");
}

TEST_CASE("Items of lists are found by number") {
  CHECK(Find(kManifest, {"spec", "list", "1", "name"}) == "key 10:5, value 10:11");
  CHECK(Find(kManifest, {"spec", "list", "1", "deep", "1"}) == "key 11:15, value 11:15");
}

TEST_CASE("What is not there, or stands behind a break, is nowhere") {
  CHECK(Find(kManifest, {"spec", "other"}) == "nowhere");
  CHECK(Find(kManifest, {"spec", "kind"}) == "nowhere");
  CHECK(Find("a: [1\nb: 2\n", {"b"}) == "nowhere");
  CHECK(Find("", {"b"}) == "nowhere");
}

TEST_CASE("JSON texts have places too") {
  CHECK(Find("{\n  \"a\": {\"b\": 1}\n}", {"a", "b"}) == "key 2:9, value 2:14");
}

TEST_CASE("Names that a map has twice are found, each with both places") {
  const auto found = yaml::FindRepeatedNames(
      "a: 1\nb:\n- {c: 1, d: {c: 2}, c: 3}\n- c: 4\na: 2\n<<: {}\n<<: {}\n---\na: 1\na: 2\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == std::vector<std::string>{"b", "0", "c"});
  CHECK(found[0].first.line == 3);
  CHECK(found[0].first.column == 4);
  CHECK(found[0].again.column == 21);
  CHECK(found[1].path == std::vector<std::string>{"a"});
  CHECK(found[1].again.line == 5);
  CHECK(yaml::FindRepeatedNames("a: 1\na: [").size() == 1);
}
