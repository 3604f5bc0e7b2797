#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "base/json.h"

namespace {

using json::Value;
using json::Write;

TEST_CASE("compact text has sorted names and no spaces") {
  const Value v = Value::Object({{"b", Value::Array({1, Value(), true})},
                                 {"a", Value::Object({{"x", "y"}})},
                                 {"c", Value::Array()}});
  CHECK(Write(v) == R"({"a":{"x":"y"},"b":[1,null,true],"c":[]})");
}

TEST_CASE("indented text puts one member or item on a line, empty containers on one") {
  const Value v = Value::Object({{"a", Value::Array({1, 2})}, {"b", Value::Object()}});
  CHECK(Write(v, {.indent = 2}) == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

// The expected texts come from Go's encoding/json.
TEST_CASE("doubles are written as Go writes them") {
  const std::vector<std::pair<double, std::string>> cases = {
      {0.0, "0"},
      {-0.0, "-0"},
      {1.0, "1"},
      {100.0, "100"},
      {0.5, "0.5"},
      {-2.25, "-2.25"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {1.5e-7, "1.5e-7"},
      {1e-10, "1e-10"},
      {5e-324, "5e-324"},
      {1e20, "100000000000000000000"},
      {1e21, "1e+21"},
      {-1.25e22, "-1.25e+22"},
      {9007199254740992.0, "9007199254740992"},
      {9007199254740994.0, "9007199254740994"},
      {18446744073709551616.0, "18446744073709552000"},
      {-18446744073709551616.0, "-18446744073709552000"},
      {123456789.125, "123456789.125"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
  };
  for (const auto& [number, text] : cases) CHECK(Write(number) == text);
}

TEST_CASE("a number that JSON has no text for is written as null") {
  CHECK(Write(std::numeric_limits<double>::infinity()) == "null");
  CHECK(Write(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("integers are written with all their digits") {
  CHECK(Write(std::numeric_limits<int64_t>::min()) == "-9223372036854775808");
  CHECK(Write(int64_t{9007199254740993}) == "9007199254740993");
}

TEST_CASE("every finite double reads back as itself") {
  for (const double d : {1.0 / 3, 2e-308, 1.2345678901234567e19, 4.9e-324, 123456.789e3, 1e22}) {
    const auto back = json::Parse(Write(d));
    REQUIRE(back.ok());
    CHECK(back->AsDouble() == d);
  }
}

TEST_CASE("strings are escaped as far as JSON asks for it") {
  CHECK(Write("\"\\/\n\r\t\b\f") == R"("\"\\/\n\r\t\b\f")");
  CHECK(Write(absl::string_view("\0\x01\x1f\x7f", 4)) == "\"\\u0000\\u0001\\u001f\x7f\"");
  CHECK(Write("é€😀 <&>") == "\"é€😀 <&>\"");
}

TEST_CASE("on request, what is special in HTML is escaped as Go's encoder does by default") {
  CHECK(Write("<a>&\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa6", {.html_escape = true}) ==
        "\"\\u003ca\\u003e\\u0026\\u2028\\u2029\xe2\x80\xa6\"");
}

TEST_CASE("bytes that are not UTF-8 become the replacement character, as in Go, not broken JSON") {
  CHECK(Write("a\xff"
              "b") == R"("a\ufffdb")");
  CHECK(Write("\xc3") == R"("\ufffd")");
  CHECK(Write("\xe2\x82") == R"("\ufffd\ufffd")");
  CHECK(Write("\xc0\x80") == R"("\ufffd\ufffd")");            // Overlong NUL.
  CHECK(Write("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");  // A surrogate.
  CHECK(Write("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")");
  CHECK(Write("\xf4\x8f\xbf\xbf\xc3\xa9") == "\"\xf4\x8f\xbf\xbf\xc3\xa9\"");
  CHECK(Write("\xe2\x80", {.html_escape = true}) == R"("\ufffd\ufffd")");
}

TEST_CASE("what was written reads back as the same value") {
  const Value v =
      Value::Object({{"text", absl::string_view("\0 \" \\ \xc3\xa9 \xe2\x80\xa8", 12)},
                     {"", Value::Array({Value::Array(), Value::Object(), Value(), -1, 1.5, 1e300})},
                     {"a\nb", "x"}});
  for (const json::WriteOptions options :
       {json::WriteOptions{}, {.indent = 4}, {.html_escape = true}}) {
    const auto back = json::Parse(Write(v, options));
    REQUIRE(back.ok());
    CHECK(*back == v);
  }
}

}  // namespace
