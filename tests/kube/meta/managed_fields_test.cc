#include "kube/meta/managed_fields.h"

#include <catch2/catch.hpp>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace {

const char kByUpstream[] = R"([
  {"manager":"karmada-controller-manager","operation":"Update","apiVersion":"apps/v1",
   "time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1",
   "fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:replicas":{}}}},
  {"manager":"kube-controller-manager","operation":"Update","apiVersion":"apps/v1",
   "fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:replicas":{}}},"subresource":"status"}])";

json::Value Parse(absl::string_view text) { return json::Parse(text).value(); }

json::Value HandOver(const json::Value& fields) {
  const auto after =
      kube::HandOverFields(fields, {"karmada-controller-manager", "karmada-agent"}, "karmada");
  return after.has_value() ? *after : json::Value();
}

TEST_CASE("The owners of a field tell when it was changed last at the latest") {
  const json::Value fields = Parse(R"([
    {"manager":"a","operation":"Update","time":"2026-01-01T00:00:00Z",
     "fieldsV1":{"f:spec":{"f:rules":{}}}},
    {"manager":"b","operation":"Apply","time":"2026-01-02T00:00:00Z",
     "fieldsV1":{"f:spec":{"f:rules":{"k:{\"name\":\"x\"}":{}}}}},
    {"manager":"c","operation":"Update","time":"2026-01-03T00:00:00Z",
     "fieldsV1":{"f:metadata":{"f:labels":{}},"f:spec":{"f:other":{}}}},
    {"manager":"d","operation":"Update","time":"2026-01-04T00:00:00Z","subresource":"status",
     "fieldsV1":{"f:spec":{"f:rules":{}}}},
    {"manager":"e","operation":"Update","fieldsV1":{"f:spec":{"f:rules":{}}}}])");
  CHECK(kube::LastChangeByOwners(fields, {"spec", "rules"}) ==
        *kube::ParseTime("2026-01-02T00:00:00Z"));
  CHECK_FALSE(kube::LastChangeByOwners(fields, {"spec", "none"}).has_value());
  CHECK_FALSE(kube::LastChangeByOwners({}, {"spec", "rules"}).has_value());
  CHECK(kube::LastChangeByOthers(fields, {"spec", "rules"}) ==
        *kube::ParseTime("2026-01-03T00:00:00Z"));
  CHECK(kube::LastChangeByOthers(fields, {"metadata"}) == *kube::ParseTime("2026-01-02T00:00:00Z"));
  CHECK_FALSE(kube::LastChangeByOthers({}, {"spec", "rules"}).has_value());
}

TEST_CASE("What a manager has updated becomes what another one has applied") {
  const json::Value after = HandOver(Parse(kByUpstream));
  REQUIRE(after.size() == 2);
  CHECK(after.At(0)["manager"].AsString() == "kube-controller-manager");
  CHECK(after.At(1) == Parse(R"({"manager":"karmada","operation":"Apply","apiVersion":"apps/v1",
          "time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1",
          "fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:replicas":{}}}})"));
  // A second time there is nothing to hand over.
  CHECK(HandOver(after).is_null());
}

TEST_CASE("What is handed over joins what the manager has applied before") {
  json::Value fields = Parse(kByUpstream);
  fields.Append(Parse(R"({"manager":"karmada","operation":"Apply","apiVersion":"apps/v1",
    "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:paused":{}},"f:metadata":{"f:labels":{"f:b":{}}}}})"));
  fields.Append(Parse(R"({"manager":"karmada-agent","operation":"Update","apiVersion":"apps/v1",
    "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{},"f:strategy":{"f:type":{}}}}})"));
  const json::Value after = HandOver(fields);
  REQUIRE(after.size() == 2);
  CHECK(after.At(1)["fieldsV1"] == Parse(R"({"f:metadata":{"f:labels":{".":{},"f:app":{},"f:b":{}}},
                  "f:spec":{"f:paused":{},"f:replicas":{},"f:strategy":{"f:type":{}}}})"));
}

TEST_CASE("What was updated through several versions is handed over in the latest") {
  const json::Value after = HandOver(Parse(R"([
    {"manager":"karmada-controller-manager","operation":"Update","apiVersion":"autoscaling/v1",
     "time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:targetCPUUtilizationPercentage":{}}}},
    {"manager":"karmada-controller-manager","operation":"Update","apiVersion":"autoscaling/v2",
     "time":"2026-01-02T00:00:00Z","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"a\"":{}}},"f:spec":{"f:behavior":{}}}}])"));
  REQUIRE(after.size() == 1);
  CHECK(after.At(0)["apiVersion"].AsString() == "autoscaling/v2");
  CHECK(after.At(0)["fieldsV1"] == Parse(R"({"f:metadata":{},"f:spec":{"f:behavior":{}}})"));
}

TEST_CASE("Managers of other names, of subresources and those that apply keep what they own") {
  CHECK(HandOver({}).is_null());
  CHECK(HandOver(json::Value::Array()).is_null());
  CHECK(HandOver(Parse(R"([{"manager":"kubectl","operation":"Update","fieldsV1":{"f:spec":{}}},
    {"manager":"karmada-controller-manager","operation":"Apply","fieldsV1":{"f:spec":{}}},
    {"manager":"karmada-controller-manager","operation":"Update","subresource":"scale",
     "fieldsV1":{"f:spec":{"f:replicas":{}}}}])"))
            .is_null());
}

}  // namespace
