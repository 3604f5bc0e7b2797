// JSON in the form in which Go's structs write it.
#include "kube/schema/typed_value.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace {

using kube::schema::Field;
using kube::schema::FindKind;
using kube::schema::Shape;
using kube::schema::Struct;
using kube::schema::Type;
using kube::schema::TypedForm;
using kube::schema::TypedValue;
using enum kube::schema::Type;

constexpr uint8_t kPointer = Field::kPointer;
constexpr uint8_t kOmitEmpty = Field::kOmitEmpty;
constexpr uint8_t kOmitZero = Field::kOmitZero;

constexpr Field kInnerFields[] = {{.name = "may", .type = kString, .options = kOmitEmpty},
                                  {.name = "must", .type = kString}};
constexpr Struct kInner = {"g", "v1", "Inner", kInnerFields};
constexpr TypedForm kFull = {.fields = TypedForm::Fields::kFull};
constexpr TypedForm kKeepsLists = {.fields = TypedForm::Fields::kFull, .keeps_empty_lists = true};

// Reads `{"f": <value>}`, or `{}` when the value is "", with a struct that has one field.
std::string Read(const TypedForm& form, Field field, const std::string& value) {
  field.name = "f";
  if (field.type == kStruct) field.of = &kInner;
  const Struct type = {"g", "v1", "K", absl::MakeConstSpan(&field, 1)};
  const json::Value object =
      json::Parse(value.empty() ? "{}" : absl::StrCat("{\"f\":", value, "}")).value();
  const auto read = TypedValue(type, object, form);
  return read.ok() ? json::Write(*read) : std::string(read.status().message());
}

// The same, in Go's full form.
std::string One(Type type, uint8_t options, const std::string& value) {
  return Read(kFull, {.type = type, .options = options}, value);
}
std::string List(Type type, uint8_t options, const std::string& value) {
  return Read(kFull, {.type = type, .shape = Shape::kList, .options = options}, value);
}
std::string Map(Type type, uint8_t options, const std::string& value) {
  return Read(kFull, {.type = type, .shape = Shape::kMap, .options = options}, value);
}

std::string Object(const std::string& text) {
  const json::Value object = json::Parse(text).value();
  const auto gvk = kube::ParseGvk(object["apiVersion"].AsString(), object["kind"].AsString());
  const Struct* const type = FindKind(gvk.value());
  REQUIRE(type != nullptr);
  return json::Write(TypedValue(*type, object, kFull).value());
}

}  // namespace

TEST_CASE("Strings, booleans and integers that are zero are written unless omitempty") {
  CHECK(One(kString, 0, "") == R"({"f":""})");
  CHECK(One(kString, 0, "null") == R"({"f":""})");
  CHECK(One(kString, kOmitEmpty, R"("")") == "{}");
  CHECK(One(kString, kOmitEmpty, R"("a")") == R"({"f":"a"})");
  CHECK(One(kBool, 0, "") == R"({"f":false})");
  CHECK(One(kBool, kOmitEmpty, "false") == "{}");
  CHECK(One(kBool, kOmitEmpty, "true") == R"({"f":true})");
  CHECK(One(kInt64, 0, "null") == R"({"f":0})");
  CHECK(One(kInt32, kOmitEmpty, "0") == "{}");
  CHECK(One(kInt32, kOmitEmpty, "-7") == R"({"f":-7})");
}

TEST_CASE("Whole doubles are integers, and an int32 loses what does not fit") {
  CHECK(One(kInt32, 0, "2.0") == R"({"f":2})");
  CHECK(One(kInt32, 0, "4294967298") == R"({"f":2})");
  CHECK(One(kInt64, 0, "4294967298") == R"({"f":4294967298})");
  CHECK(One(kInt64, 0, "9e18") == R"({"f":9000000000000000000})");
}

