// By which fields a shadow identifies a write.
#include "kube/shadow/internal/shadow_changes.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"

namespace kube::internal {
namespace {

ShadowedChanges Changes(const char* before, const char* after) {
  return ChangesOf(json::Parse(before).value(), json::Parse(after).value());
}
std::string FieldsOf(const std::string& body) {
  return FieldsOfRequest({.method = "PATCH", .path = "/api/v1/nodes/a", .body = body});
}

}  // namespace

TEST_CASE("Changes of the same fields have the same identity, whatever their values are") {
  const ShadowedChanges one = Changes(R"({"a":{"b":1}})", R"({"a":{"b":2}})");
  CHECK(one.fields.size() == 1);
  CHECK(Changes(R"({"a":{"b":1,"c":1}})", R"({"a":{"b":3,"c":1}})").identity == one.identity);
  CHECK(Changes("{}", R"({"a":{"b":2}})").identity == one.identity);
  CHECK(Changes(R"({"a":{"b":1}})", R"({"a":{}})").identity == one.identity);
  CHECK(Changes(R"({"a":{"b":1}})", "{}").identity == one.identity);
  CHECK(Changes(R"({"a":{"b":1}})", R"({"a":{"c":1,"b":1}})").identity != one.identity);
  CHECK(Changes(R"({"a":{"b":1}})", R"({"a":{"c":1,"b":2}})").identity != one.identity);
  CHECK(Changes("{}", R"({"a.b":2})").identity != one.identity);
  CHECK(Changes("{}", "{}").identity.empty());
}

TEST_CASE("An item of a list with names is a field, and another list is one field") {
  const ShadowedChanges b = Changes(R"({"l":[{"type":"A","x":1},{"type":"B","x":1}]})",
                                    R"({"l":[{"type":"A","x":1},{"type":"B","x":2}]})");
  CHECK(b.fields.size() == 1);
  CHECK(Changes(R"({"l":[]})", R"({"l":[{"type":"B","x":2}]})").identity == b.identity);
  CHECK(Changes("{}", R"({"l":[{"type":"B"}]})").identity == b.identity);
  CHECK(Changes(R"({"l":[{"type":"B"}]})", R"({"l":[{"type":"A"}]})").fields.size() == 2);
  // An order, items of the same name, and values.
  CHECK(Changes(R"({"l":[{"type":"A"},{"type":"B"}]})", R"({"l":[{"type":"B"},{"type":"A"}]})")
            .fields.size() == 1);
  CHECK(Changes(R"({"l":[{"key":"A"}]})", R"({"l":[{"key":"B"},{"key":"B"}]})").fields.size() == 1);
  CHECK(Changes(R"({"l":["a"]})", R"({"l":["b","c"]})").fields.size() == 1);
  const ShadowedChanges f = Changes(R"({"finalizers":["a"]})", R"({"finalizers":["a","b"]})");
  CHECK(f.fields.size() == 1);
  CHECK(Changes(R"({"finalizers":["c"]})", R"({"finalizers":["b","c"]})").identity == f.identity);
}

TEST_CASE("Changes are among later ones while nobody has written their fields") {
  const ShadowedChanges due = Changes(R"({"a":1,"b":1})", R"({"a":2,"b":1})");
  CHECK(due.AreAmong(Changes(R"({"a":1,"b":1})", R"({"a":3,"b":1})")));
  CHECK(due.AreAmong(Changes(R"({"a":1,"b":5})", R"({"a":2,"b":1})")));
  CHECK_FALSE(due.AreAmong(Changes(R"({"a":7,"b":1})", R"({"a":2,"b":1})")));
  CHECK_FALSE(due.AreAmong(Changes(R"({"a":2,"b":5})", R"({"a":2,"b":1})")));
  CHECK(ShadowedChanges().AreAmong(due));
}

TEST_CASE("Of a huge change only some fields are kept, by which it is still known") {
  json::Value after = json::Value::Object();
  for (int i = 0; i < 100; ++i) after.Set(absl::StrCat("f", i), i);
  const ShadowedChanges whole = ChangesOf(json::Value::Object(), after);
  ShadowedChanges kept = whole;
  kept.Limit(10);
  CHECK(kept.fields.size() == 10);
  CHECK(kept.identity == whole.identity);
  CHECK(kept.AreAmong(whole));
}

TEST_CASE("A request whose object is not known is identified by the fields in its body") {
  const std::string fields = FieldsOf(R"({"a":{"b":1}})");
  CHECK(FieldsOf(R"({"a":{"b":2},"metadata":{"resourceVersion":"7"}})") == fields);
  CHECK(FieldsOf(R"({"metadata":{"name":"a"},"x":2})") ==
        FieldsOf(R"({"metadata":{"name":"b"},"x":3})"));
  CHECK(FieldsOf(R"({"a":{"b":[1]}})") == fields);
  CHECK(FieldsOf(R"({"a":{"c":1}})") != fields);
  CHECK(FieldsOf(R"([{"op":"test","path":"/a"},{"op":"replace","path":"/a","value":1}])") ==
        FieldsOf(R"([{"op":"replace","path":"/a","value":2}])"));
  CHECK(FieldsOf("no JSON") == FieldsOf(""));
}

}  // namespace kube::internal
