// The admission endpoint on a real socket, over TLS.
#include "interpreter/live/admission_server.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/tls.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace {

using Catch::Contains;
using interpreter::live::AdmissionServer;

constexpr char kBroken[] =
    R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
  "uid":"u-1","operation":"CREATE","object":{"apiVersion":"config.karmada.io/v1alpha1",
  "kind":"ResourceInterpreterCustomization","metadata":{"name":"w"},"spec":{
  "target":{"apiVersion":"example.io/v1","kind":"Widget"},
  "customizations":{"healthInterpretation":{"luaScript":"function InterpretHealth("}}}}}})";

struct Fixture {
  std::unique_ptr<tls::CertificateAuthority> authority =
      tls::CertificateAuthority::Create("first").value();
  tests::TempDirectory dir;
  metrics::Registry registry;
  std::unique_ptr<AdmissionServer> server;

  void WriteCertificate() {
    const tls::KeyPair pair =
        authority->Issue({.common_name = "admission", .ip_addresses = {"127.0.0.1"}}).value();
    dir.Write("tls.crt", pair.cert_pem);
    dir.Write("tls.key", pair.key_pem);
  }
  absl::Status Start() {
    auto started = AdmissionServer::Start(
        {.address = "127.0.0.1:0",
         .certificate_file = dir.path() + "/tls.crt",
         .key_file = dir.path() + "/tls.key",
         .reload = absl::Milliseconds(20)},
        [] { return std::vector<kube::ObjectPtr>(); }, &registry);
    if (started.ok()) server = *std::move(started);
    return started.status();
  }
  // Sends a request as an API server does, which trusts the authority.
  absl::StatusOr<kube::HttpResponse> Send(const std::string& method, const std::string& path,
                                          const std::string& body) {
    kube::ConnectionConfig config;
    config.server = absl::StrCat("https://127.0.0.1:", server->port());
    config.ca_pem = authority->cert_pem();
    const auto transport = kube::NewHttpTransport(config).value();
    kube::HttpRequest request;
    request.method = method;
    request.path = path;
    request.content_type = "application/json";
    request.body = body;
    return transport->Send(request, {});
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "admission refuses a broken customization over TLS, with its message") {
  WriteCertificate();
  REQUIRE(Start().ok());
  const auto answer = Send("POST", "/validate", kBroken);
  REQUIRE(answer.ok());
  CHECK(answer->code == 200);
  const json::Value response = json::Parse(answer->body).value()["response"];
  CHECK(response["uid"].AsString() == "u-1");
  CHECK_FALSE(response["allowed"].AsBool(true));
  CHECK_THAT(response["status"]["message"].ToString(),
             Contains("spec.customizations.healthInterpretation.luaScript"));
  CHECK_THAT(registry.Expose(),
             Contains("karmada_interpreter_admission_reviews_total{result=\"refused\"} 1\n"));
}

TEST_CASE_METHOD(Fixture, "admission answers what it cannot read with an HTTP error") {
  WriteCertificate();
  REQUIRE(Start().ok());
  CHECK(Send("POST", "/validate", "{")->code == 400);
  CHECK(Send("POST", "/validate", "{}")->code == 400);
  CHECK(Send("POST", "/other", kBroken)->code == 404);
  CHECK(Send("GET", "/validate", "")->code == 405);
}

TEST_CASE_METHOD(Fixture, "admission takes up a new certificate without a restart") {
  WriteCertificate();
  REQUIRE(Start().ok());
  CHECK(Send("GET", "/validate", "").ok());
  authority = tls::CertificateAuthority::Create("second").value();
  CHECK_FALSE(Send("GET", "/validate", "").ok());
  WriteCertificate();
  CHECK(tests::Eventually([&] { return Send("GET", "/validate", "").ok(); }));
}

TEST_CASE_METHOD(Fixture,
                 "admission does not start without a usable certificate, and names the file") {
  CHECK_THAT(std::string(Start().message()), Contains("tls.crt"));
  WriteCertificate();
  dir.Write("tls.key", "no key");
  CHECK_FALSE(Start().ok());
}
