// What a kube-apiserver makes of whole requests is in tests/data/fields; here are the rules that
// these do not show one by one.
#include <string>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "base/yaml.h"
#include "kube/server/fields/typed_walks.h"

namespace kube::server {
namespace {

json::Value Yaml(const std::string& text) { return *yaml::Parse(text); }
std::string Text(const json::Value& value) { return json::Write(value); }

// A pod, whose lists of containers have the key "name".
struct PodFixture {
  FieldType type = FieldType::OfBuiltin({"", "v1", "Pod"});

  static json::Value Containers(const std::string& list) {
    return Yaml("{spec: {containers: " + list + "}}");
  }
  std::string MergedNames(const std::string& live, const std::string& config) {
    std::string out;
    const json::Value merged = Merged(Containers(live), Containers(config), type);
    for (const json::Value& item : merged["spec"]["containers"].items()) {
      out += item["name"].ToString();
    }
    return out;
  }
};

struct CustomFixture {
  json::Value schema;
  explicit CustomFixture(const std::string& spec)
      : schema(
            Yaml("{type: object, properties: {spec: {type: object, properties: " + spec + "}}}")) {}
  FieldType type() const { return FieldType::OfObjects(schema); }
};

}  // namespace

TEST_CASE_METHOD(PodFixture,
                 "a list has the order of what is applied, and keeps that of the rest") {
  CHECK(MergedNames("[{name: a}, {name: b}]", "[{name: b}, {name: a}]") == "ba");
  CHECK(MergedNames("[{name: a}, {name: b}, {name: c}]", "[{name: b}]") == "abc");
  CHECK(MergedNames("[{name: a}, {name: b}]", "[{name: x}, {name: b}]") == "axb");
  CHECK(MergedNames("[{name: a}, {name: b}, {name: c}]", "[{name: c}, {name: x}, {name: a}]") ==
        "bcxa");
  CHECK(MergedNames("[{name: a}]", "[{name: b}, {name: a}, {name: c}]") == "bac");
}

TEST_CASE_METHOD(PodFixture, "a merge keeps what the configuration does not set") {
  const json::Value merged = Merged(Containers("[{name: a, image: x, args: [p, q]}]"),
                                    Containers("[{name: a, args: [r]}]"), type);
  CHECK(Text(merged["spec"]["containers"]) == R"([{"args":["r"],"image":"x","name":"a"}])");
}

TEST_CASE_METHOD(PodFixture, "differences are those of items with the same keys") {
  const FieldChanges changes =
      ChangesBetween(Containers("[{name: a, image: x}, {name: b}]"),
                     Containers("[{name: c}, {name: a, image: y, tty: true}]"), type);
  CHECK(Text(changes.modified.root()) ==
        R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}})");
  CHECK(changes.added.Has({"f:spec", "f:containers", R"(k:{"name":"c"})"}));
  CHECK(changes.added.Has({"f:spec", "f:containers", R"(k:{"name":"a"})", "f:tty"}));
  CHECK(changes.removed.Has({"f:spec", "f:containers", R"(k:{"name":"b"})"}));
}

TEST_CASE_METHOD(PodFixture, "items that nothing tells apart are one field") {
  const json::Value twice = Containers("[{name: a, image: x}, {name: a, image: y}]");
  const PathOfField item{"f:spec", "f:containers", R"(k:{"name":"a"})"};
  CHECK(ChangesBetween(twice, Containers("[{name: a, image: x}, {name: a, image: z}]"), type)
            .modified.Has(item));
  CHECK(ChangesBetween(twice, Containers("[{name: a, image: x}]"), type).removed.Has(item));
  CHECK(ChangesBetween(Containers("[{name: a}]"), twice, type).added.Has(item));
  CHECK(ChangesBetween(twice, twice, type).modified.empty());
  CHECK(FieldsOf(twice, type).Has(item));
  CHECK_FALSE(CheckApplicable(twice, type).ok());
}

