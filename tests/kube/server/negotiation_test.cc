// Which form of an answer the headers of a request ask for.
#include <catch2/catch.hpp>

#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"

namespace kube::server {
namespace {

base::HttpRequest Accepting(const std::string& accept) {
  base::HttpRequest request;
  request.headers["accept"] = accept;
  return request;
}

// Returns "Table v1", "yaml", "406 <message>", ...
std::string Form(const std::string& accept, Offer offer = Offer::kObjects) {
  const auto form = Negotiate(Accepting(accept), offer);
  if (!form.ok()) {
    const ApiError error = ErrorOf(form.status());
    return std::to_string(error.code) + " " + error.reason + " " + error.message;
  }
  const char* kinds[] = {"", "Table ", "Partial ", "Discovery "};
  std::string out = kinds[static_cast<int>(form->kind)];
  if (!out.empty()) out += form->version + " ";
  return out + (form->yaml ? "yaml" : "json") + (form->pretty ? " pretty" : "");
}

TEST_CASE("the forms that clients ask for") {
  CHECK(Form("") == "json");
  CHECK(Form("*/*") == "json");
  CHECK(Form("*") == "json");
  CHECK(Form("application/*") == "json");
  CHECK(Form("application/yaml") == "yaml");
  CHECK(Form("application/json, */*") == "json");
  CHECK(Form("application/vnd.kubernetes.protobuf,application/json") == "json");
  // kubectl get
  CHECK(Form("application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g="
             "meta.k8s.io,application/json") == "Table v1 json");
  CHECK(Form("application/json;as=Table;v=v1beta1;g=meta.k8s.io") == "Table v1beta1 json");
  CHECK(Form("application/yaml;as=Table;v=v1;g=meta.k8s.io") == "Table v1 yaml");
  // Metadata clients.
  CHECK(Form("application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
             "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json") ==
        "Partial v1 json");
}

TEST_CASE("clauses count in order of q, and what cannot be written is passed over") {
  CHECK(Form("application/json;q=0.5,application/yaml") == "yaml");
  CHECK(Form("application/yaml;q=0.5, application/json;q=0.9") == "json");
  CHECK(Form("*/*, application/yaml") == "yaml");
  CHECK(Form("application/json;q=x,application/yaml;q=0.1") == "yaml");
  CHECK(Form("application/json;as=Chair;v=v1;g=meta.k8s.io,application/yaml") == "yaml");
  CHECK(Form("application/json;as=Table;v=v3;g=meta.k8s.io,application/json") == "json");
  CHECK(Form("application/json;g=meta.k8s.io,application/yaml") == "yaml");
  CHECK(Form("text/html,application/xhtml+xml,nonsense,*/*;q=0.8") == "json");
}

TEST_CASE("nothing acceptable is 406 with the types that there are") {
  CHECK(Form("application/vnd.kubernetes.protobuf") ==
        "406 NotAcceptable only the following media types are accepted: application/json, "
        "application/yaml");
  CHECK(Form("application/cbor").substr(0, 3) == "406");
  CHECK(Form("application/json;as=Table;v=v9;g=meta.k8s.io").substr(0, 3) == "406");
}

TEST_CASE("a stream is JSON") {
  CHECK(Form("application/json;stream=watch", Offer::kStream) == "json");
  CHECK(Form("application/json;stream=other,application/json", Offer::kStream) == "json");
  CHECK(Form("application/json;as=Table;v=v1;g=meta.k8s.io", Offer::kStream) == "Table v1 json");
  CHECK(Form("application/yaml,application/json", Offer::kStream) == "json");
  CHECK(Form("application/yaml", Offer::kStream) ==
        "406 NotAcceptable only the following media types are accepted: "
        "application/json;stream=watch");
}

TEST_CASE("discovery is offered in version v2 only") {
  const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  CHECK(Form(v2 + ",application/json", Offer::kDiscovery) == "Discovery v2 json");
  CHECK(Negotiate(Accepting(v2), Offer::kDiscovery)->ContentType() == v2);
  const std::string beta =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  CHECK(Form(beta, Offer::kDiscovery).substr(0, 3) == "406");
  CHECK(Form(beta + ",application/json", Offer::kDiscovery) == "json");
  CHECK(Form(v2 + ",application/json") == "json");
}

TEST_CASE("people get indented JSON") {
  base::HttpRequest curl = Accepting("*/*");
  curl.headers["user-agent"] = "curl/8.5.0";
  CHECK(Negotiate(curl)->pretty);
  curl.query = {{"pretty", "false"}};
  CHECK_FALSE(Negotiate(curl)->pretty);
  base::HttpRequest asked = Accepting("application/json");
  asked.query = {{"pretty", "true"}};
  CHECK(Negotiate(asked)->pretty);
  CHECK(Form("application/json;pretty=1") == "json pretty");
  CHECK(Form("application/json") == "json");
  const auto body = *json::Parse(R"({"a":{"b":1}})");
  CHECK(AnswerOf(200, body, {}).body == "{\"a\":{\"b\":1}}\n");
  AnswerForm pretty;
  pretty.pretty = true;
  CHECK(AnswerOf(200, body, pretty).body == "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n");
}

TEST_CASE("an error that asks to come back later has the header for it") {
  const base::HttpResponse busy = ErrorAnswer(TooManyRequests("busy", absl::Milliseconds(1200)));
  CHECK(busy.code == 429);
  REQUIRE(busy.headers.size() == 1);
  CHECK(busy.headers[0] == std::make_pair(std::string("Retry-After"), std::string("2")));
  const base::HttpResponse plain = ErrorAnswer(PlainError("no"));
  CHECK(plain.code == 500);
  CHECK_FALSE(json::Parse(plain.body)->Has("reason"));
  const ApiError unsupported = ErrorOf(MethodNotSupported({"", "pods"}, "create"));
  CHECK(unsupported.message == "create is not supported on resources of kind \"pods\"");
  CHECK(unsupported.details["kind"].AsString() == "pods");
}

}  // namespace
}  // namespace kube::server
