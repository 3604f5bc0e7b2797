// What a ResourceRegistry may be, and with which words others are refused.
#include "search/registry/registry_rules.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/json.h"

namespace search {
namespace {

using kube::server::ErrorOf;
using kube::server::FieldValidation;

kube::Object Parsed(absl::string_view text) { return kube::Object(*json::Parse(text)); }

absl::Status Validated(absl::string_view spec) {
  kube::Object object = Parsed(absl::StrCat(R"({"metadata":{"name":"r"},"spec":)", spec, "}"));
  const absl::Status decoded = DecodeRegistry(object, FieldValidation::kIgnore, nullptr);
  if (!decoded.ok()) return decoded;
  kube::server::FieldErrors errors;
  ValidateRegistry(object, errors);
  return errors.ToStatus(RegistryKindName(), object.name());
}

std::string Message(absl::string_view spec) { return std::string(Validated(spec).message()); }

TEST_CASE("what Go's encoder always writes is set in an empty registry") {
  kube::Object object = Parsed(R"({"metadata":{"name":"r"}})");
  REQUIRE(DecodeRegistry(object, FieldValidation::kStrict, nullptr).ok());
  CHECK(
      json::Write(object.root()) ==
      R"({"apiVersion":"search.karmada.io/v1alpha1","kind":"ResourceRegistry",)"
      R"("metadata":{"name":"r"},"spec":{"resourceSelectors":null,"targetCluster":{}},"status":{}})");
}

TEST_CASE(
    "an empty spec and a label selector that nothing matches are accepted, as upstream does") {
  CHECK(Validated("{}").ok());
  CHECK(Validated(R"({"targetCluster":{"labelSelector":{"matchExpressions":)"
                  R"([{"key":"a b","operator":"Maybe"}]}}})")
            .ok());
}

TEST_CASE("fields that the kind does not have are dropped, warned of or refused") {
  const auto body = R"({"metadata":{"name":"r"},"spec":{"foo":1,"targetCluster":{"bar":2}}})";
  std::vector<std::string> warnings;
  kube::Object object = Parsed(body);
  REQUIRE(DecodeRegistry(object, FieldValidation::kWarn, &warnings).ok());
  CHECK(warnings == std::vector<std::string>{R"(unknown field "spec.foo")",
                                             R"(unknown field "spec.targetCluster.bar")"});
  CHECK_FALSE(object.spec().Has("foo"));

  object = Parsed(body);
  const absl::Status strict = DecodeRegistry(object, FieldValidation::kStrict, nullptr);
  CHECK(ErrorOf(strict).code == 400);
  CHECK(ErrorOf(strict).message ==
        "ResourceRegistry in version \"v1alpha1\" cannot be handled as a ResourceRegistry: strict "
        "decoding error: unknown field \"spec.foo\", unknown field \"spec.targetCluster.bar\"");
}

TEST_CASE("a value of a wrong type is refused with Go's words") {
  const absl::Status status = Validated(R"({"targetCluster":{"clusterNames":"member1"}})");
  CHECK(ErrorOf(status).code == 400);
  CHECK(ErrorOf(status).message ==
        "ResourceRegistry in version \"v1alpha1\" cannot be handled as a ResourceRegistry: json: "
        "cannot unmarshal string into Go struct field ClusterAffinity.spec.targetCluster."
        "clusterNames of type []");
}

TEST_CASE("field selectors know three keys and two operators") {
  CHECK(Validated(R"({"targetCluster":{"fieldSelector":{"matchExpressions":)"
                  R"([{"key":"zone","operator":"NotIn","values":["a"]}]}}})")
            .ok());
  CHECK(Message(R"({"targetCluster":{"fieldSelector":{"matchExpressions":)"
                R"([{"key":"rack","operator":"In","values":["a"]}]}}})") ==
        "ResourceRegistry.search.karmada.io \"r\" is invalid: spec.targetCluster.fieldSelector: "
        "Invalid value: {\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"In\",\"values\":"
        "[\"a\"]}]}: unsupported key \"rack\", must be provider, region, or zone");
  const absl::Status status = Validated(R"({"targetCluster":{"fieldSelector":{"matchExpressions":)"
                                        R"([{"key":"region","operator":"Exists"}]}}})");
  CHECK(ErrorOf(status).code == 422);
  CHECK(ErrorOf(status).details["causes"].At(0)["reason"].AsString() == "FieldValueInvalid");
  CHECK(ErrorOf(status).details["causes"].At(0)["field"].AsString() ==
        "spec.targetCluster.fieldSelector");
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("unsupported operator \"Exists\", must be In or NotIn"));
}

TEST_CASE("apiVersion and namespace of selectors are validated, and all mistakes are reported") {
  CHECK(
      Message(R"({"resourceSelectors":[{"apiVersion":"a/b/c","kind":"X"},)"
              R"({"apiVersion":"v1","kind":"Pod","namespace":"No_Good"}]})") ==
      "ResourceRegistry.search.karmada.io \"r\" is invalid: [spec.resourceSelectors[0].apiVersion:"
      " Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c, "
      "spec.resourceSelectors[1].namespace: Invalid value: \"No_Good\": a lowercase RFC 1123 "
      "label must consist of lower case alphanumeric characters or '-', and must start and end "
      "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation "
      "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')]");
}

TEST_CASE("addresses of OpenSearch are http or https URLs") {
  const auto with = [](absl::string_view address) {
    return Validated(absl::StrCat(R"({"backendStore":{"openSearch":{"addresses":[)",
                                  json::Write(address), "]}}}"));
  };
  for (const char* good : {"http://a", "https://a:9200", "HTTPS://user:pw@[::1]:9200/x?y=z",
                           "http://[fd00::1]", "http://a:"}) {
    INFO(good);
    CHECK(with(good).ok());
  }
  constexpr char kUrl[] = "must be a valid http or https URL with non-empty scheme and host";
  const std::pair<const char*, const char*> bad[] = {
      {"", kUrl},
      {"a", kUrl},
      {"ftp://a", kUrl},
      {"http:a", kUrl},
      {"http://", kUrl},
      {"http:///x", kUrl},
      {"://a", "parse \"://a\": missing protocol scheme"},
      {"1.2.3.4:9200", "parse \"1.2.3.4:9200\": first path segment in URL cannot contain colon"},
      {"http://a:b", "parse \"http://a:b\": invalid port \":b\" after host"},
      {"http://a b", "parse \"http://a b\": invalid character \" \" in host name"},
  };
  for (const auto& [address, message] : bad) {
    INFO(address);
    CHECK_THAT(std::string(with(address).message()), Catch::EndsWith(message));
  }
}

TEST_CASE("metadata is validated as everywhere") {
  kube::Object object = Parsed(R"({"metadata":{"name":"Bad_Name","managedFields":[{}]}})");
  REQUIRE(DecodeRegistry(object, FieldValidation::kIgnore, nullptr).ok());
  CHECK(object.metadata().Has("managedFields"));
  kube::server::FieldErrors errors;
  ValidateRegistry(object, errors);
  CHECK_THAT(std::string(errors.ToStatus(RegistryKindName(), "Bad_Name").message()),
             Catch::Contains("metadata.name: Invalid value: \"Bad_Name\""));
}

}  // namespace
}  // namespace search
