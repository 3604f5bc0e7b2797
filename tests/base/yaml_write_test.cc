// What is written as YAML: as kubectl prints it, and so that it reads back as itself.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/yaml.h"

namespace {

using json::Value;

Value MustParse(absl::string_view text) {
  INFO(text);
  auto value = yaml::Parse(text);
  INFO(value.status().ToString());
  REQUIRE(value.ok());
  return *value;
}

TEST_CASE("the writer's text is what kubectl prints") {
  const Value v = Value::Object(
      {{"apiVersion", "v1"},
       {"count", 3},
       {"data", Value::Object({{"script", "#!/bin/sh\necho hi\n"}, {"yes", "yes"}, {"n", "012"}})},
       {"empty", Value::Object({{"list", Value::Array()}, {"map", Value::Object()}, {"text", ""}})},
       {"list", Value::Array({Value::Object({{"a", 1}, {"b", Value::Array({"x"})}}), Value()})}});
  CHECK(yaml::Write(v) ==
        "apiVersion: v1\n"
        "count: 3\n"
        "data:\n"
        "  \"n\": \"012\"\n"
        "  script: |\n"
        "    #!/bin/sh\n"
        "    echo hi\n"
        "  \"yes\": \"yes\"\n"
        "empty:\n"
        "  list: []\n"
        "  map: {}\n"
        "  text: \"\"\n"
        "list:\n"
        "- a: 1\n"
        "  b:\n"
        "  - x\n"
        "- null\n");
}

TEST_CASE("strings that a reader could mistake are quoted and come back") {
  for (const std::string text : {"",
                                 " ",
                                 "a ",
                                 " a",
                                 "true",
                                 "off",
                                 "~",
                                 "null",
                                 "1",
                                 "1.5",
                                 "0x1",
                                 "1e3",
                                 "-",
                                 "- a",
                                 "?",
                                 ": a",
                                 "a: b",
                                 "a:",
                                 "a #b",
                                 "#a",
                                 "&a",
                                 "*a",
                                 "!a",
                                 "|",
                                 ">",
                                 "%a",
                                 "@a",
                                 "`a",
                                 "'a'",
                                 "\"a\"",
                                 "[a]",
                                 "{a}",
                                 "a,b",
                                 ",",
                                 "---",
                                 "--- a",
                                 "...",
                                 "=",
                                 "<<",
                                 "\t",
                                 "a\tb",
                                 "\n",
                                 "a\n",
                                 "\na",
                                 "a\n\n",
                                 "a\n b\n",
                                 " a\nb",
                                 "a\r\nb",
                                 "a\nb ",
                                 "a\n\tb",
                                 "\x01",
                                 "\x7f",
                                 "\xc2\x85",
                                 "\xe2\x80\xa8",
                                 "\xef\xbb\xbf",
                                 "\xc3\xa9",
                                 "1:30",
                                 "2024-01-01",
                                 ".inf",
                                 ".nan",
                                 "0o7",
                                 "a\\b",
                                 "a\"b",
                                 "a'b",
                                 "key: |\n  x\n",
                                 "\xf0\x9f\x98\x80",
                                 "y",
                                 "No"}) {
    INFO("text: " << text);
    CHECK(MustParse(yaml::Write(Value(text))) == Value(text));
    const Value nested =
        Value::Object({{text, Value::Array({text, Value::Object({{"k", text}, {"l", 1}})})}});
    INFO(yaml::Write(nested));
    CHECK(MustParse(yaml::Write(nested)) == nested);
  }
}

// Makes values of all shapes, the same ones in every run.
class ValueMaker {
 public:
  Value Make(int depth) {
    switch (Below(depth > 0 ? 9 : 6)) {
      case 0:
        return Value(Below(2) == 0);
      case 1:
        return Value(static_cast<int64_t>(engine_()));
      case 2:
        return Value(static_cast<double>(static_cast<int64_t>(engine_())) / 1024.5);
      case 3:
        return Value(static_cast<int>(Below(100)));
      case 4:
      case 5:
        return Value(Text());
      case 6:
        return Value(nullptr);
      case 7: {
        Value array = Value::Array();
        for (size_t i = Below(4); i > 0; --i) array.Append(Make(depth - 1));
        return array;
      }
      default: {
        Value object = Value::Object();
        for (size_t i = Below(4); i > 0; --i) object.Set(Text(), Make(depth - 1));
        return object;
      }
    }
  }

 private:
  size_t Below(size_t n) { return engine_() % n; }

  std::string Text() {
    static constexpr absl::string_view kPieces[] = {"a",
                                                    "B",
                                                    "0",
                                                    "1",
                                                    " ",
                                                    "\n",
                                                    ":",
                                                    "-",
                                                    "#",
                                                    "'",
                                                    "\"",
                                                    "\\",
                                                    "{",
                                                    "]",
                                                    ",",
                                                    "&",
                                                    "*",
                                                    "!",
                                                    "|",
                                                    ">",
                                                    "%",
                                                    "@",
                                                    "?",
                                                    "\t",
                                                    "~",
                                                    ".",
                                                    "e",
                                                    "x",
                                                    "_",
                                                    "\xc3\xa9",
                                                    "\xf0\x9f\x98\x80",
                                                    "no"};
    std::string text;
    for (size_t i = Below(8); i > 0; --i) text += std::string(kPieces[Below(std::size(kPieces))]);
    return text;
  }

  std::mt19937_64 engine_{42};
};

TEST_CASE("every value that is written reads back as itself") {
  ValueMaker maker;
  for (int i = 0; i < 3000; ++i) {
    const Value value = Value::Object({{"v", maker.Make(4)}});
    const std::string text = yaml::Write(value);
    INFO(json::Write(value));
    INFO(text);
    REQUIRE(MustParse(text) == value);
  }
}

TEST_CASE("text that becomes too long is given up while it is written") {
  const Value list = Value::Array({"a", Value::Object({{"b", "one\ntwo\n"}})});
  const std::string text = yaml::Write(list);
  CHECK(yaml::WriteAsGo(list, text.size()).value_or("") == text);
  CHECK(yaml::WriteAsGo(list, text.size() - 1).status() ==
        absl::ResourceExhaustedError(
            absl::StrCat("the YAML text would have more than ", text.size() - 1, " bytes")));
  Value many = list;  // 2^60 items, which share their memory.
  for (int i = 0; i < 60; ++i) many = Value::Array({many, many});
  CHECK_FALSE(yaml::WriteAsGo(many, 1000).ok());
}

}  // namespace