TEST_CASE("A pointer to a zero value is written, null is not") {
  CHECK(One(kInt32, kPointer | kOmitEmpty, "0") == R"({"f":0})");
  CHECK(One(kBool, kPointer | kOmitEmpty, "false") == R"({"f":false})");
  CHECK(One(kString, kPointer | kOmitEmpty, "null") == "{}");
  CHECK(One(kString, kPointer, "") == R"({"f":null})");
  CHECK(One(kStruct, kPointer | kOmitEmpty, "{}") == R"({"f":{"must":""}})");
  CHECK(One(kStruct, kPointer | kOmitEmpty, "") == "{}");
}

TEST_CASE("Lists and maps that are empty vanish when omitempty, and are null when absent") {
  CHECK(List(kString, kOmitEmpty, "[]") == "{}");
  CHECK(List(kString, 0, "[]") == R"({"f":[]})");
  CHECK(List(kString, 0, "") == R"({"f":null})");
  CHECK(List(kString, 0, R"(["a",null])") == R"({"f":["a",""]})");
  CHECK(Map(kString, kOmitEmpty, "{}") == "{}");
  CHECK(Map(kString, 0, "") == R"({"f":null})");
  CHECK(Map(kString, 0, R"({"a":"b","c":null})") == R"({"f":{"a":"b","c":""}})");
  CHECK(List(kStruct, 0, R"([{"may":""},{"may":"x"}])") ==
        R"({"f":[{"must":""},{"may":"x","must":""}]})");
}

TEST_CASE("Empty lists can be kept, to distinguish them from absent ones") {
  CHECK(Read(kKeepsLists, {.type = kString, .shape = Shape::kList, .options = kOmitEmpty}, "[]") ==
        R"({"f":[]})");
  CHECK(Read(kKeepsLists, {.type = kString, .shape = Shape::kMap, .options = kOmitEmpty}, "{}") ==
        R"({"f":{}})");
  CHECK(Read(kKeepsLists, {.type = kString, .shape = Shape::kList, .options = kOmitEmpty},
             "null") == "{}");
  CHECK(Read(kKeepsLists, {.type = kString, .options = kOmitEmpty}, R"("")") == "{}");
}

TEST_CASE("Structs are always written, without the fields they do not have") {
  CHECK(One(kStruct, kOmitEmpty, "") == R"({"f":{"must":""}})");
  CHECK(One(kStruct, 0, R"({"must":"a","may":null,"other":1,"Must":"b"})") ==
        R"({"f":{"must":"a"}})");
}

TEST_CASE("Quantities have their canonical form") {
  CHECK(One(kQuantity, 0, R"("0.5")") == R"({"f":"500m"})");
  CHECK(One(kQuantity, 0, "2") == R"({"f":"2"})");
  CHECK(One(kQuantity, 0, "0.5") == R"({"f":"500m"})");
  CHECK(One(kQuantity, 0, R"(" 1.5Gi ")") == R"({"f":"1536Mi"})");
  CHECK(One(kQuantity, 0, R"("1e3")") == R"({"f":"1e3"})");
  CHECK(One(kQuantity, kOmitEmpty, "") == R"({"f":"0"})");
  CHECK(One(kQuantity, kPointer | kOmitEmpty, "") == "{}");
  CHECK(Map(kQuantity, 0, R"({"cpu":"1000m","memory":null})") ==
        R"({"f":{"cpu":"1","memory":"0"}})");
}

TEST_CASE("A quantity that looks canonical keeps its text") {
  for (const char* text : {"+7", "007", "1.500", "1E3", "1.500k", "+01Ki", "0"}) {
    CHECK(One(kQuantity, 0, absl::StrCat("\"", text, "\"")) ==
          absl::StrCat(R"({"f":")", text, "\"}"));
  }
  CHECK(One(kQuantity, 0, R"("1.50")") == R"({"f":"1500m"})");
  CHECK(One(kQuantity, 0, R"("0.500")") == R"({"f":"500m"})");
  CHECK(One(kQuantity, 0, R"("1000.000")") == R"({"f":"1k"})");
  CHECK(One(kQuantity, 0, R"("08Ki")") == R"({"f":"8Ki"})");
  CHECK(One(kQuantity, 0, R"("00")") == R"({"f":"0"})");
}

