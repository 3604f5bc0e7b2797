// Which bytes are read as YAML: UTF-8, and UTF-16 with a byte order mark.
#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/yaml.h"

namespace {

TEST_CASE("a text with a character of zero is refused with its place") {
  for (const absl::string_view text :
       {absl::string_view("a: 1\nb: \0", 9), absl::string_view("a: 1\nb: \0\0\0", 11)}) {
    CHECK(yaml::Parse(text).status().message() ==
          "invalid YAML at line 2, column 4: the text has a character of zero");
  }
  // It would be read as UTF-32.
  CHECK_FALSE(yaml::Parse(absl::string_view("I\0\0\0a: 1", 8)).ok());
}

TEST_CASE("UTF-16 is read, and refused where it is none") {
  const auto of = [](std::initializer_list<int> units, bool is_little) {
    std::string text = is_little ? "\xFF\xFE" : "\xFE\xFF";
    for (const int unit : units) {
      const char low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
      text += is_little ? std::string({low, high}) : std::string({high, low});
    }
    return text;
  };
  const bool is_little = GENERATE(true, false);
  CHECK(yaml::Parse(of({'a', ':', ' ', 0xD83D, 0xDE00}, is_little))->Get({"a"}).AsString() ==
        "\xF0\x9F\x98\x80");
  for (const std::initializer_list<int> bad :
       {std::initializer_list<int>{'a', '\n', ' ', 0xDCDC}, {'a', '\n', ' ', 0xD83D, 'b'}}) {
    CHECK(absl::StartsWith(yaml::Parse(of(bad, is_little)).status().message(),
                           "invalid YAML at line 2, column "));
  }
  CHECK_FALSE(yaml::Parse(of({'a', 0xD83D}, is_little)).ok());
  CHECK_FALSE(yaml::Parse(of({'a', ':', ' ', 0, 'b'}, is_little)).ok());
  CHECK_FALSE(yaml::Parse(absl::StrCat(of({'a'}, is_little), "b")).ok());
}

TEST_CASE("bytes that are not UTF-8 are refused with their place") {
  CHECK(yaml::Parse("a: 1\nb: c\xFE\xFF").status().message() ==
        "invalid YAML at line 2, column 5: the text is not UTF-8");
  CHECK(yaml::Parse("a: \xC3\xA9")->Get({"a"}).AsString() == "\xC3\xA9");
}

}  // namespace