TEST_CASE_METHOD(PodFixture, "an item without a key has the one that the kind gives it") {
  const json::Value pod = Containers("[{name: a, ports: [{containerPort: 80}]}]");
  CHECK(FieldsOf(pod, type).Has({"f:spec", "f:containers", R"(k:{"name":"a"})", "f:ports",
                                 R"(k:{"containerPort":80,"protocol":"TCP"})"}));
}

TEST_CASE_METHOD(PodFixture, "removing fields removes what is empty then") {
  const json::Value pod = Containers("[{name: a, env: [{name: A, value: x}]}, {name: b}]");
  FieldSet fields;
  fields.Insert({"f:spec", "f:containers", R"(k:{"name":"b"})"});
  fields.Insert({"f:spec", "f:containers", R"(k:{"name":"a"})", "f:env", R"(k:{"name":"A"})"});
  CHECK(Text(WithoutFields(pod, fields, type)) == R"({"spec":{"containers":[{"name":"a"}]}})");
  CHECK(WithoutFields(pod, FieldSet(), type) == pod);
}

TEST_CASE_METHOD(PodFixture, "named fields above a field are added, not members of maps") {
  FieldSet fields;
  fields.Insert({"f:metadata", "f:labels", "f:a"});
  fields.Insert({"f:spec", "f:containers", R"(k:{"name":"a"})", "f:image"});
  CHECK(Text(WithNamedFields(fields, type).root()) ==
        R"({"f:metadata":{".":{},"f:labels":{".":{},"f:a":{}}},)"
        R"("f:spec":{".":{},"f:containers":{".":{},"k:{\"name\":\"a\"}":{"f:image":{}}}}})");
}

TEST_CASE_METHOD(PodFixture, "values of another form cannot be applied") {
  CHECK(CheckApplicable(Yaml("{spec: {containers: {a: b}}}"), type).message() ==
        R"(.spec.containers: expected list, got &{{"a":"b"}})");
  CHECK_FALSE(CheckApplicable(Yaml("{spec: []}"), type).ok());
  CHECK_FALSE(CheckApplicable(Yaml("{spec: {nodeName: {a: b}}}"), type).ok());
  CHECK(CheckApplicable(Yaml("{spec: {nodeName: null}, metadata: {labels: {a: b}}}"), type).ok());
}

TEST_CASE("a schema says which lists and maps have one owner") {
  const CustomFixture custom(R"({
      tags: {type: array, x-kubernetes-list-type: set, items: {type: string}},
      plain: {type: array, items: {type: object, properties: {a: {type: integer}}}},
      whole: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: integer}},
      free: {type: object, x-kubernetes-preserve-unknown-fields: true},
      any: {x-kubernetes-int-or-string: true}})");
  const json::Value value =
      Yaml("{spec: {tags: [x], plain: [{a: 1}], whole: {a: 1}, free: {a: {b: [1]}}, any: 25%}}");
  CHECK(CheckApplicable(value, custom.type()).ok());
  CHECK(Text(FieldsOf(value, custom.type()).root()) ==
        R"({"f:spec":{"f:any":{},"f:free":{"f:a":{".":{},"f:b":{}}},"f:plain":{},)"
        R"("f:tags":{"v:\"x\"":{}},"f:whole":{}}})");
  CHECK(CheckApplicable(Yaml("{spec: {color: red}}"), custom.type()).message() ==
        ".spec.color: field not declared in schema");
  CHECK_FALSE(CheckApplicable(Yaml("{spec: {tags: [{a: b}]}}"), custom.type()).ok());
  CHECK_FALSE(CheckApplicable(Yaml("{spec: {tags: [[a]]}}"), custom.type()).ok());
  CHECK_FALSE(CheckApplicable(Yaml("{spec: {tags: [null]}}"), custom.type()).ok());
}

}  // namespace kube::server