TEST_CASE("Times are in UTC and whole seconds; no time is null, or absent when omitzero") {
  CHECK(One(kTime, 0, R"("2026-01-01T02:00:00.5+02:00")") == R"({"f":"2026-01-01T00:00:00Z"})");
  CHECK(One(kTime, kOmitEmpty, "") == R"({"f":null})");
  CHECK(One(kTime, kOmitEmpty | kOmitZero, "null") == "{}");
  CHECK(One(kTime, kOmitZero, R"("0001-01-01T00:00:00Z")") == "{}");
  CHECK(One(kTime, kPointer | kOmitEmpty, "") == "{}");
  CHECK(One(kTime, kPointer | kOmitEmpty, R"("0001-01-01T00:00:00Z")") == R"({"f":null})");
}

TEST_CASE("An integer or a string stays what it is, and is 0 when absent") {
  CHECK(One(kIntOrString, 0, "80") == R"({"f":80})");
  CHECK(One(kIntOrString, 0, R"("25%")") == R"({"f":"25%"})");
  CHECK(One(kIntOrString, kOmitEmpty, "") == R"({"f":0})");
  CHECK(One(kIntOrString, kPointer | kOmitEmpty, "0") == R"({"f":0})");
}

TEST_CASE("Raw JSON is left alone") {
  CHECK(One(kRaw, kPointer | kOmitEmpty, R"({"f:a":{},"n":[]})") == R"({"f":{"f:a":{},"n":[]}})");
  CHECK(One(kRaw, kPointer | kOmitEmpty, "") == "{}");
}

TEST_CASE("A value of a wrong type is refused in the words of Go's decoder") {
  const auto refusal = [](const char* value, const char* type, const char* field = "K.f") {
    return absl::StrCat("json: cannot unmarshal ", value, " into Go struct field ", field,
                        " of type ", type);
  };
  CHECK(One(kString, 0, "1") == refusal("number", "string"));
  CHECK(One(kBool, 0, R"("true")") == refusal("string", "bool"));
  CHECK(One(kInt32, 0, "1.5") == refusal("number", "int32"));
  CHECK(One(kInt64, 0, "9.3e18") == refusal("number", "int64"));
  CHECK(One(kBytes, 0, "1") == refusal("number", "[]byte"));
  CHECK(One(kBytes, 0, R"("no base64!")") == "illegal base64 data at input byte 0");
  CHECK_THAT(One(kQuantity, 0, R"("")"), Catch::Contains("quantities must match"));
  CHECK(One(kQuantity, 0, "{}") == refusal("object", "resource.Quantity"));
  CHECK(One(kTime, 0, R"("soon")") ==
        R"(parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon")");
  CHECK(One(kTime, 0, "0") == refusal("number", "string"));
  CHECK(One(kIntOrString, 0, "4294967298") == refusal("number", "intstr.IntOrString"));
  CHECK(One(kIntOrString, 0, "true") == refusal("bool", "intstr.IntOrString"));
  CHECK(List(kString, 0, "{}") == refusal("object", "[]"));
  CHECK(List(kString, 0, R"(["a",1])") == refusal("number", "string", "K.f[1]"));
  CHECK(Map(kString, 0, "[]") == refusal("array", "map[string]"));
  CHECK(Map(kString, 0, R"({"a":1})") == refusal("number", "string", "K.f.a"));
  CHECK(Map(kStrings, 0, R"({"a":[true]})") == refusal("bool", "string", "K.f.a[0]"));
  CHECK(One(kStruct, 0, R"({"must":1})") == refusal("number", "string", "Inner.f.must"));
  CHECK(List(kStruct, 0, R"([{"must":"a"},true])") == refusal("bool", "Inner", "K.f[1]"));
}

