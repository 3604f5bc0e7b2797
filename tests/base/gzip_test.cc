// Compressed bytes, and what zlib makes of them.
#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/gzip.h"
#include "tests/support/gunzip.h"

namespace base {
namespace {

using tests::Gunzip;

// Returns text that compresses as a list of objects does.
std::string ListOfPods(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&out, R"({"metadata":{"name":"web-)", i, R"(","namespace":"team-)", i % 7,
                    R"(","uid":")", absl::Hex(i * 2654435761u, absl::kZeroPad8),
                    R"("},"spec":{"nodeName":"node-)", i % 50,
                    R"(","containers":[{"name":"app","image":"nginx:1.25"}]}},)");
  }
  return out;
}

// Returns bytes that do not compress.
std::string Noise(size_t size) {
  std::string out;
  uint64_t state = 88172645463325252u;
  while (out.size() < size) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    out.push_back(static_cast<char>(state));
  }
  return out;
}

TEST_CASE("what is compressed comes back, at every level and size") {
  const std::string texts[] = {
      "", "a", "Hello, hello!", ListOfPods(500), Noise(100000), std::string(3 << 20, 'x')};
  for (const std::string& text : texts) {
    for (int level : {1, 6, 9}) {
      INFO(text.size() << " bytes, level " << level);
      CHECK((Gunzip(Gzip(text, level)) == text));
    }
  }
  CHECK(Gzip(ListOfPods(500)).size() < ListOfPods(500).size() / 5);
}

TEST_CASE("a text that is written in pieces is one file") {
  const std::string text = ListOfPods(2000);
  for (const size_t piece : {size_t{1} << 10, size_t{100'000}, text.size()}) {
    CAPTURE(piece);
    GzipStream stream;
    std::string bytes;
    size_t longest = 0;
    for (size_t at = 0; at < text.size(); at += piece) {
      const size_t before = bytes.size();
      stream.Write(text.substr(at, piece), bytes);
      longest = std::max(longest, bytes.size() - before);
    }
    // Most of it is written before the end.
    CHECK(bytes.size() > Gzip(text).size() / 2);
    CHECK(longest < piece + 100'000);
    stream.Finish(bytes);
    CHECK(bytes.size() < Gzip(text).size() + 1000);
    CHECK((Gunzip(bytes) == text));
  }
  GzipStream nothing;
  std::string empty;
  nothing.Finish(empty);
  CHECK(Gunzip(empty) == "");
  // Bytes that cannot be made shorter.
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i)
    noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  GzipStream stream;
  std::string bytes;
  stream.Write(noise, bytes);
  stream.Finish(bytes);
  CHECK((Gunzip(bytes) == noise));
}

// Not run by default: `base_test "[.bench]"`.
TEST_CASE("the speed of compression", "[.bench]") {
  const std::string text = ListOfPods(200000);
  const absl::Time start = absl::Now();
  const std::string zipped = Gzip(text);
  const absl::Time end = absl::Now();
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  WARN(megabytes << " MB, ratio " << static_cast<double>(text.size()) / zipped.size() << ", "
                 << megabytes / absl::ToDoubleSeconds(end - start) << " MB/s");
}

}  // namespace
}  // namespace base
