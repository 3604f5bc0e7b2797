// Requests that two HTTP implementations could read differently.
#include "base/internal/http_head_check.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/base/http_fixture.h"
#include "tests/base/raw_client.h"

namespace {

using base::internal::FlawOf;
using tests::RawClient;

std::string Head(const std::string& fields, const std::string& version = "1.1") {
  return absl::StrCat("POST /a?b HTTP/", version, "\r\nHost: a\r\n", fields, "\r\n");
}

TEST_CASE("usual heads have no flaw") {
  CHECK(FlawOf(Head("")) == "");
  CHECK(FlawOf(Head("Content-Length: 5\r\nX-A:b\r\nX-A: \t c\r\nEmpty:\r\n")) == "");
  CHECK(FlawOf(Head("Transfer-Encoding: chunked\r\n")) == "");
  CHECK(FlawOf("GET / HTTP/1.0\r\n\r\n") == "");
}

TEST_CASE("heads whose body has two lengths are refused") {
  CHECK(FlawOf(Head("Content-Length: 5\r\nContent-Length: 5\r\n")) == "two Content-Length headers");
  CHECK(FlawOf(Head("Content-Length: 5, 5\r\n")) == "the Content-Length is not one number");
  CHECK(FlawOf(Head("Content-Length: +5\r\n")) == "the Content-Length is not one number");
  CHECK(FlawOf(Head("Content-Length:\r\n")) == "the Content-Length is not one number");
  CHECK(FlawOf(Head("content-length: 5\r\nTransfer-encoding: chunked\r\n")) ==
        "both Content-Length and Transfer-Encoding");
  CHECK(FlawOf(Head("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n")) ==
        "two Transfer-Encoding headers");
  CHECK(FlawOf(Head("Transfer-Encoding: chunked\r\n", "1.0")) == "Transfer-Encoding in HTTP/1.0");
}

TEST_CASE("heads whose lines have two readings are refused") {
  CHECK(FlawOf(Head("X-A: b\r\n c: d\r\n")) == "a header is continued on the next line");
  CHECK(FlawOf(Head("\tX-A: b\r\n")) == "a header is continued on the next line");
  CHECK(FlawOf(Head("X-A : b\r\n")) == "a header's name has a space");
  CHECK(FlawOf(Head("X A: b\r\n")) == "a header's name has a space");
  CHECK(FlawOf(Head(": b\r\n")) == "a header has no name");
  CHECK(FlawOf(Head("nothing\r\n")) == "a header has no name");
  CHECK(FlawOf(Head("Host: b\r\n")) == "two Host headers");
  CHECK(FlawOf(Head("X-A: b\nX-B: c\r\n")) == "a control character");
  CHECK(FlawOf(Head("X-A: b\rX-B: c\r\n")) == "a control character");
  CHECK(FlawOf(Head(std::string("X-A: b\0c\r\n", 10))) == "a control character");
  CHECK(FlawOf(std::string("GET /\0 HTTP/1.1\r\n\r\n", 20)) == "a control character");
}

TEST_CASE("a request with a flaw gets 400, and nothing of its connection is served any more") {
  auto server = tests::StartServer(tests::EchoHandler());
  const std::string request = GENERATE(
      as<std::string>(),
      "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
      "GET / HTTP/1.1\r\nX-A: b\r\n c\r\n\r\n", "GET / HTTP/1.1\r\nX-A : b\r\n\r\n",
      "GET /a%00b HTTP/1.1\r\n\r\n");
  RawClient client(server->port());
  client.Send(request + "GET /smuggled HTTP/1.1\r\n\r\n");
  const tests::RawResponse response = client.ReadResponse();
  CHECK(response.code == 400);
  CHECK(response.body.find("malformed request: ") == 0);
  CHECK(client.EndsNow());
}

TEST_CASE("a head that comes byte by byte is checked, too") {
  auto server = tests::StartServer(tests::EchoHandler());
  RawClient client(server->port());
  for (const char c : std::string("GET / HTTP/1.1\r\nX-A : b\r\n\r\n")) {
    client.Send(std::string(1, c));
  }
  CHECK(client.ReadResponse().code == 400);
}

TEST_CASE("a head in two parts is checked as one") {
  struct Case {
    const char *first, *second, *flaw;
  };
  const Case cases[] = {
      {"GET / HTTP/1.1\r\nHost: a\r\nX", "-A: 1\r\nHost: b\r\n\r\n", "two Host headers"},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nX",
       "-A: 1\r\nContent-Length: 1\r\n\r\nb", "two Content-Length headers"},
      {"POST / HTTP/1.0\r\nX", "-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "Transfer-Encoding in HTTP/1.0"},
  };
  for (const Case& c : cases) {
    INFO(c.second);
    auto server = tests::StartServer(tests::EchoHandler());
    RawClient client(server->port());
    // The first part comes with a whole request, so that the server has it before the second.
    client.Send(absl::StrCat("GET / HTTP/1.1\r\nHost: a\r\n\r\n", c.first));
    CHECK(client.ReadResponse().code == 200);
    client.Send(c.second);
    const auto response = client.ReadResponse();
    CHECK(response.code == 400);
    CHECK(absl::StrContains(response.body, c.flaw));
  }
}

}  // namespace
