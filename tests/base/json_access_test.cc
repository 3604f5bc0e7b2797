#include <catch2/catch.hpp>

#include "base/json.h"

namespace {

using json::Value;

const Value& Sample() {
  static const Value kSample = Value::Object({{"spec", Value::Object({{"replicas", 3},
                                                                      {"paused", true},
                                                                      {"name", "x"},
                                                                      {"list", Value::Array({1})},
                                                                      {"ratio", 1.0},
                                                                      {"nothing", Value()}})}});
  return kSample;
}

TEST_CASE("a field of the expected type is found") {
  CHECK(**json::FindInt(Sample(), {"spec", "replicas"}) == 3);
  CHECK(**json::FindString(Sample(), {"spec", "name"}) == "x");
  CHECK((*json::FindArray(Sample(), {"spec", "list"}))->size() == 1);
  CHECK((*json::FindObject(Sample(), {"spec"}))->Has("replicas"));
}

TEST_CASE("an absent field is not an error") {
  CHECK_FALSE(json::FindInt(Sample(), {"spec", "x"})->has_value());
  CHECK_FALSE(json::FindInt(Sample(), {"x", "y", "z"})->has_value());
  CHECK_FALSE(json::FindString(Sample(), {"x"})->has_value());
  CHECK(*json::FindObject(Sample(), {"x"}) == nullptr);
  CHECK(*json::FindArray(Sample(), {"x"}) == nullptr);
}

// The wording is that of unstructured.NestedInt64 and similar functions.
TEST_CASE("a field of another type is an error that says what was expected where") {
  CHECK(json::FindInt(Sample(), {"spec", "name"}).status() ==
        absl::InvalidArgumentError(
            ".spec.name accessor error: x is of the type string, expected int64"));
  CHECK(json::FindInt(Sample(), {"spec", "ratio"}).status().message() ==
        ".spec.ratio accessor error: 1 is of the type float64, expected int64");
  CHECK(json::FindInt(Sample(), {"spec", "nothing"}).status().message() ==
        ".spec.nothing accessor error: <nil> is of the type <nil>, expected int64");
  CHECK(json::FindString(Sample(), {"spec", "replicas"}).status().message() ==
        ".spec.replicas accessor error: 3 is of the type int64, expected string");
  CHECK(json::FindArray(Sample(), {"spec", "paused"}).status().message() ==
        ".spec.paused accessor error: true is of the type bool, expected []interface{}");
  CHECK_FALSE(json::FindObject(Sample(), {"spec", "list"}).ok());
  CHECK(json::FindInt(Sample(), {"spec", "name", "deeper"}).status().message() ==
        ".spec.name accessor error: x is of the type string, expected map[string]interface{}");
}

}  // namespace
