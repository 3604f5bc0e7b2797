// Objects in the form in which Go's structs write them.
#include "interpreter/native/go_encoding.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "interpreter/native/type_table.h"

namespace {

using interpreter::native::EmptyLists;
using interpreter::native::EncodeAsGo;
using interpreter::native::TypeTable;

// Encodes `{"f": <value>}`, or `{}` when the value is "", with a struct that has one field of that
// type and those options.
std::string Field(const std::string& type, const std::string& value,
                  EmptyLists empty_lists = EmptyLists::kOmitted) {
  const auto table = TypeTable::Parse(absl::StrCat("kind v1 K g/v1.K\ng/v1.K\n  f ", type,
                                                   "\ng/v1.Inner\n  must string\n  may string "
                                                   "omitempty\n"));
  REQUIRE(table.ok());
  const json::Value object =
      json::Parse(value.empty() ? "{}" : absl::StrCat("{\"f\":", value, "}")).value();
  const auto encoded = EncodeAsGo(*table->OfKind("v1", "K"), object, empty_lists);
  return encoded.ok() ? json::Write(*encoded) : std::string(encoded.status().message());
}

std::string Object(const std::string& text) {
  const json::Value object = json::Parse(text).value();
  const auto* const type =
      TypeTable::Kubernetes().OfKind(object["apiVersion"].AsString(), object["kind"].AsString());
  REQUIRE(type != nullptr);
  return json::Write(EncodeAsGo(*type, object).value());
}

}  // namespace

TEST_CASE("Strings, booleans and integers that are zero are written unless omitempty") {
  CHECK(Field("string", "") == R"({"f":""})");
  CHECK(Field("string", "null") == R"({"f":""})");
  CHECK(Field("string omitempty", R"("")") == "{}");
  CHECK(Field("string omitempty", R"("a")") == R"({"f":"a"})");
  CHECK(Field("bool", "") == R"({"f":false})");
  CHECK(Field("bool omitempty", "false") == "{}");
  CHECK(Field("bool omitempty", "true") == R"({"f":true})");
  CHECK(Field("int64", "null") == R"({"f":0})");
  CHECK(Field("int32 omitempty", "0") == "{}");
  CHECK(Field("int32 omitempty", "-7") == R"({"f":-7})");
}

TEST_CASE("Whole doubles are integers, and an int32 loses what does not fit") {
  CHECK(Field("int32", "2.0") == R"({"f":2})");
  CHECK(Field("int32", "4294967298") == R"({"f":2})");
  CHECK(Field("int64", "4294967298") == R"({"f":4294967298})");
  CHECK(Field("int64", "9e18") == R"({"f":9000000000000000000})");
  CHECK(Field("int64", "9.3e18") == "f: 9300000000000000000 is not an integer");
}

TEST_CASE("A pointer to a zero value is written, null is not") {
  CHECK(Field("*int32 omitempty", "0") == R"({"f":0})");
  CHECK(Field("*bool omitempty", "false") == R"({"f":false})");
  CHECK(Field("*string omitempty", "null") == "{}");
  CHECK(Field("*string", "") == R"({"f":null})");
  CHECK(Field("*g/v1.Inner omitempty", "{}") == R"({"f":{"must":""}})");
  CHECK(Field("*g/v1.Inner omitempty", "") == "{}");
}

TEST_CASE("Lists and maps that are empty vanish when omitempty, and are null when absent") {
  CHECK(Field("[]string omitempty", "[]") == "{}");
  CHECK(Field("[]string", "[]") == R"({"f":[]})");
  CHECK(Field("[]string", "") == R"({"f":null})");
  CHECK(Field("[]string", R"(["a",null])") == R"({"f":["a",""]})");
  CHECK(Field("map:string omitempty", "{}") == "{}");
  CHECK(Field("map:string", "") == R"({"f":null})");
  CHECK(Field("map:string", R"({"a":"b","c":null})") == R"({"f":{"a":"b","c":""}})");
  CHECK(Field("[]g/v1.Inner", R"([{"may":""},{"may":"x"}])") ==
        R"({"f":[{"must":""},{"may":"x","must":""}]})");
}

TEST_CASE("Empty lists can be kept, to distinguish them from absent ones") {
  CHECK(Field("[]string omitempty", "[]", EmptyLists::kKept) == R"({"f":[]})");
  CHECK(Field("map:string omitempty", "{}", EmptyLists::kKept) == R"({"f":{}})");
  CHECK(Field("[]string omitempty", "null", EmptyLists::kKept) == "{}");
  CHECK(Field("string omitempty", R"("")", EmptyLists::kKept) == "{}");
}

TEST_CASE("Structs are always written, without the fields they do not have") {
  CHECK(Field("g/v1.Inner omitempty", "") == R"({"f":{"must":""}})");
  CHECK(Field("g/v1.Inner", R"({"must":"a","may":null,"other":1,"Must":"b"})") ==
        R"({"f":{"must":"a"}})");
}

