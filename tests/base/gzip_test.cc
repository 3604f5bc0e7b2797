// Compressed bytes: what others make of ours, what we make of theirs, and limits.
#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/gzip.h"

namespace base {
namespace {

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
      const auto zipped = Gunzip(Gzip(text, level), text.size());
      CHECK((zipped.ok() && *zipped == text));
      const auto deflated = Inflate(Deflate(text, level), text.size());
      CHECK((deflated.ok() && *deflated == text));
    }
  }
  CHECK(Gzip(ListOfPods(500)).size() < ListOfPods(500).size() / 5);
}

TEST_CASE("a file of another program is read, with its name in the header") {
  // Made by Python's gzip module.
  const std::string bytes = absl::HexStringToBytes(
      "1f8b08080000000002ff612e74787400cb48cdc9c9e7ca4022013a37663d12000000");
  const auto text = Gunzip(bytes, 100);
  INFO(text.status());
  REQUIRE(text.ok());
  CHECK(*text == "hello\nhello\nhello\n");
  const auto twice = Gunzip(bytes + Gzip("more"), 100);
  REQUIRE(twice.ok());
  CHECK(*twice == "hello\nhello\nhello\nmore");
}

TEST_CASE("a text that comes in pieces is one file") {
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
    CHECK(*Gunzip(bytes, text.size()) == text);
  }
  GzipStream nothing;
  std::string empty;
  nothing.Finish(empty);
  CHECK(Gunzip(empty, 1)->empty());
  // Bytes that cannot be made shorter.
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i)
    noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  GzipStream stream;
  std::string bytes;
  stream.Write(noise, bytes);
  stream.Finish(bytes);
  CHECK(*Gunzip(bytes, noise.size()) == noise);
}

TEST_CASE("the checksum is that of gzip") {
  CHECK(Crc32("") == 0);
  CHECK(Crc32("123456789") == 0xCBF43926u);
  CHECK(Crc32("The quick brown fox jumps over the lazy dog") == 0x414FA339u);
}

TEST_CASE("a small body cannot fill the memory") {
  const std::string bomb = Gzip(std::string(10 << 20, '\0'));
  REQUIRE(bomb.size() < 100000);
  CHECK(absl::IsResourceExhausted(Gunzip(bomb, 1 << 20).status()));
  CHECK(absl::IsResourceExhausted(Gunzip(bomb, (10 << 20) - 1).status()));
  CHECK(Gunzip(bomb, 10 << 20).ok());
  CHECK(absl::IsResourceExhausted(Gunzip(Gzip("ab") + Gzip("cd"), 3).status()));
}

TEST_CASE("malformed bytes are refused, wherever they are cut or changed") {
  const std::string good = Gzip(ListOfPods(3));
  for (size_t n = 0; n < good.size(); ++n) {
    INFO("cut at " << n);
    CHECK(absl::IsInvalidArgument(Gunzip(good.substr(0, n), 1 << 20).status()));
  }
  for (size_t n = 0; n < good.size(); ++n) {
    std::string bad = good;
    bad[n] = static_cast<char>(bad[n] ^ 0x10);
    const auto text = Gunzip(bad, 1 << 20);
    // A few bits of the header mean nothing.
    CHECK((!text.ok() || n < 10));
  }
  CHECK_FALSE(Gunzip("plain text", 100).ok());
  CHECK_FALSE(Gunzip(good + "x", 1 << 20).ok());
  CHECK_FALSE(Inflate(Deflate("x") + "yz", 100).ok());
  CHECK_FALSE(Inflate("", 100).ok());
}

// Not run by default: `base_test "[.bench]"`.
TEST_CASE("the speed of compression", "[.bench]") {
  const std::string text = ListOfPods(200000);
  const absl::Time start = absl::Now();
  const std::string zipped = Gzip(text);
  const absl::Time middle = absl::Now();
  const auto back = Gunzip(zipped, text.size());
  const absl::Time end = absl::Now();
  REQUIRE(back.ok());
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  WARN(megabytes << " MB, ratio " << static_cast<double>(text.size()) / zipped.size() << ", gzip "
                 << megabytes / absl::ToDoubleSeconds(middle - start) << " MB/s, gunzip "
                 << megabytes / absl::ToDoubleSeconds(end - middle) << " MB/s");
}

}  // namespace
}  // namespace base
