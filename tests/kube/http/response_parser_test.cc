#include "kube/http/internal/response_parser.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kube {
namespace {

struct Parsed {
  absl::Status status;
  HttpResponse head;
  std::string body;
  bool done = false;
  bool kept = false;
};

// Parses `text` in pieces of `step` bytes, and then the end of the connection if `ends`.
Parsed Parse(const std::string& text, size_t step, bool ends = false,
             const ResponseParser::Options& options = {}) {
  Parsed out;
  ResponseParser parser(options, {.on_head = [&](const HttpResponse& head) { out.head = head; },
                                  .on_body =
                                      [&](absl::string_view bytes) {
                                        absl::StrAppend(&out.body, bytes);
                                        return absl::OkStatus();
                                      }});
  for (size_t at = 0; at < text.size() && out.status.ok() && !parser.done(); at += step) {
    out.status = parser.Feed(absl::string_view(text).substr(at, step));
  }
  if (ends && out.status.ok()) out.status = parser.End(/*properly=*/true);
  out.done = out.status.ok() && parser.done();
  out.kept = out.done && parser.keeps_connection();
  return out;
}

const char kHead[] = "HTTP/1.1 200 OK\r\n";

}  // namespace

TEST_CASE("Answers are read however they are cut") {
  const std::string chunked =
      absl::StrCat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
                   kHead, "X-A: 1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
                   "3;ext=1\r\nabc\r\n0002\r\nde\r\n0\r\nTrailer: t\r\n\r\n");
  for (size_t step = 1; step <= chunked.size(); ++step) {
    CAPTURE(step);
    const Parsed parsed = Parse(chunked, step);
    INFO(parsed.status);
    REQUIRE(parsed.done);
    CHECK(parsed.kept);
    CHECK(parsed.head.code == 200);
    CHECK(parsed.head.headers.at("x-a") == "1, 2");
    CHECK(parsed.head.headers.count("trailer") == 0);
    CHECK(parsed.head.headers.count("link") == 0);
    CHECK(parsed.body == "abcde");
  }
  for (const size_t step : {1, 7, 1000}) {
    const Parsed parsed = Parse(absl::StrCat(kHead, "Content-Length: 3\r\n\r\nabc"), step);
    CHECK(parsed.kept);
    CHECK(parsed.body == "abc");
  }
}

TEST_CASE("An empty body in chunks, and chunks of one byte, may be cut anywhere") {
  const std::string head = absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n");
  for (const std::string& chunks : {std::string("0\r\n\r\n"), std::string("0\r\nA: b\r\n\r\n"),
                                    std::string("1\r\nx\r\n1\r\ny\r\n0\r\n\r\n")}) {
    for (size_t first = 0; first <= chunks.size(); ++first) {
      for (size_t second = first; second <= chunks.size(); ++second) {
        CAPTURE(chunks, first, second);
        ResponseParser parser({}, {});
        REQUIRE(parser.Feed(head).ok());
        REQUIRE(parser.Feed(chunks.substr(0, first)).ok());
        REQUIRE(parser.Feed(chunks.substr(first, second - first)).ok());
        if (!parser.done()) REQUIRE(parser.Feed(chunks.substr(second)).ok());
        CHECK(parser.done());
        CHECK(parser.keeps_connection());
      }
    }
  }
}

TEST_CASE("An answer without a length ends with its connection, and only then") {
  const std::string text = absl::StrCat(kHead, "\r\nabc");
  CHECK_FALSE(Parse(text, 5).done);
  const Parsed parsed = Parse(text, 5, /*ends=*/true);
  CHECK(parsed.done);
  CHECK_FALSE(parsed.kept);
  CHECK(parsed.body == "abc");
  ResponseParser cut({}, {});
  CHECK(cut.Feed(text).ok());
  CHECK(absl::IsUnavailable(cut.End(/*properly=*/false)));
}

TEST_CASE("Answers that end too early, or are none, are refused") {
  for (const std::string& text :
       {std::string("HTTP/1.1 20"), absl::StrCat(kHead, "X: y"),
        absl::StrCat(kHead, "Content-Length: 3\r\n\r\nab"),
        absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n3\r\nab"),
        absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
        absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n"),
        absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n11111111111111111\r\nabc"),
        absl::StrCat(kHead, "Content-Length: -1\r\n\r\nab"),
        absl::StrCat(kHead, "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        absl::StrCat(kHead, "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nab"),
        std::string("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        std::string("SSH-2.0-OpenSSH\r\n\r\n"), std::string("\x15\x03\x01\x00\x02\x02\x50")}) {
    for (const size_t step : {size_t{1}, text.size()}) {
      CAPTURE(text, step);
      CHECK(absl::IsUnavailable(Parse(text, step, /*ends=*/true).status));
    }
  }
}

TEST_CASE("What a server sends without end is refused before it fills the memory") {
  const std::string many(1 << 20, 'x');
  std::string fields, interim;
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&fields, "H", i, ": 12345678\r\n");
  for (int i = 0; i < 10; ++i) absl::StrAppend(&interim, "HTTP/1.1 102 Processing\r\n\r\n");
  const std::string chunked = absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n");
  for (const size_t step : {size_t{1}, size_t{1000}, size_t{1} << 21}) {
    CAPTURE(step);
    for (const std::string& text :
         {many, absl::StrCat(kHead, "X: ", many), absl::StrCat(kHead, fields),
          absl::StrCat(chunked, "1;", many), absl::StrCat(chunked, "0\r\n", fields),
          absl::StrCat(chunked, "0\r\nX: ", many), interim}) {
      const absl::Status status = Parse(text, step).status;
      CAPTURE(text.substr(0, 60));
      CHECK_FALSE(status.ok());
    }
  }
}

TEST_CASE("A body may be as large as is allowed, and not larger") {
  ResponseParser::Options options;
  options.max_body_bytes = 4;
  for (const bool fits : {true, false}) {
    const std::string body = fits ? "abcd" : "abcde";
    for (const std::string& text :
         {absl::StrCat(kHead, "Content-Length: ", body.size(), "\r\n\r\n", body),
          absl::StrCat(kHead, "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", body.size() - 2,
                       "\r\n", body.substr(2), "\r\n0\r\n\r\n"),
          absl::StrCat(kHead, "\r\n", body)}) {
      const absl::Status status = Parse(text, 3, /*ends=*/true, options).status;
      CAPTURE(text, fits);
      CHECK(status.ok() == fits);
      if (!fits) CHECK(absl::IsResourceExhausted(status));
    }
  }
}

}  // namespace kube
