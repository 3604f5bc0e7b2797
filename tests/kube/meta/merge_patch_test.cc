#include <catch2/catch.hpp>

#include "kube/meta/patch.h"
#include "tests/kube/meta/truth_table.h"

namespace {

using kube_test::Json;

TEST_CASE("merge patches apply as kube-apiserver's library does") {
  const json::Value table = kube_test::LoadTable("merge_patches.json");
  REQUIRE(table["apply"].size() > 100);
  for (const json::Value& row : table["apply"].items()) {
    INFO(json::Write(row));
    CHECK(json::Write(kube::ApplyMergePatch(row["doc"], row["patch"])) ==
          json::Write(row["result"]));
  }
}

TEST_CASE("computed merge patches are the smallest ones") {
  const json::Value table = kube_test::LoadTable("merge_patches.json");
  REQUIRE(table["diff"].size() > 100);
  for (const json::Value& row : table["diff"].items()) {
    INFO(json::Write(row));
    const json::Value patch = kube::DiffMergePatch(row["before"], row["after"]);
    const json::Value expected = row["patch"].empty() ? json::Value() : row["patch"];
    CHECK(json::Write(patch) == json::Write(expected));
  }
}

TEST_CASE("a computed merge patch turns before into after") {
  const json::Value table = kube_test::LoadTable("merge_patches.json");
  for (const json::Value& row : table["diff"].items()) {
    const json::Value patch = kube::DiffMergePatch(row["before"], row["after"]);
    if (patch.is_null()) {
      CHECK(row["before"] == row["after"]);
      continue;
    }
    INFO(json::Write(row));
    CHECK(kube::ApplyMergePatch(row["before"], patch) == row["after"]);
  }
}

TEST_CASE("nulls count as absent when a merge patch is computed") {
  const struct {
    const char* before;
    const char* after;
    const char* patch;
  } cases[] = {
      {R"({"a":null})", "{}", "null"},
      {"{}", R"({"a":null})", "null"},
      {R"({"a":1})", R"({"a":null})", R"({"a":null})"},
      {R"({"a":null})", R"({"a":1})", R"({"a":1})"},
      {"{}", R"({"a":{"b":null,"c":{"d":null,"e":1}}})", R"({"a":{"c":{"e":1}}})"},
      {R"({"a":[1]})", R"({"a":[null]})", R"({"a":[null]})"},
      {R"({"a":1})", R"({"a":1.0})", "null"},
  };
  for (const auto& c : cases) {
    INFO(c.before << " to " << c.after);
    CHECK(json::Write(kube::DiffMergePatch(Json(c.before), Json(c.after))) == c.patch);
  }
}

TEST_CASE("patches that set, change or remove a list are distinguished from those that do not") {
  struct Case {
    const char* before;
    const char* patch;
    bool touches;
  };
  const Case cases[] = {
      {"{}", R"({"metadata":{"finalizers":[]}})", true},
      {"null", "[]", true},
      {R"({"metadata":{"finalizers":["f"]}})", R"({"metadata":{"finalizers":null}})", true},
      {R"({"spec":{"placement":{"tolerations":[1]}}})", R"({"spec":{"placement":null}})", true},
      {R"({"a":[1]})", R"({"a":"text"})", true},
      {R"({"a":[1]})", R"({"a":{"b":"c"}})", true},
      {"{}", R"({"metadata":{"finalizers":null},"a":{"b":"c"}})", false},
      {R"({"taints":[1],"a":{"b":"c"}})", R"({"a":{"b":null}})", false},
      {"[1]", "null", true},
      {"{}", "null", false},
  };
  for (const Case& c : cases) {
    INFO(c.before << " patched with " << c.patch);
    CHECK(kube::PatchTouchesList(Json(c.before), Json(c.patch)) == c.touches);
  }
}

TEST_CASE("a guarded JSON patch does what the merge patch does") {
  const json::Value table = kube_test::LoadTable("merge_patches.json");
  for (const json::Value& row : table["diff"].items()) {
    const json::Value patch = kube::DiffMergePatch(row["before"], row["after"]);
    if (!patch.is_object() || !row["before"].is_object()) continue;
    INFO(json::Write(row));
    const json::Value operations = kube::GuardedJsonPatch(row["before"], patch);
    CAPTURE(json::Write(operations));
    const auto patched = kube::ApplyJsonPatch(row["before"], operations);
    REQUIRE(patched.ok());
    CHECK(*patched == row["after"]);
  }
}

TEST_CASE("a guarded JSON patch fails where a list or an object it replaces has changed") {
  struct Case {
    const char* before;
    const char* after;
    const char* meanwhile;
    bool applies;
  };
  const Case cases[] = {
      {R"({"l":["a"]})", R"({"l":["a","b"]})", R"({"l":["a"],"other":1})", true},
      {R"({"l":["a"]})", R"({"l":["a","b"]})", R"({"l":["a","c"]})", false},
      {R"({"l":["a"]})", R"({"l":["a","b"]})", "{}", false},
      {"{}", R"({"l":["b"]})", R"({"other":{}})", true},
      {"{}", R"({"l":["b"]})", R"({"l":["a"]})", false},
      {R"({"l":["a"]})", "{}", R"({"l":["a","c"]})", false},
      {"{}", R"({"o":{"a/b~c":1}})", R"({"o":{"theirs":1}})", false},
      {R"({"o":{}})", R"({"o":{"a/b~c":1}})", R"({"o":{"theirs":1}})", true},
      {R"({"o":{"n":1}})", R"({"o":{"n":2}})", R"({"o":{"n":3}})", true},
  };
  for (const Case& c : cases) {
    INFO(c.before << " to " << c.after << " at " << c.meanwhile);
    const json::Value before = Json(c.before);
    const json::Value patch = kube::DiffMergePatch(before, Json(c.after));
    const json::Value operations = kube::GuardedJsonPatch(before, patch);
    CAPTURE(json::Write(operations));
    CHECK(kube::ApplyJsonPatch(Json(c.meanwhile), operations).ok() == c.applies);
  }
}

TEST_CASE("applying a merge patch leaves the target as it was") {
  const json::Value target = Json(R"({"a":{"b":[1,2]},"c":"d"})");
  const std::string before = json::Write(target);
  kube::ApplyMergePatch(target, Json(R"({"a":{"b":null,"x":1},"c":null})"));
  CHECK(json::Write(target) == before);
}

}  // namespace
