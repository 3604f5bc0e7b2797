// Which answers are compressed.
#include <catch2/catch.hpp>

#include "kube/server/compression.h"
#include "tests/support/gunzip.h"

namespace kube::server {
namespace {

base::HttpResponse Answer(const std::string& accepted, size_t size) {
  base::HttpRequest request;
  request.headers["accept-encoding"] = accepted;
  base::HttpResponse answer;
  answer.body = std::string(size, 'x');
  Compress(request, answer);
  return answer;
}

bool IsCompressed(const std::string& accepted, size_t size = kMinCompressedBytes + 1) {
  return Answer(accepted, size).headers.size() == 2;
}

TEST_CASE("long answers are compressed for clients that accept it") {
  CHECK(IsCompressed("gzip"));
  CHECK(IsCompressed("deflate, gzip;q=0.5"));
  CHECK(IsCompressed("GZIP, br"));
  CHECK_FALSE(IsCompressed(""));
  CHECK_FALSE(IsCompressed("identity"));
  CHECK_FALSE(IsCompressed("gzip;q=0"));
  CHECK_FALSE(IsCompressed("gzip", kMinCompressedBytes));
  const base::HttpResponse answer = Answer("gzip", 200000);
  CHECK(answer.headers[0] == std::make_pair(std::string("Content-Encoding"), std::string("gzip")));
  CHECK((tests::Gunzip(answer.body) == std::string(200000, 'x')));
}

TEST_CASE("what is encoded already stays as it is") {
  base::HttpRequest request;
  request.headers["accept-encoding"] = "gzip";
  base::HttpResponse answer;
  answer.body = std::string(200000, 'x');
  answer.headers = {{"Content-Encoding", "zstd"}};
  Compress(request, answer);
  CHECK(answer.body.size() == 200000);
}

TEST_CASE("shared parts of a body are a part of what is compressed") {
  const auto part = std::make_shared<const std::string>(100000, 'y');
  base::HttpResponse answer;
  answer.body = std::string(100, 'x');
  answer.more_body = {part};
  CHECK_FALSE(IsWorthCompressing(answer));
  answer.more_body = {part, part};
  REQUIRE(IsWorthCompressing(answer));
  Compress(answer);
  CHECK(answer.more_body.empty());
  CHECK((tests::Gunzip(answer.body) == std::string(100, 'x') + *part + *part));
}

}  // namespace
}  // namespace kube::server