TEST_CASE("Quantities have their canonical form") {
  CHECK(Field("quantity", R"("0.5")") == R"({"f":"500m"})");
  CHECK(Field("quantity", "2") == R"({"f":"2"})");
  CHECK(Field("quantity", "0.5") == R"({"f":"500m"})");
  CHECK(Field("quantity", R"(" 1.5Gi ")") == R"({"f":"1536Mi"})");
  CHECK(Field("quantity", R"("1e3")") == R"({"f":"1e3"})");
  CHECK(Field("quantity omitempty", "") == R"({"f":"0"})");
  CHECK(Field("*quantity omitempty", "") == "{}");
  CHECK(Field("map:quantity", R"({"cpu":"1000m","memory":null})") ==
        R"({"f":{"cpu":"1","memory":"0"}})");
}

TEST_CASE("A quantity that looks canonical keeps its text") {
  for (const char* text : {"+7", "007", "1.500", "1E3", "1.500k", "+01Ki", "0"}) {
    CHECK(Field("quantity", absl::StrCat("\"", text, "\"")) ==
          absl::StrCat(R"({"f":")", text, "\"}"));
  }
  CHECK(Field("quantity", R"("1.50")") == R"({"f":"1500m"})");
  CHECK(Field("quantity", R"("0.500")") == R"({"f":"500m"})");
  CHECK(Field("quantity", R"("1000.000")") == R"({"f":"1k"})");
  CHECK(Field("quantity", R"("08Ki")") == R"({"f":"8Ki"})");
  CHECK(Field("quantity", R"("00")") == R"({"f":"0"})");
}

TEST_CASE("Times are in UTC and whole seconds; no time is null, or absent when omitzero") {
  CHECK(Field("time", R"("2026-01-01T02:00:00.5+02:00")") == R"({"f":"2026-01-01T00:00:00Z"})");
  CHECK(Field("time omitempty", "") == R"({"f":null})");
  CHECK(Field("time omitempty omitzero", "null") == "{}");
  CHECK(Field("time omitzero", R"("0001-01-01T00:00:00Z")") == "{}");
  CHECK(Field("*time omitempty", "") == "{}");
  CHECK(Field("*time omitempty", R"("0001-01-01T00:00:00Z")") == R"({"f":null})");
}

TEST_CASE("An integer or a string stays what it is, and is 0 when absent") {
  CHECK(Field("intorstring", "80") == R"({"f":80})");
  CHECK(Field("intorstring", R"("25%")") == R"({"f":"25%"})");
  CHECK(Field("intorstring omitempty", "") == R"({"f":0})");
  CHECK(Field("*intorstring omitempty", "0") == R"({"f":0})");
}

TEST_CASE("Raw JSON is left alone") {
  CHECK(Field("*raw omitempty", R"({"f:a":{},"n":[]})") == R"({"f":{"f:a":{},"n":[]}})");
  CHECK(Field("*raw omitempty", "") == "{}");
}

TEST_CASE("A value of the wrong type is an error that names the field") {
  CHECK(Field("string", "1") == "f: 1 is not a string");
  CHECK(Field("bool", R"("true")") == R"(f: "true" is not a boolean)");
  CHECK(Field("int32", "1.5") == "f: 1.5 is not an integer");
  CHECK(Field("quantity", R"("")") == R"(f: "" is not a quantity)");
  CHECK(Field("quantity", "{}") == "f: {} is not a quantity");
  CHECK(Field("time", R"("soon")") == R"(f: "soon" is not a time)");
  CHECK(Field("time", "0") == "f: 0 is not a time");
  CHECK(Field("intorstring", "4294967298") ==
        "f: 4294967298 is not an integer of 32 bits or a string");
  CHECK(Field("intorstring", "true") == "f: true is not an integer of 32 bits or a string");
  CHECK(Field("[]string", "{}") == "f: {} is not a list");
  CHECK(Field("map:string", "[]") == "f: [] is not an object");
  CHECK(Field("map:string", R"({"a":1})") == "f.a: 1 is not a string");
  CHECK(Field("g/v1.Inner", R"({"must":1})") == "f.must: 1 is not a string");
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

TEST_CASE("A table is refused when it is none") {
  for (const char* text :
       {"kind v1 K", "  f string\n", "g/v1.K\n  f\n", "g/v1.K\n  f number\n",
        "g/v1.K\n  f string sometimes\n", "kind v1 K string\n", "g/v1.K\n  f []g/v1.Lost\n"}) {
    INFO(text);
    CHECK_FALSE(TypeTable::Parse(text).ok());
  }
}

TEST_CASE("The table has the kinds that are aggregated, and no others") {
  const TypeTable& table = TypeTable::Kubernetes();
  CHECK(table.OfKind("batch/v1", "CronJob") != nullptr);
  CHECK(table.OfKind("v1", "ServiceAccount") != nullptr);
  CHECK(table.OfKind("batch/v1beta1", "CronJob") == nullptr);
  CHECK(table.OfKind("v1", "ConfigMap") == nullptr);
}
