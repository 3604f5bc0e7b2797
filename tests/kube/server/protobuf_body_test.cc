// Bodies in protobuf, as Go clients send them.
#include <catch2/catch.hpp>

#include "kube/server/api_errors.h"
#include "kube/server/wire/protobuf_body.h"

namespace kube::server {
namespace {

std::string Varint(uint64_t n) {
  std::string out;
  for (; n >= 0x80; n >>= 7) out.push_back(static_cast<char>(n | 0x80));
  out.push_back(static_cast<char>(n));
  return out;
}

std::string Bytes(int field, const std::string& bytes) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(bytes.size()) + bytes;
}

std::string Number(int field, int64_t n) {
  return Varint(static_cast<uint64_t>(field) << 3) + Varint(static_cast<uint64_t>(n));
}

std::string Envelope(const std::string& api_version, const std::string& kind,
                     const std::string& object) {
  return std::string("k8s\0", 4) + Bytes(1, Bytes(1, api_version) + Bytes(2, kind)) +
         Bytes(2, object) + Bytes(3, "") + Bytes(4, "");
}

TEST_CASE("a protobuf object becomes the JSON a Go client would have sent") {
  const std::string metadata = Bytes(1, "web") + Bytes(2, "") + Bytes(3, "default") + Number(7, 0) +
                               Bytes(8, "") + Bytes(11, Bytes(1, "app") + Bytes(2, "web"));
  const std::string port = Bytes(1, "") + Number(3, 80) + Bytes(4, "TCP");
  const std::string limits = Bytes(1, Bytes(1, "cpu") + Bytes(2, Bytes(1, "100m")));
  const std::string container =
      Bytes(1, "c") + Bytes(2, "nginx") + Bytes(6, port) + Bytes(8, limits);
  const std::string surge = Number(1, 1) + Number(2, 0) + Bytes(3, "30%");
  const std::string spec = Number(1, 0) + Bytes(2, Bytes(1, Bytes(1, "app") + Bytes(2, "web"))) +
                           Bytes(3, Bytes(1, "") + Bytes(2, Bytes(2, container))) +
                           Bytes(4, Bytes(1, "RollingUpdate") + Bytes(2, Bytes(1, surge))) +
                           Number(5, -1);
  const auto decoded = DecodeProtobufBody(
      Envelope("apps/v1", "Deployment", Bytes(1, metadata) + Bytes(2, spec) + Bytes(99, "new")));
  REQUIRE(decoded.ok());
  CHECK(*decoded == *json::Parse(R"({
    "apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
    "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "minReadySeconds": -1,
      "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "30%"}},
      "template": {"metadata": {}, "spec": {"containers": [{"name": "c", "image": "nginx",
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "100m"}}}]}}}})"));
}

TEST_CASE("members of an inlined message appear in their parent") {
  // Volume.volumeSource.secret.secretName
  const std::string volume = Bytes(1, "v") + Bytes(2, Bytes(6, Bytes(1, "s")));
  const auto decoded = DecodeProtobufBody(Envelope("v1", "Pod", Bytes(2, Bytes(1, volume))));
  REQUIRE(decoded.ok());
  CHECK((*decoded)["spec"]["volumes"] ==
        *json::Parse(R"([{"name":"v","secret":{"secretName":"s"}}])"));
}

TEST_CASE("an entry without a value has the zero of its type, as for Go") {
  const std::string absent = Bytes(1, "k");
  const auto map = Bytes(2, absent) + Bytes(3, absent);
  const auto config = DecodeProtobufBody(Envelope("v1", "ConfigMap", map));
  REQUIRE(config.ok());
  CHECK((*config)["data"] == *json::Parse(R"({"k":""})"));
  CHECK((*config)["binaryData"] == *json::Parse(R"({"k":""})"));
  const auto quota =
      DecodeProtobufBody(Envelope("v1", "ResourceQuota", Bytes(2, Bytes(1, absent))));
  REQUIRE(quota.ok());
  CHECK((*quota)["spec"]["hard"] == *json::Parse(R"({"k":"0"})"));
}

TEST_CASE("broken protobuf is refused without harm") {
  const std::string good = Envelope("v1", "ConfigMap", Bytes(1, Bytes(1, "a")));
  REQUIRE(DecodeProtobufBody(good).ok());
  for (size_t n = 0; n < good.size(); ++n) {
    const auto decoded = DecodeProtobufBody(good.substr(0, n));
    if (!decoded.ok()) CHECK(ErrorOf(decoded.status()).code == 400);
  }
  CHECK_FALSE(DecodeProtobufBody(Envelope("v1", "Nothing", "")).ok());
  CHECK_FALSE(DecodeProtobufBody(Envelope("v1", "ConfigMap", Bytes(1, "\xff\xff\xff"))).ok());
  CHECK_FALSE(DecodeProtobufBody(Envelope("v1", "ConfigMap", Number(1, 5))).ok());
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep = Bytes(1, deep);
  CHECK_FALSE(DecodeProtobufBody("k8s" + deep).ok());
}

}  // namespace
}  // namespace kube::server
