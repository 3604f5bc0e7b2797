#include "base/yaml.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tests/support/cost_growth.h"

namespace {

using json::Value;

Value MustParse(absl::string_view text) {
  INFO(text);
  auto value = yaml::Parse(text);
  INFO(value.status().ToString());
  REQUIRE(value.ok());
  return *value;
}

// Returns the value of an unquoted scalar with this text.
Value Scalar(absl::string_view text) { return MustParse(absl::StrCat("v: ", text))["v"]; }

// The expected values come from sigs.k8s.io/yaml.
TEST_CASE("unquoted scalars have the types that Kubernetes gives them") {
  const std::vector<std::pair<std::string, Value>> cases = {
      {"", Value()},
      {"~", Value()},
      {"null", Value()},
      {"Null", Value()},
      {"NULL", Value()},
      {"nUll", "nUll"},
      {"true", true},
      {"True", true},
      {"on", true},
      {"On", true},
      {"yes", true},
      {"y", true},
      {"off", false},
      {"no", false},
      {"N", false},
      {"tRue", "tRue"},
      {"0", 0},
      {"-12", -12},
      {"+12", 12},
      {"1_000", 1000},
      {"012", 10},
      {"0o7", 7},
      {"0x1F", 31},
      {"0b101", 5},
      {"-0x10", -16},
      {"09", 9},
      {"1e3", 1000},
      {"1.0", 1},
      {"1.5", 1.5},
      {".5", 0.5},
      {"1.", 1},
      {"-1.5e-3", -0.0015},
      {"9007199254740993", int64_t{9007199254740993}},
      {"18446744073709551615", 18446744073709551615.0},
      {"0x", "0x"},
      {"1e", "1e"},
      {"1.2.3", "1.2.3"},
      {"_1", "_1"},
      {"1e400", "1e400"},
      {"1:30", "1:30"},
      {"2024-01-01", "2024-01-01"},
      {"250m", "250m"},
      {"1Gi", "1Gi"},
      {"v1", "v1"},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    const Value found = Scalar(text);
    CHECK(found == expected);
    CHECK(found.type() == expected.type());
  }
}

TEST_CASE("quoted scalars are strings whatever they look like") {
  for (const char* text : {"true", "null", "12", "1e3", "~", "", "012", "2024-01-01"}) {
    CHECK(Scalar(absl::StrCat("\"", text, "\"")) == Value(text));
    CHECK(Scalar(absl::StrCat("'", text, "'")) == Value(text));
    CHECK(Scalar(absl::StrCat("!!str ", text)).ToString("not a string") == text);
  }
  CHECK(Scalar("'it''s'") == Value("it's"));
  CHECK(Scalar(R"("a\tb\u00e9\x41\n")") == Value("a\tb\xc3\xa9\x41\n"));
}

TEST_CASE("numbers that JSON cannot hold are refused with their place") {
  for (const char* text : {".inf", "-.Inf", ".NaN"}) {
    const auto value = yaml::Parse(absl::StrCat("a: 1\nv: ", text));
    REQUIRE(value.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(absl::StrContains(value.status().message(), "line 2, column 4"));
  }
}

TEST_CASE("a tag is held against its text") {
  CHECK(Scalar("!!int 5") == Value(5));
  CHECK(Scalar("!!binary aGVsbG8=") == Value("hello"));
  CHECK(Scalar("!mine 5") == Value("5"));
  CHECK_FALSE(yaml::Parse("v: !!int abc").ok());
  CHECK_FALSE(yaml::Parse("v: !!binary '***'").ok());
}

TEST_CASE("block and flow styles mean the same") {
  const Value expected = Value::Object(
      {{"list", Value::Array({1, Value::Object({{"a", "b"}, {"c", Value()}}), Value::Array({2})})},
       {"map", Value::Object()}});
  CHECK(MustParse("list:\n- 1\n- a: b\n  c:\n- - 2\nmap: {}\n") == expected);
  CHECK(MustParse("{list: [1, {a: b, c: }, [2]], map: {}}") == expected);
  CHECK(
      MustParse(
          "# comment\nlist:\n  - 1   # one\n  - {a: 'b', \"c\": ~}\n  -\n    - 2\nmap:\n  {}\n") ==
      expected);
}

TEST_CASE("keys that are numbers or booleans become their text") {
  CHECK(MustParse("1: a\ntrue: b\n1.5: c\n'x': d\n") ==
        Value::Object({{"1", "a"}, {"true", "b"}, {"1.5", "c"}, {"x", "d"}}));
  CHECK_FALSE(yaml::Parse("{a: 1}: b").ok());
  CHECK_FALSE(yaml::Parse("? [a]\n: b").ok());
  CHECK_FALSE(yaml::Parse("~: b").ok());
}

TEST_CASE("of a repeated key the last value stays") {
  CHECK(MustParse("a: 1\nb: 2\na: 3\n") == Value::Object({{"a", 3}, {"b", 2}}));
}

TEST_CASE("block scalars keep or fold their line ends") {
  CHECK(Scalar("|\n  one\n  two\n") == Value("one\ntwo\n"));
  CHECK(Scalar("|-\n  one\n  two\n") == Value("one\ntwo"));
  CHECK(Scalar("|+\n  one\n\n") == Value("one\n\n"));
  CHECK(Scalar(">\n  one\n  two\n\n  three\n") == Value("one two\nthree\n"));
  CHECK(Scalar("|2\n    indented\n") == Value("  indented\n"));
  CHECK(Scalar("|\n  true\n") == Value("true\n"));
  CHECK(Scalar("one\n  two") == Value("one two"));
}

TEST_CASE("anchors and merge keys are expanded") {
  CHECK(MustParse("a: &x {k: 1, l: 2}\nb: *x\n")["b"] == Value::Object({{"k", 1}, {"l", 2}}));
  const Value merged = MustParse(
      "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\n"
      "one:\n  <<: *base\n  b: 9\nmany:\n  <<: [*base, *more]\n");
  CHECK(merged["one"] == Value::Object({{"a", 1}, {"b", 9}}));
  CHECK(merged["many"] == Value::Object({{"a", 1}, {"b", 2}, {"c", 4}}));
  CHECK(MustParse("'<<': 1") == Value::Object({{"<<", 1}}));
  CHECK_FALSE(yaml::Parse("<<: 1").ok());
  CHECK_FALSE(yaml::Parse("a: *unknown").ok());
  CHECK_FALSE(yaml::Parse("a: &a [*a]").ok());
}

TEST_CASE("aliases of aliases cannot stand for an endless text") {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [");
    for (int j = 0; j < 10; ++j) absl::StrAppend(&bomb, j == 0 ? "" : ",", "*a", i - 1);
    bomb += "]\n";
  }
  const auto value = yaml::Parse(bomb);
  REQUIRE(value.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(absl::StrContains(value.status().message(), "aliases stand for too much text"));
}

TEST_CASE("nesting is limited in every style") {
  CHECK(yaml::Parse(std::string(100, '[') + std::string(100, ']')).ok());
  CHECK_FALSE(yaml::Parse(std::string(100'000, '[')).ok());
  CHECK_FALSE(yaml::Parse("x: " + std::string(10'000, '{')).ok());
  std::string dashes;
  for (int i = 0; i < 5000; ++i) dashes += "- ";
  CHECK_FALSE(yaml::Parse(dashes + "x").ok());
}

// Returns values that each stay below the limit of nesting; each contains the previous one at its
// deepest level.
std::string ChainOfAliases(int links, int levels) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i <= links; ++i) {
    absl::StrAppend(&text, "a", i, ": &a", i, " ", std::string(levels, '['), "*a", i - 1,
                    std::string(levels, ']'), "\n");
  }
  return text;
}

TEST_CASE("aliases cannot nest values deeper than brackets may") {
  CHECK(yaml::Parse(ChainOfAliases(3, 100)).ok());
  const auto value = yaml::Parse(ChainOfAliases(90, 390));
  REQUIRE(value.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(absl::StrContains(value.status().message(), "line 3, column 399: nested deeper than 400"));
  std::string merged = "a0: &a0 {k: {}}\n";
  for (int i = 1; i < 500; ++i) {
    absl::StrAppend(&merged, "a", i, ": &a", i, " {<<: {k: *a", i - 1, "}}\n");
  }
  CHECK(absl::StrContains(yaml::Parse(merged).status().message(), "nested deeper than 400"));
}

TEST_CASE("a stream gives its documents in order, without the empty ones") {
  const auto all = yaml::ParseAll("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n---\n- 3\n");
  REQUIRE(all.ok());
  CHECK(*all == std::vector<Value>{Value::Object({{"a", 1}}), Value::Object({{"b", 2}}),
                                   Value::Array({3})});
  CHECK(yaml::ParseAll("a: 1\n...\n# and\n\nb: 2\n")->size() == 2);
  CHECK(yaml::ParseAll("%YAML 1.2\n---\na: 1\n--- {b: 2}\n---\r\nc: 3\r\n")->size() == 3);
  CHECK(yaml::ParseAll("\xef\xbb\xbf"
                       "a: 1\n---\nb: 2\n")
            ->size() == 2);
  CHECK(yaml::ParseAll("")->empty());
  CHECK(yaml::ParseAll("# only this\n")->empty());
}

// Guards against looking at all lines of the text for each document.
TEST_CASE("a stream of many documents is read in linear time") {
  const auto read = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) absl::StrAppend(&text, "---\na: ", i, "\n# end\n...\n");
    const auto all = yaml::ParseAll(text);
    REQUIRE(all.ok());
    REQUIRE(all->size() == static_cast<size_t>(n));
  };
  CHECK(tests::CostOfFourfold(2000, read) < tests::kBarelyLinear);
}

TEST_CASE("one document is asked for and another number is reported") {
  CHECK(yaml::Parse("").status().message() == "expected one YAML document, found 0");
  CHECK(yaml::Parse("a: 1\n---\nb: 2\n").status().message() ==
        "expected one YAML document, found 2");
}

TEST_CASE("JSON is YAML too, with JSON's numbers and escapes") {
  const Value v = MustParse(R"({"a": [1, 2.5, "\u00e9\/"], "b": {"c": null}})");
  CHECK(v == Value::Object({{"a", Value::Array({1, 2.5, "\xc3\xa9/"})},
                            {"b", Value::Object({{"c", Value()}})}}));
  CHECK(yaml::ParseAll("{\"a\": 1}\n---\n{\"b\": 2}\n")->size() == 2);
}

TEST_CASE("errors name line and column") {
  const auto open = yaml::Parse("a: 1\nb: [1, 2\nc: 3\n");
  REQUIRE(open.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(absl::StartsWith(open.status().message(), "invalid YAML at line "));
  for (const char* broken : {"a: b: c", "a:\n\t- x", "\"open", "a: 'open", "- a\nb: c", "{a: 1]",
                             "{a: 1} b: 2", "[1]\nx", "{a: 1}}"}) {
    INFO(broken);
    const auto value = yaml::Parse(broken);
    REQUIRE(value.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(absl::StrContains(value.status().message(), "line "));
  }
}

TEST_CASE("an error reports its place to programs, too") {
  const auto status = yaml::Parse("a: 1\nb: c: d\n").status();
  const auto place = yaml::ErrorPosition(base::Annotate(status, "file.yaml"));
  REQUIRE(place.has_value());
  CHECK(place->line == 2);
  CHECK(place->column == 5);
  CHECK_FALSE(yaml::ErrorPosition(absl::InvalidArgumentError("at line 1, column 2")).has_value());
}

TEST_CASE("text that yaml-cpp takes for empty documents without end is refused") {
  const absl::string_view text = "\n\nL\n...\n\n,[(:, *a]\n\n-\nl\n\nu\ns";
  const auto parsed = yaml::ParseAll(text);
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.status().message() ==
        "invalid YAML at line 6, column 1: this belongs to no document");
}

}  // namespace