TEST_CASE("The short form has what Go distinguishes from an absent field, and no more") {
  const TypedForm kShort;
  for (const Type type : {kString, kBytes}) {
    CHECK(Read(kShort, {.type = type, .options = kOmitEmpty}, R"("")") == "{}");
    CHECK(Read(kShort, {.type = type}, R"("")") == R"({"f":""})");
    CHECK(Read(kShort, {.type = type}, "null") == "{}");
    CHECK(Read(kShort, {.type = type}, "") == "{}");
  }
  CHECK(Read(kShort, {.type = kInt32, .options = kOmitEmpty}, "0") == "{}");
  CHECK(Read(kShort, {.type = kInt32, .options = kOmitEmpty | kPointer}, "0") == R"({"f":0})");
  CHECK(Read(kShort, {.type = kInt32}, "4294967298") == R"({"f":4294967298})");
  CHECK(Read(kShort, {.type = kBool}, "false") == R"({"f":false})");
  CHECK(Read(kShort, {.type = kString, .shape = Shape::kList}, "[]") == "{}");
  CHECK(Read(kShort, {.type = kString, .shape = Shape::kMap}, "{}") == "{}");
  CHECK(Read(kShort, {.type = kString, .shape = Shape::kList, .options = kOmitEmpty}, R"([""])") ==
        R"({"f":[""]})");
  CHECK(Read(kShort, {.type = kString, .shape = Shape::kMap, .options = kOmitEmpty},
             R"({"a":"","b":null})") == R"({"f":{"a":"","b":""}})");
  CHECK(Read(kShort, {.type = kStruct}, R"({"may":"","must":""})") == R"({"f":{"must":""}})");
  CHECK(Read(kShort, {.type = kStruct}, "{}") == R"({"f":{}})");
  CHECK(Read(kShort, {.type = kStruct, .shape = Shape::kList}, "[null]") == R"({"f":[{}]})");
  CHECK(Read(kShort, {.type = kTime}, R"("0001-01-01T00:00:00Z")") == "{}");
  CHECK(Read(kShort, {.type = kMicroTime}, R"("2026-01-01T02:00:00.5+02:00")") ==
        R"({"f":"2026-01-01T00:00:00.500000Z"})");
}

TEST_CASE("The short form keeps an object's own metadata, and names the fields it drops") {
  const json::Value object = json::Parse(R"({"apiVersion":"apps/v1","kind":"StatefulSet",
    "metadata":{"name":"a","labels":{},"own":1},"a":1,"z":1,
    "spec":{"replicass":1,"volumeClaimTemplates":[{"kind":"PersistentVolumeClaim",
      "metadata":{"labels":{},"own":1}}]}})")
                                 .value();
  std::vector<std::string> unknown;
  const auto read =
      TypedValue(*FindKind({"apps", "v1", "StatefulSet"}), object, {.unknown = &unknown});
  REQUIRE(read.ok());
  CHECK(*read == json::Parse(R"({"apiVersion":"apps/v1","kind":"StatefulSet",
    "metadata":{"name":"a","labels":{},"own":1},
    "spec":{"volumeClaimTemplates":[{"kind":"PersistentVolumeClaim","metadata":{}}]}})")
                     .value());
  CHECK(unknown == std::vector<std::string>{"a", "spec.replicass",
                                            "spec.volumeClaimTemplates[0].metadata.own", "z"});
}

TEST_CASE("An empty Deployment gets what its struct always has") {
  CHECK(Object(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a",)"
               R"("creationTimestamp":null,"labels":{}},"spec":{"replicas":0},"unknown":1})") ==
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},)"
        R"("spec":{"replicas":0,"selector":null,"strategy":{},)"
        R"("template":{"metadata":{},"spec":{"containers":null}}},"status":{}})");
}

TEST_CASE("A Pod's containers and conditions get what their structs always have") {
  CHECK(
      Object(R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","ports":)"
             R"([{"containerPort":80,"hostPort":0}],"livenessProbe":{"httpGet":{"port":"web"}}}]},)"
             R"("status":{"conditions":[{"type":"Ready","status":"True"}]}})") ==
      R"({"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":[{"livenessProbe":)"
      R"({"httpGet":{"port":"web"}},"name":"c","ports":[{"containerPort":80}],"resources":{}}]},)"
      R"("status":{"conditions":[{"lastProbeTime":null,"lastTransitionTime":null,)"
      R"("status":"True","type":"Ready"}]}})");
}
