#include "kube/aggregation/statusz.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/json.h"

namespace kube::aggregation {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

base::HttpResponse Ask(const std::string& accept) {
  base::HttpRequest request;
  request.method = "GET";
  request.path = "/statusz";
  if (!accept.empty()) request.headers["accept"] = accept;
  return StatuszAnswer(request, {kStart, "1.36", {"/healthz", "/metrics"}},
                       kStart + absl::Seconds(3725));
}

}  // namespace

TEST_CASE("the page is text for people unless an object is asked for") {
  for (const char* accept : {"", "*/*", "text/plain", "text/html, text/*;q=0.1"}) {
    CAPTURE(accept);
    const base::HttpResponse answer = Ask(accept);
    CHECK(answer.code == 200);
    CHECK(answer.content_type == "text/plain; charset=utf-8");
    CHECK_THAT(answer.body, Catch::StartsWith("\napiserver statusz\nWarning: "));
    CHECK_THAT(answer.body, Catch::Contains("\nStarted: Tue Nov 14 22:13:20 UTC 2023\n"
                                            "Up: 1 hr 02 min 05 sec\n"
                                            "Binary version: 1.36\nEmulation version: 1.36\n"
                                            "Paths: /healthz /metrics\n"));
  }
}

TEST_CASE("the object is that of config.k8s.io") {
  const base::HttpResponse answer =
      Ask("application/json;as=Statusz;v=v1beta1;g=config.k8s.io, text/plain");
  CHECK(answer.code == 200);
  CHECK(answer.headers.empty());
  CHECK(json::Write(*json::Parse(answer.body)) ==
        R"({"apiVersion":"config.k8s.io/v1beta1","binaryVersion":"1.36",)"
        R"("emulationVersion":"1.36","kind":"Statusz","metadata":{"name":"apiserver"},)"
        R"("paths":["/healthz","/metrics"],"startTime":"2023-11-14T22:13:20Z",)"
        R"("uptimeSeconds":3725})");
  const base::HttpResponse old = Ask("application/yaml; g=config.k8s.io; v=v1alpha1; as=Statusz");
  CHECK(old.content_type == "application/yaml");
  CHECK_THAT(old.body, Catch::Contains("apiVersion: config.k8s.io/v1alpha1"));
  REQUIRE(old.headers.size() == 1);
  CHECK(old.headers[0].first == "Warning");
}

TEST_CASE("what cannot be served is a 406 that names what can") {
  for (const char* accept :
       {"application/json", "application/vnd.kubernetes.protobuf",
        "application/json;as=Statusz;v=v2;g=config.k8s.io", "text/plain;as=Statusz"}) {
    CAPTURE(accept);
    const base::HttpResponse answer = Ask(accept);
    CHECK(answer.code == 406);
    CHECK_THAT(answer.body, Catch::Contains("application/json, application/yaml, text/plain"));
  }
}

}  // namespace kube::aggregation
