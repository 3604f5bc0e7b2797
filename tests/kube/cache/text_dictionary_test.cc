#include "kube/cache/text_dictionary.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kube {
namespace {

std::string Read(absl::string_view packed, const TextDictionary* dictionary) {
  std::string out;
  TextReader(packed, dictionary).Rest(out);
  return out;
}

std::string PodText(int number) {
  return absl::StrCat(
      R"({"kind":"Pod","metadata":{"name":"web-)", number,
      R"(","namespace":"default"},"spec":{"containers":[{"image":"registry.example.com/web:1",)"
      R"("name":"web","terminationMessagePath":"/dev/termination-log"}],"nodeName":"node-)",
      number % 7, R"(","restartPolicy":"Always"},"status":{"phase":"Running"}})");
}

// A text that has nothing in common with others.
std::string Noise(size_t size, uint64_t seed) {
  std::string out;
  for (uint64_t state = seed; out.size() < size;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    out += static_cast<char>('!' + (state >> 33) % 90);
  }
  return out;
}

TEST_CASE("texts that are alike take little more than what is their own") {
  TextDictionary dictionary;
  std::vector<std::string> packed;
  for (int i = 0; i < 1000; ++i) packed.push_back(dictionary.Pack(PodText(i)));
  for (int i = 0; i < 1000; ++i) {
    INFO(i);
    REQUIRE(Read(packed[i], &dictionary) == PodText(i));
    REQUIRE(packed[i].size() < PodText(i).size() / 4);
  }
  CHECK(dictionary.bytes() < 4096);
}

TEST_CASE("any text can be packed: empty, short, long, with a full dictionary or without one") {
  TextDictionary dictionary;
  std::vector<std::string> texts = {"", "a", "1234567", "12345678", std::string(100, 'x')};
  for (const size_t size : {127, 128, 1000, 16 << 10, 100'000}) {
    for (uint64_t seed = 1; seed < 20; ++seed) texts.push_back(Noise(size, seed));
  }
  texts.insert(texts.end(), texts.begin(), texts.end());
  texts.push_back(PodText(1));
  std::vector<std::string> packed;
  for (const std::string& text : texts) packed.push_back(dictionary.Pack(text));
  for (size_t i = 0; i < texts.size(); ++i) {
    INFO(i);
    REQUIRE(Read(packed[i], &dictionary) == texts[i]);
    REQUIRE(packed[i].size() <= texts[i].size() + 4 + texts[i].size() / 64);
    REQUIRE(Read(TextDictionary::PackAlone(texts[i]), nullptr) == texts[i]);
  }
  CHECK(dictionary.bytes() <= 96 << 10);
}

TEST_CASE("a packed text is read in pieces, and parts of it are skipped") {
  TextDictionary dictionary;
  dictionary.Pack(PodText(1));
  const std::string text = PodText(23), packed = dictionary.Pack(text);
  for (size_t at = 0; at <= text.size(); ++at) {
    TextReader reader(packed, &dictionary);
    std::string out;
    reader.Next(at, out);
    REQUIRE(out == text.substr(0, at));
    reader.Skip(3);
    reader.Rest(out);
    REQUIRE(out == text.substr(0, at) + text.substr(std::min(at + 3, text.size())));
  }
}

TEST_CASE("texts are packed and read by several threads at the same time") {
  TextDictionary dictionary;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&dictionary, &count = wrong[t], t] {
      for (int i = 0; i < 500; ++i) {
        const std::string text = absl::StrCat(PodText(i), i % 50 == 0 ? Noise(900, i + t) : "");
        if (Read(dictionary.Pack(text), &dictionary) != text) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

}  // namespace
}  // namespace kube
