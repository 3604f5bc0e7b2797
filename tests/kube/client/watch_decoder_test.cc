#include "kube/client/internal/watch_decoder.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace kube {
namespace {

const std::string kBody =
    "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n"
    "\n"
    "{\"type\":\"BOOKMARK\",\"object\":{\"b\":\"x\\ny\"}}\n"
    "{\"type\":\"DELETED\",\"object\":{}}\n";
const std::vector<std::string> kLines = {
    "{\"type\":\"ADDED\",\"object\":{\"a\":1}}",
    "{\"type\":\"BOOKMARK\",\"object\":{\"b\":\"x\\ny\"}}",
    "{\"type\":\"DELETED\",\"object\":{}}",
};

// Decodes the pieces in order.
std::vector<std::string> LinesOf(const std::vector<std::string>& pieces) {
  WatchDecoder decoder;
  std::vector<std::string> lines;
  for (const std::string& piece : pieces) {
    const absl::Status fed = decoder.Feed(piece, [&](absl::string_view line) {
      lines.emplace_back(line);
      return absl::OkStatus();
    });
    REQUIRE(fed.ok());
  }
  REQUIRE(decoder.Finish().ok());
  return lines;
}

}  // namespace

TEST_CASE("A watch body cut at any two places gives the same lines") {
  for (size_t first = 0; first <= kBody.size(); ++first) {
    for (size_t second = first; second <= kBody.size(); ++second) {
      const std::vector<std::string> lines = LinesOf(
          {kBody.substr(0, first), kBody.substr(first, second - first), kBody.substr(second)});
      if (lines != kLines) {
        CAPTURE(first, second);
        REQUIRE(lines == kLines);
      }
    }
  }
}

TEST_CASE("A watch body fed byte by byte gives the same lines") {
  std::vector<std::string> bytes;
  for (const char c : kBody) bytes.emplace_back(1, c);
  CHECK(LinesOf(bytes) == kLines);
}

TEST_CASE("A body that ends inside a line is reported as broken off") {
  WatchDecoder decoder;
  int lines = 0;
  auto count = [&](absl::string_view) {
    ++lines;
    return absl::OkStatus();
  };
  REQUIRE(decoder.Feed("{\"type\":\"ADD", count).ok());
  CHECK(lines == 0);
  CHECK(absl::IsUnavailable(decoder.Finish()));
}

TEST_CASE(
    "A line over the limit fails, also when it comes in pieces, and nothing is read after it") {
  WatchDecoder decoder(/*max_line_bytes=*/8);
  int lines = 0;
  auto count = [&](absl::string_view) {
    ++lines;
    return absl::OkStatus();
  };
  REQUIRE(decoder.Feed("12345678\n1234", count).ok());
  CHECK(lines == 1);
  CHECK(absl::IsResourceExhausted(decoder.Feed("56789", count)));
  CHECK(absl::IsResourceExhausted(decoder.Feed("\n1\n", count)));
  CHECK(lines == 1);
  CHECK_FALSE(decoder.Finish().ok());
}

TEST_CASE("An error of the receiver ends the feeding and is returned") {
  WatchDecoder decoder;
  int lines = 0;
  auto refuse = [&](absl::string_view) {
    ++lines;
    return absl::OutOfRangeError("gone");
  };
  CHECK(absl::IsOutOfRange(decoder.Feed("a\nb\n", refuse)));
  CHECK(absl::IsOutOfRange(decoder.Feed("c\n", refuse)));
  CHECK(lines == 1);
}

TEST_CASE("A watch event has a known type and an object") {
  const auto event = ParseWatchEvent(R"({"type":"MODIFIED","object":{"kind":"Pod"}})");
  REQUIRE(event.ok());
  CHECK(event->type == WatchEvent::Type::kModified);
  CHECK(event->object["kind"].AsString() == "Pod");

  for (const char* malformed :
       {"", "{", "[]", R"({"type":"ADDED"})", R"({"type":"ADDED","object":[]})",
        R"({"type":"added","object":{}})", R"({"object":{}})", R"({"type":1,"object":{}})"}) {
    CAPTURE(malformed);
    CHECK(absl::IsInvalidArgument(ParseWatchEvent(malformed).status()));
  }
}

TEST_CASE("The version of a state is found in the text of its event, whatever stands before it") {
  const std::string versions[] = {
      R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"resourceVersion":"7"}}})",
      R"({"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"7","uid":"u"}}})",
      R"({"object":{"metadata":{"resourceVersion":"7"}},"type":"MODIFIED"})",
      R"({"object":{"data":{"metadata":{"resourceVersion":"1"}},"metadata":{"resourceVersion":"7"}},"type":"ADDED"})",
      R"({"type":"ADDED","object":{"x":["metadata",{"y":"\\\""}],"metadata":{"annotations":)"
      R"({"resourceVersion":"1"},"labels":{"a":"\"resourceVersion\":\"2\""},"resourceVersion":"7"}}})",
  };
  for (const std::string& text : versions) {
    CAPTURE(text);
    CHECK(VersionOfStateEvent(text) == "7");
    const auto event = ParseWatchEvent(text);
    REQUIRE(event.ok());
    CHECK(event->object.Get({"metadata", "resourceVersion"}).AsString() == "7");
  }
}

TEST_CASE("No version is found in other events and in unusual texts") {
  for (const char* text :
       {"", "{", R"({"type":"ADDED","object":{)", R"({"type":"ADDED","object":{"metadata":{)",
        R"({"type":"DELETED","object":{"metadata":{"resourceVersion":"7"}}})",
        R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}})",
        R"({"object":{"metadata":{"resourceVersion":"7"}},"type":"DELETED"})",
        R"({"type":"ADDED","object":{"metadata":{"name":"a"},"resourceVersion":"7"}})",
        R"({"type":"ADDED","object":{"metadata":"metadata","resourceVersion":"7"}})",
        R"({"type":"ADDED","object":{"metadata":{"resourceVersion":7}}})",
        R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"7}}})",
        R"({"type": "ADDED", "object": {"metadata": {"resourceVersion": "7"}}})"}) {
    CAPTURE(text);
    CHECK(VersionOfStateEvent(text).empty());
  }
}

}  // namespace kube
