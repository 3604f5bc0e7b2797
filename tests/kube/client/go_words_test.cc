#include "kube/client/go_words.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/status.h"
#include "kube/client/api_error.h"
#include "kube/client/errors.h"

namespace kube {
namespace {

const Resource kWeb{{"apps", "v1", "Deployment"}, "deployments", true};

std::string Worded(int code, const std::string& body, const std::string& type = "text/plain") {
  const HttpResponse response = {code, {{"content-type", type}}, body};
  return std::string(
      InGoWords(ErrorOfResponse(response, "get Deployment ns/web"), GoCall("get", kWeb, "web"))
          .message());
}

TEST_CASE("What a Status object says stands alone") {
  const std::string body = R"({"kind": "Status", "reason": "NotFound", "details": {"name": "web"},
      "message": "deployments.apps \"web\" not found"})";
  const absl::Status error =
      ErrorOfResponse({404, {{"content-type", "application/json"}}, body}, "get Deployment ns/web");
  const absl::Status worded = InGoWords(base::Annotate(error, "more context"), "get x");
  CHECK(worded.message() == "deployments.apps \"web\" not found");
  CHECK(IsGone(worded));
  CHECK(IsGone(error));
}

TEST_CASE("For other answers there are client-go's words, with the request") {
  const std::string call = " (get deployments.apps web)";
  CHECK(Worded(400, "x") == "the server rejected our request for an unknown reason" + call);
  CHECK(Worded(401, "x") == "the server has asked for the client to provide credentials" + call);
  CHECK(Worded(403, " no entry\n") == "no entry" + call);
  CHECK(Worded(404, "404 page not found\n") ==
        "the server could not find the requested resource" + call);
  CHECK(Worded(405, "x") ==
        "the server does not allow this method on the requested resource" + call);
  CHECK(Worded(406, "only text") == "only text" + call);
  CHECK(Worded(406, "", "image/png") ==
        "the server was unable to respond with a content type that the client supports" + call);
  CHECK(Worded(409, "x") == "the server reported a conflict" + call);
  CHECK(Worded(418, "x") ==
        "the server responded with the status code 418 but did not return more information" + call);
  CHECK(Worded(422, "x") ==
        "the server rejected our request due to an error in our request" + call);
  CHECK(Worded(429, "x") ==
        "the server has received too many requests and has asked us to try again later" + call);
  CHECK(Worded(500, "bo\"om") ==
        "an error on the server (\"bo\\\"om\") has prevented the request from succeeding" + call);
  CHECK(Worded(502, "{}", "application/json") ==
        "an error on the server (\"unknown\") has prevented the request from succeeding" + call);
  CHECK(Worded(502, "\x80") ==
        "an error on the server (\"unknown\") has prevented the request from succeeding" + call);
  CHECK(Worded(503, "service unavailable") ==
        "the server is currently unable to handle the request" + call);
  CHECK(Worded(504, "x") ==
        "the server was unable to return a response in the time allotted, but may still be "
        "processing the request" +
            call);
  CHECK(IsNoSuchKind(InGoWords(ErrorOfResponse({404, {}, "x"}, "y"), "")));
}

TEST_CASE("Without a name of the request the words stand alone") {
  CHECK(InGoWords(ErrorOfResponse({404, {}, "x"}, "y"), "").message() ==
        "the server could not find the requested resource");
}

TEST_CASE("What no server has said stays as it is") {
  const absl::Status error = absl::UnavailableError("cannot connect");
  CHECK(InGoWords(error, "get x") == error);
  CHECK(InGoWords(absl::OkStatus(), "get x").ok());
  CHECK(InGoWords(NoSuchKindError({"example.io", "v1", "Moon"}), "get x").message() ==
        "no matches for kind \"Moon\" in version \"example.io/v1\"");
}

TEST_CASE("Requests are named as client-go names them") {
  CHECK(GoCall("get", kWeb, "web") == "get deployments.apps web");
  CHECK(GoCall("get", {{"", "v1", "Pod"}, "pods", true}) == "get pods");
}

}  // namespace
}  // namespace kube
