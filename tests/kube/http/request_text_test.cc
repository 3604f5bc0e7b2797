#include "kube/http/internal/request_text.h"

#include <catch2/catch.hpp>

namespace kube {

TEST_CASE("A request is written in one piece") {
  RequestText request{.method = "PATCH", .target = "/a?b=c", .headers = {{"Host", "h"}}};
  request.headers.insert(request.headers.end(), {{"X-A", "1"}, {"X-A", "2"}});
  request.body = "{}";
  CHECK(CheckRequest(request).ok());
  CHECK(WriteRequest(request) ==
        "PATCH /a?b=c HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\n{}");
  request.method = "GET";
  request.body = "";
  CHECK_THAT(WriteRequest(request), !Catch::Contains("Content-Length"));
  request.method = "POST";
  CHECK_THAT(WriteRequest(request), Catch::Contains("Content-Length: 0\r\n"));
}

TEST_CASE("Nothing can break out of its place in a request") {
  const RequestText good{.method = "GET", .target = "/a", .headers = {{"X-A", "b c\td"}}};
  CHECK(CheckRequest(good).ok());
  for (const char* bad : {"", "a b", "a\r\nb", "a\tb"}) {
    CAPTURE(bad);
    RequestText request = good;
    request.method = bad;
    CHECK(absl::IsInvalidArgument(CheckRequest(request)));
    request = good;
    request.target = bad;
    CHECK(absl::IsInvalidArgument(CheckRequest(request)));
    request = good;
    request.headers = {{bad, "v"}};
    CHECK(absl::IsInvalidArgument(CheckRequest(request)));
  }
  RequestText request = good;
  request.headers = {{"Authorization", "Bearer secret\r\nX: y"}};
  const absl::Status refused = CheckRequest(request);
  CHECK(absl::IsInvalidArgument(refused));
  CHECK_THAT(std::string(refused.message()), !Catch::Contains("secret"));
}

}  // namespace kube
