#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace {

using json::Parse;
using json::Value;

Value MustParse(absl::string_view text) {
  auto value = Parse(text);
  INFO(text);
  INFO(value.status().ToString());
  REQUIRE(value.ok());
  return *value;
}

// Values take ten times as many bytes as such text.
TEST_CASE("a document of more values than any object has is refused") {
  const auto zeros = [](size_t count) {
    std::string text = "[0";
    for (size_t i = 1; i < count; ++i) text += ",0";
    return text + "]";
  };
  CHECK(Parse(zeros(999'999)).ok());  // The array is a value, too.
  const absl::Status refused = Parse(zeros(1'000'000)).status();
  CHECK(absl::IsResourceExhausted(refused));
  CHECK(absl::StrContains(refused.message(), "more than 1000000 values"));
  // What is not built does not count.
  const std::string wrapped = absl::StrCat(R"({"left": )", zeros(1'000'000), R"(, "a": 1})");
  constexpr absl::string_view kLeft[] = {"left"};
  CHECK(Parse(wrapped, {.dropped = kLeft}).ok());
  // Longer texts may have more, as long as their values are not the smallest ones.
  const std::string longer =
      absl::StrCat("[\"", std::string(40'000'000, 'x'), "\",", zeros(2'000'000), "]");
  CHECK(Parse(longer).ok());
}

TEST_CASE("every type of value is read") {
  CHECK(MustParse(" { \"a\" : [ null , true , false , -1 , 0.5 , \"s\" , { } , [ ] ] }\n") ==
        Value::Object({{"a", Value::Array({Value(), true, false, -1, 0.5, "s", Value::Object(),
                                           Value::Array()})}}));
  CHECK(MustParse("\"alone\"") == Value("alone"));
}

TEST_CASE("integers keep all their digits as far as int64 goes, and are doubles beyond") {
  CHECK(MustParse("9007199254740993").AsInt() == 9007199254740993);
  CHECK(MustParse("9223372036854775807").AsInt() == std::numeric_limits<int64_t>::max());
  CHECK(MustParse("-9223372036854775808").AsInt() == std::numeric_limits<int64_t>::min());
  const Value above = MustParse("9223372036854775808");
  CHECK(above.type() == Value::Type::kDouble);
  CHECK(above.AsDouble() == 9223372036854775808.0);
  CHECK(MustParse("18446744073709551615").AsDouble() == 18446744073709551616.0);
  CHECK(MustParse("-0").is_int());
}

TEST_CASE("a number with a point or an exponent stays a double") {
  CHECK(MustParse("1.0").type() == Value::Type::kDouble);
  CHECK(MustParse("1e3").type() == Value::Type::kDouble);
  CHECK(MustParse("1e3").AsInt() == 1000);
  CHECK(MustParse("0.1").AsDouble() == 0.1);
  CHECK(MustParse("1e-400").AsDouble() == 0.0);
  CHECK(MustParse("128.74836467836484838364836483643636483648e-336").AsDouble() < 1e-300);
  CHECK(MustParse("1.7976931348623157e308").AsDouble() == std::numeric_limits<double>::max());
}

TEST_CASE("a repeated name keeps the last value, as Go does") {
  CHECK(MustParse(R"({"a":1,"b":2,"a":{"c":3}})") ==
        Value::Object({{"a", Value::Object({{"c", 3}})}, {"b", 2}}));
}

TEST_CASE("escapes are resolved, NUL among them") {
  CHECK(MustParse(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00")") ==
        Value("\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  CHECK(MustParse(R"("a\u0000b")").AsString() == absl::string_view("a\0b", 3));
}

TEST_CASE("halves of surrogate pairs that stand alone become the replacement character") {
  CHECK(MustParse(R"("\ud83d")") == Value("\xef\xbf\xbd"));
  CHECK(MustParse(R"("\uDE00x")") == Value("\xef\xbf\xbdx"));
  CHECK(MustParse(R"("\ud40d\ude00")") == Value("\xed\x90\x8d\xef\xbf\xbd"));
  CHECK(MustParse(R"("\ud83d\ud83d\ude00")") == Value("\xef\xbf\xbd\xf0\x9f\x98\x80"));
  CHECK(MustParse(R"("é\ude00")") == Value("\xc3\xa9\xef\xbf\xbd"));
  CHECK(MustParse(R"("\\ud83d")") == Value("\\ud83d"));
  CHECK_FALSE(json::Parse(R"("\ud83")").ok());
  CHECK_FALSE(json::Parse(R"(\ud83d)").ok());
}

TEST_CASE("what is not JSON is refused with the place") {
  struct Case {
    std::string text;
    int offset;
  };
  const std::vector<Case> cases = {
      {"", 0},
      {"  ", 2},
      {"{", 1},
      {"[1,]", 3},
      {"{\"a\":1,}", 7},
      {"{a:1}", 1},
      {"{'a':1}", 1},
      {"[1 2]", 3},
      {"nul", 3},
      {"01", 1},
      {"+1", 0},
      {"1.", 2},
      {"NaN", 0},
      {"\"open", 5},
      {"\"tab\there\"", 4},
      {"\"\\x\"", 1},
      {"{} {}", 3},
      {"// comment\n1", 0},
      {std::string("[1]\0", 4), 3},
      {std::string("[\0]", 3), 1},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto value = Parse(c.text);
    REQUIRE(value.status().code() == absl::StatusCode::kInvalidArgument);
    INFO(value.status().message());
    CHECK(absl::StartsWith(value.status().message(),
                           absl::StrCat("invalid JSON at byte ", c.offset, ": ")));
  }
}

TEST_CASE("a control character in a string is refused, wherever it stands") {
  for (int control = 0; control < 0x20; ++control) {
    for (size_t before : {0, 5, 16, 40}) {
      const std::string text =
          absl::StrCat("[\"", std::string(before, 'x'), std::string(1, static_cast<char>(control)),
                       std::string(40, 'y'), "\"]");
      CAPTURE(control, before);
      CHECK_FALSE(Parse(text).ok());
    }
  }
}

TEST_CASE("text that is not UTF-8 is refused") {
  for (const absl::string_view broken :
       {"\"\xff\"", "\"\xc3\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "{\"\x80\":1}"}) {
    INFO(broken);
    CHECK(Parse(broken).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("numbers that no double holds are refused") {
  for (const char* huge : {"1e309", "-1e309", "1e99999999999"}) {
    INFO(huge);
    CHECK(Parse(huge).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("nesting is limited, so that a hostile document cannot exhaust the stack") {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(Parse(nested(512)).ok());
  const auto refused = Parse(nested(513));
  REQUIRE_FALSE(refused.ok());
  CHECK(absl::StrContains(refused.status().message(), "nested deeper than 512"));
  CHECK_FALSE(Parse(std::string(1'000'000, '[')).ok());
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK_FALSE(Parse(objects).ok());
  CHECK(Parse(nested(3), {.max_depth = 3}).ok());
  CHECK_FALSE(Parse(nested(4), {.max_depth = 3}).ok());
  // Depth counts containers that are open, not all of the document.
  std::string wide = "[";
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&wide, i == 0 ? "" : ",", "[{}]");
  CHECK(Parse(wide + "]").ok());
}

TEST_CASE("the deepest document can be copied, compared, written and destroyed") {
  std::string text;
  for (int i = 0; i < 512; ++i) text += i % 2 == 0 ? "{\"a\":" : "[";
  text += "1";
  for (int i = 511; i >= 0; --i) text += i % 2 == 0 ? "}" : "]";
  const Value one = MustParse(text);
  const Value two = MustParse(text);
  CHECK(one == two);
  CHECK(json::Write(one) == text);
}

TEST_CASE("equal parts of documents share their memory, and a change of one leaves the other") {
  const std::string text =
      R"({"b":{"image":"registry.example.com/team/app:1","ports":[80,{"name":"http"}]},"a":1})";
  const Value one = *Parse(text);
  Value two = *Parse(R"({"other":[)" + text + "]}");
  const Value& part = two["other"].At(0);
  CHECK(one["b"].SharesWith(part["b"]));
  CHECK(one == part);

  two.Mutable("other").MutableAt(0).Set({"b", "image"}, "another");
  two.Mutable("other").MutableAt(0).Mutable({"b", "ports"}).MutableAt(1).Set("name", "https");
  CHECK(one == *Parse(text));
  CHECK(two.Get({"other"}).At(0).Get({"b", "ports"}).At(1)["name"].AsString() == "https");
}

TEST_CASE(
    "parts with empty objects share their memory, and a change leaves other empty ones alone") {
  const std::string text = R"({"f":{"f:data":{".":{},"f:key":{}}}})";
  const Value one = *Parse(text);
  Value two = *Parse(text);
  CHECK(one["f"].SharesWith(two["f"]));
  two.Mutable({"f", "f:data", "f:key"}).Set("more", 1);
  CHECK(one == *Parse(text));
  CHECK(*Parse(R"({"a":{}})") == Value::Object({{"a", Value::Object()}}));
}

TEST_CASE("what is alike but not equal is kept apart") {
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {R"([{"a":1}])", R"([{"a":1.0}])"},
           {R"([{"a":1}])", R"([{"b":1}])"},
           {R"([["1"]])", R"([[1]])"},
           {R"([{"a":null}])", R"([{"a":false}])"},
           {R"([["0123456789abcdef-1-0123456789abcdef"]])",
            R"([["0123456789abcdef-2-0123456789abcdef"]])"},
           {R"([{"0123456789abcdef-1-0123456789abcdef":1}])",
            R"([{"0123456789abcdef-2-0123456789abcdef":1}])"}}) {
    CAPTURE(a, b);
    CHECK(Write(*Parse(a)) == Write(*Parse(a)));
    CHECK_FALSE(Parse(a)->At(0).SharesWith(Parse(b)->At(0)));
  }
}

TEST_CASE("a document read twice is read twice the same, names of any length included") {
  std::string text = "{";
  for (int i = 0; i < 3000; ++i) {  // More names than the parser remembers.
    absl::StrAppend(&text, i == 0 ? "" : ",", "\"", std::string(static_cast<size_t>(i % 40), 'n'),
                    i, "\":", i);
  }
  text += "}";
  const Value one = MustParse(text);
  CHECK(one.size() == 3000);
  CHECK(MustParse(text) == one);
  CHECK(MustParse(json::Write(one)) == one);
}

}  // namespace
