#include <string>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "kube/server/fields/field_set.h"

namespace kube::server {
namespace {

FieldSet Set(const std::string& text) { return FieldSet(*json::Parse(text)); }
std::string Text(const FieldSet& set) { return json::Write(set.root()); }

std::string Paths(const FieldSet& set) {
  std::string out;
  set.ForEach([&](const PathOfField& path) { out += PathText(path) + " "; });
  return out;
}

}  // namespace

TEST_CASE("a field that contains others of the set is marked") {
  FieldSet set;
  set.Insert({"f:spec", "f:a"});
  CHECK(Text(set) == R"({"f:spec":{"f:a":{}}})");
  set.Insert({"f:spec"});
  CHECK(Text(set) == R"({"f:spec":{".":{},"f:a":{}}})");
  set.Insert({"f:spec", "f:a", "f:b"});
  CHECK(Text(set) == R"({"f:spec":{".":{},"f:a":{".":{},"f:b":{}}}})");
  CHECK(set.Has({"f:spec"}));
  CHECK(set.Has({"f:spec", "f:a"}));
  CHECK_FALSE(set.Has({"f:spec", "f:b"}));
  CHECK_FALSE(set.Has({}));
}

TEST_CASE("a tree is erased with the branches that have nothing else") {
  FieldSet set = Set(R"({"f:a":{"f:b":{"f:c":{}}},"f:d":{".":{},"f:e":{}}})");
  set.EraseTree({"f:a", "f:b"});
  CHECK(Text(set) == R"({"f:d":{".":{},"f:e":{}}})");
  set.EraseTree({"f:d", "f:e"});
  CHECK(Text(set) == R"({"f:d":{}})");
  set.EraseTree({"f:none"});
  CHECK(Text(set) == R"({"f:d":{}})");
}

TEST_CASE("sets are united, cut and subtracted field by field") {
  const FieldSet a = Set(R"({"f:x":{".":{},"f:a":{},"f:b":{}},"f:y":{}})");
  const FieldSet b = Set(R"({"f:x":{"f:a":{},"f:c":{}},"f:y":{"f:z":{}}})");
  CHECK(Text(a.Union(b)) ==
        R"({"f:x":{".":{},"f:a":{},"f:b":{},"f:c":{}},"f:y":{".":{},"f:z":{}}})");
  CHECK(Text(a.Intersection(b)) == R"({"f:x":{"f:a":{}}})");
  CHECK(Text(a.Difference(b)) == R"({"f:x":{".":{},"f:b":{}},"f:y":{}})");
  CHECK(Text(b.Difference(a)) == R"({"f:x":{"f:c":{}},"f:y":{"f:z":{}}})");
  CHECK(a.Difference(a).empty());
  CHECK(a.Union(FieldSet()) == a);
  CHECK(FieldSet().Union(a) == a);
}

TEST_CASE("fields at one place are visited before those in them") {
  CHECK(Paths(Set(R"({"f:x":{".":{},"f:a":{}},"f:y":{}})")) == ".x .y .x.a ");
}

TEST_CASE("paths are written as messages have them") {
  CHECK(PathText({"f:spec", KeyedItemStep(*json::Parse(R"({"port":80,"name":"a"})")),
                  SetItemStep("x"), "f:image"}) == R"(.spec[name="a",port=80][="x"].image)");
}

TEST_CASE("what clients send is brought to its form") {
  const FieldSet set = FieldSet::Read(*json::Parse(
      R"({"f:a":{"k:{\"port\":80, \"name\":\"x\"}":{".":{}}},"x:b":{},"v: \"y\"":{},"k:[]":{}})"));
  CHECK(Text(set) == R"({"f:a":{"k:{\"name\":\"x\",\"port\":80}":{}},"v:\"y\"":{}})");
  CHECK(FieldSet::Read("no object").empty());
}

}  // namespace kube::server
