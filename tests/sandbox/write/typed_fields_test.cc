// The server reads built-in kinds as strictly typed JSON.
#include <catch2/catch.hpp>

#include "kube/server/wire/typed_fields.h"
#include "tests/sandbox/write/backend_fixture.h"

namespace sandbox {
namespace {

absl::StatusOr<json::Value> Decoded(const kube::Gvk& gvk, absl::string_view text,
                                    std::vector<std::string>* unknown = nullptr) {
  kube::Object object(*json::Parse(text));
  std::vector<std::string> ignored;
  const absl::Status status =
      kube::server::DecodeTypedFields(gvk, object, unknown == nullptr ? ignored : *unknown);
  if (!status.ok()) return status;
  return object.root();
}

TEST_CASE("unknown fields of built-in kinds are dropped and named") {
  std::vector<std::string> unknown;
  const auto decoded = Decoded(
      {"apps", "v1", "Deployment"},
      R"({"spec":{"replicass":1,"template":{"spec":{"containers":[{"imagee":"x","name":"c"}]}}}})",
      &unknown);
  REQUIRE(decoded.ok());
  CHECK(*decoded ==
        *json::Parse(R"({"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}})"));
  CHECK(unknown ==
        std::vector<std::string>{"spec.replicass", "spec.template.spec.containers[0].imagee"});
}

TEST_CASE("values that a Go encoder leaves out are removed, others stay") {
  const auto decoded = Decoded({"apps", "v1", "Deployment"}, R"({"spec":{
    "replicas": 0, "paused": false, "minReadySeconds": 0, "progressDeadlineSeconds": null,
    "template":{"spec":{"containers":[{"name":"c","args":[],"resources":{"limits":{"cpu":0.5,
      "memory":"1024Mi"}}}],"nodeSelector":{},"hostNetwork":false,"securityContext":{}}}}})");
  REQUIRE(decoded.ok());
  CHECK(*decoded == *json::Parse(R"({"spec":{"replicas":0,"template":{"spec":{"containers":[
    {"name":"c","resources":{"limits":{"cpu":"500m","memory":"1Gi"}}}],"securityContext":{}}}}})"));
}

TEST_CASE("wrong types are refused in Go's words") {
  struct Case {
    kube::Gvk gvk;
    const char* text;
    const char* why;
  };
  const Case cases[] = {
      {{"apps", "v1", "Deployment"},
       R"({"spec":{"replicas":"two"}})",
       "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
       "int32"},
      {{"", "v1", "ConfigMap"},
       R"({"data":{"a":1}})",
       "json: cannot unmarshal number into Go struct field ConfigMap.data.a of type string"},
      {{"", "v1", "Secret"}, R"({"data":{"a":"no base64!"}})", "illegal base64 data"},
      {{"", "v1", "Pod"}, R"({"spec":{"containers":{}}})", "cannot unmarshal object"},
      {{"", "v1", "Pod"}, R"({"spec":{"overhead":{"cpu":"x"}}})", "quantities must match"},
  };
  for (const Case& c : cases) {
    const auto refused = Decoded(c.gvk, c.text);
    INFO(c.text);
    CHECK(ErrorOf(refused.status()).code == 400);
    CHECK(Message(refused.status()).find(c.why) != std::string::npos);
  }
}

}  // namespace
}  // namespace sandbox
