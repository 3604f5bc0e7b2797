// What stays of values that have been read and are not used any more.
#include <malloc.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/json_size.h"

namespace json {
namespace {

constexpr size_t kMegabyte = 1'000'000;

// Sanitizers have allocators of their own, which are not asked.
size_t Allocated() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Returns how many bytes more are allocated after the texts of so many numbers have been read, and
// what was read is gone.
template <class TextOf>
size_t LeftOf(int count, const TextOf& text_of) {
  ForgetUnused();
  const size_t before = Allocated();
  for (int i = 0; i < count; ++i) CHECK(Parse(text_of(i)).ok());
  const size_t after = Allocated();
  return after > before ? after - before : 0;
}

TEST_CASE("long texts of objects that are gone do not pile up") {
  CHECK(LeftOf(100, [](int i) {
          return absl::StrCat(R"({"data":{"text":")", i, std::string(kMegabyte, 'x'), "\"}}");
        }) < 20 * kMegabyte);
}

TEST_CASE("long arrays of objects that are gone do not pile up, however deep they lie") {
  constexpr int kDepth = 400;
  CHECK(LeftOf(100, [](int i) {
          std::string text = absl::StrCat("[", i);
          for (int item = 0; item < 50'000; ++item) text += ",0";
          text += "]";
          for (int level = 0; level < kDepth; ++level) text = absl::StrCat("{\"a\":", text, "}");
          return text;
        }) < 20 * kMegabyte);
}

TEST_CASE("many small objects that are gone do not pile up") {
  CHECK(LeftOf(100, [](int i) {
          std::string text = "{\"items\":[0";
          for (int item = 0; item < 1'000; ++item) {
            absl::StrAppend(&text, ",{\"name\":\"", i, "-", item, std::string(2'000, 'x'), "\"}");
          }
          return text + "]}";
        }) < 20 * kMegabyte);
}

TEST_CASE("what is in use is shared also after the unused has been freed") {
  const Value one = *Parse(R"({"spec":{"a":{"b":[1,2,3]}}})");
  ForgetUnused();
  const Value other = *Parse(R"({"spec":{"a":{"b":[1,2,3]}}})");
  CHECK(one["spec"].SharesWith(other["spec"]));
}

// Returns how many of the values share what they hold with an equal one that is read now.
int SharedOf(const std::vector<Value>& held) {
  int shared = 0;
  for (const Value& value : held) shared += (*Parse(Write(value)))["a"].SharesWith(value["a"]);
  return shared;
}

std::vector<Value> Different(int count) {
  std::vector<Value> values;
  for (int i = 0; i < count; ++i)
    values.push_back(*Parse(absl::StrCat("{\"a\":{\"number\":", i, "}}")));
  return values;
}

TEST_CASE("nearly all that is in use is shared, however much that is") {
  for (const int count : {1'000, 200'000, 2'000}) {
    const std::vector<Value> held = Different(count);
    ForgetUnused();
    // What another one took the place of while the table was too small is put into it again.
    const std::vector<Value> again = Different(count);
    CHECK(SharedOf(again) > count / 100 * 95);
  }
}

}  // namespace
}  // namespace json
