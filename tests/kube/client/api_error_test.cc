#include "kube/client/api_error.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace kube {
namespace {

HttpResponse StatusAnswer(int code, const std::string& reason, const std::string& message) {
  return {
      .code = code,
      .body = absl::StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")",
                           message, R"(","reason":")", reason, R"(","code":)", code, "}")};
}

}  // namespace

TEST_CASE("A message without measure is cut, between characters") {
  std::string message = "no: ";
  while (message.size() < 100'000) message += "\u00e4";
  const absl::Status error =
      ErrorOfResponse(StatusAnswer(422, "Invalid", message), "patch Pod a/b");
  CHECK(error.message().size() < 10'000);
  CHECK_THAT(std::string(error.message()), Catch::StartsWith("patch Pod a/b: no: \u00e4"));
  CHECK_THAT(std::string(error.message()), Catch::EndsWith("\u00e4 [cut]"));
  CHECK(FailureOf(error).message.size() < 10'000);
  const absl::Status named =
      ErrorOfResponse(StatusAnswer(422, std::string(100'000, 'r'), ""), "patch Pod a/b");
  CHECK(named.message().size() < 10'000);
  CHECK(FailureOf(named).reason.size() < 10'000);
}

TEST_CASE("Every HTTP code and reason has its status code") {
  struct Case {
    int http;
    const char* reason;
    absl::StatusCode want;
  };
  for (const Case& c : {
           Case{400, "BadRequest", absl::StatusCode::kInvalidArgument},
           Case{401, "Unauthorized", absl::StatusCode::kUnauthenticated},
           Case{403, "Forbidden", absl::StatusCode::kPermissionDenied},
           Case{404, "NotFound", absl::StatusCode::kNotFound},
           Case{405, "MethodNotAllowed", absl::StatusCode::kUnimplemented},
           Case{409, "AlreadyExists", absl::StatusCode::kAlreadyExists},
           Case{409, "Conflict", absl::StatusCode::kAborted},
           Case{410, "Expired", absl::StatusCode::kOutOfRange},
           Case{410, "Gone", absl::StatusCode::kOutOfRange},
           Case{413, "RequestEntityTooLarge", absl::StatusCode::kResourceExhausted},
           Case{408, "Timeout", absl::StatusCode::kUnavailable},
           Case{415, "UnsupportedMediaType", absl::StatusCode::kUnknown},
           Case{421, "", absl::StatusCode::kUnknown},
           Case{422, "Invalid", absl::StatusCode::kInvalidArgument},
           Case{429, "TooManyRequests", absl::StatusCode::kUnavailable},
           Case{500, "InternalError", absl::StatusCode::kUnavailable},
           Case{503, "ServiceUnavailable", absl::StatusCode::kUnavailable},
           Case{504, "Timeout", absl::StatusCode::kUnavailable},
           Case{301, "", absl::StatusCode::kUnknown},
       }) {
    CAPTURE(c.http, c.reason);
    const absl::Status error = ErrorOfResponse(StatusAnswer(c.http, c.reason, "m"), "get Pod a/b");
    CHECK(error.code() == c.want);
    CHECK(error.message() == "get Pod a/b: m");
    CHECK(FailureOf(error).code == c.http);
    CHECK(FailureOf(error).reason == c.reason);
    CHECK(FailureOf(error).message == "m");
  }
}

TEST_CASE("A 409 is a conflict only when the object has changed") {
  const auto answer = [](const char* reason, const char* message) {
    return ErrorOfResponse(StatusAnswer(409, reason, message), "patch Pod a/b");
  };
  const absl::Status changed = answer(
      "Conflict", R"(Operation cannot be fulfilled on pods \"b\": the object has been modified)");
  CHECK(IsConflict(base::Annotate(changed, "cluster m1")));
  for (const char* reason : {"Conflict", "AlreadyExists", "Forbidden", ""}) {
    CAPTURE(reason);
    const absl::Status denied =
        answer(reason, R"(admission webhook \"w.example.io\" denied the request: no)");
    CHECK_FALSE(IsConflict(denied));
  }
  CHECK_FALSE(IsConflict(answer("", "a proxy says so")));
}

TEST_CASE("What exists and what is invalid is known by the server's words") {
  const auto answer = [](int code, const char* reason) {
    return base::Annotate(ErrorOfResponse(StatusAnswer(code, reason, "m"), "patch Pod a/b"), "c");
  };
  CHECK(AlreadyExists(answer(409, "AlreadyExists")));
  CHECK_FALSE(AlreadyExists(answer(409, "Conflict")));
  CHECK(IsInvalid(answer(422, "Invalid")));
  CHECK(IsInvalid(answer(400, "BadRequest")));
  CHECK_FALSE(IsInvalid(answer(403, "Forbidden")));
  CHECK_FALSE(IsInvalid(answer(429, "TooManyRequests")));
  CHECK_FALSE(IsInvalid(answer(408, "Timeout")));
  CHECK_FALSE(IsInvalid(answer(415, "UnsupportedMediaType")));
  // A webhook that gives no code; it may accept the same change later.
  CHECK_FALSE(IsInvalid(ErrorOfResponse(
      StatusAnswer(400, "", R"(admission webhook \"w.example.io\" denied the request: no)"), "p")));
}

TEST_CASE("A missing object is not a missing kind") {
  const auto missing = [](const char* body) {
    return base::Annotate(ErrorOfResponse({.code = 404, .body = body}, "get Robot a/b"), "c");
  };
  const absl::Status object = missing(
      R"({"kind":"Status","code":404,"reason":"NotFound","message":"robots.x.io \"b\" not found",
          "details":{"name":"b","group":"x.io","kind":"robots"}})");
  CHECK(IsGone(object));
  CHECK_FALSE(IsNoSuchKind(object));
  CHECK(IgnoreGone(object).ok());
  const absl::Status resource = missing(
      R"({"kind":"Status","code":404,"reason":"NotFound","details":{},
          "message":"the server could not find the requested resource"})");
  for (const absl::Status& kind :
       {resource, missing("404 page not found"), NoSuchKindError({"x.io", "v1", "Robot"})}) {
    CHECK(IsNoSuchKind(kind));
    CHECK_FALSE(IsGone(kind));
    CHECK_FALSE(IgnoreGone(kind).ok());
  }
  CHECK(IsGone(GoneError({{"x.io", "v1", "Robot"}, "robots", true}, {"a", "b"})));
  CHECK(GoneError({{"x.io", "v1", "Robot"}, "robots", true}, {"a", "b"}).message() ==
        "robots.x.io \"a/b\" not found");
  CHECK_FALSE(IsGone(absl::OkStatus()));
}

TEST_CASE("What the server said survives added context and line breaks") {
  const absl::Status error = base::Annotate(
      ErrorOfResponse(StatusAnswer(409, "Conflict", R"(one\ntwo)"), "patch Work a/b"),
      "cluster m1");
  CHECK(error.message() == "cluster m1: patch Work a/b: one\ntwo");
  CHECK(FailureOf(error).message == "one\ntwo");
  CHECK(FailureOf(error).reason == "Conflict");
}

TEST_CASE("Retry-After is found in the header and in the body's details") {
  HttpResponse answer = StatusAnswer(429, "TooManyRequests", "slow down");
  answer.headers["retry-after"] = "7";
  CHECK(FailureOf(ErrorOfResponse(answer, "x")).retry_after_seconds == 7);
  answer.headers["retry-after"] = "Wed, 21 Oct 2015 07:28:00 GMT";
  CHECK(RetryAfterSeconds(answer) == 1);
  const HttpResponse in_body = {.code = 504,
                                .body = R"({"kind":"Status","details":{"retryAfterSeconds":3}})"};
  CHECK(FailureOf(ErrorOfResponse(in_body, "x")).retry_after_seconds == 3);
}

TEST_CASE("Answers that are not Status objects are quoted, shortly and only when they are text") {
  auto message = [](const std::string& body) {
    return std::string(ErrorOfResponse({.code = 502, .body = body}, "get x").message());
  };
  CHECK(message("404 page not found\nmore") ==
        "get x: the server answered 502: 404 page not found");
  CHECK(message("") == "get x: the server answered 502");
  CHECK(message("\x01\x02") == "get x: the server answered 502");
  CHECK(message("{broken") == "get x: the server answered 502: {broken");
  CHECK(message(std::string(5000, 'x')).size() < 300);
  CHECK(message(R"({"kind":"Pod"})") == R"(get x: the server answered 502: {"kind":"Pod"})");
}

TEST_CASE("Errors that did not come from a server carry no failure") {
  CHECK(FailureOf(absl::UnavailableError("x")).code == 0);
  CHECK(FailureOf(absl::OkStatus()).code == 0);
}

TEST_CASE("The mark of an unprocessed request survives added context") {
  const absl::Status error =
      base::Annotate(NotProcessed(absl::UnavailableError("cannot connect")), "create Pod");
  CHECK(WasNotProcessed(error));
  CHECK_FALSE(WasNotProcessed(absl::UnavailableError("broke")));
  CHECK_FALSE(WasNotProcessed(NotProcessed(absl::OkStatus())));
}

}  // namespace kube
