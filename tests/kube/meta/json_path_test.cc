#include "kube/meta/json_path.h"

#include <catch2/catch.hpp>

namespace {

using kube::JsonPath;

const json::Value& Sample() {
  static const json::Value value = json::Parse(R"({"spec":{"a.b":"dotted","list":[{"n":1},{"n":2},
      {"n":3}],"big":12345678,"none":null,"on":true,"half":0.5},
      "status":{"conditions":[{"type":"Ready","status":"True"},
                              {"type":"Other","status":"False","n":7}]}})")
                                       .value();
  return value;
}

std::string Printed(absl::string_view text,
                    JsonPath::MissingKeys missing = JsonPath::MissingKeys::kError) {
  const absl::StatusOr<JsonPath> path = JsonPath::Parse(text);
  if (!path.ok()) return absl::StrCat("bad: ", path.status().message());
  const absl::StatusOr<std::string> printed = path->Print(Sample(), missing);
  return printed.ok() ? *printed : absl::StrCat("error: ", printed.status().message());
}

}  // namespace

TEST_CASE("a JSONPath template prints what its expressions find") {
  struct Case {
    const char* path;
    const char* printed;
  };
  const Case cases[] = {
      {"", ""},
      {".spec.big", ".spec.big"},  // Without braces it is nothing but text.
      {"{.spec.big}", "12345678"},
      {"{ .spec.big }", "12345678"},
      {"{$.spec.on}-{@.spec.half}", "true-0.5"},
      {"{.spec.none}", "null"},
      {"{.spec.list[0].n}", "1"},
      {"{.spec.list[-1].n}", "3"},
      {"{.spec.list[*].n}", "1 2 3"},
      {"{.spec.list[0:2].n}", "1 2"},
      {"{.spec.list[:2].n}", "1 2"},
      {"{.spec.list[1:].n}", "2 3"},
      {"{.spec.list[::2].n}", "1 3"},
      {"{.spec.list[0,2].n}", "1 3"},
      {"{.spec.list[1:1].n}", ""},
      {"{.spec.list[0]}", R"({"n":1})"},
      {R"({.spec.a\.b})", "dotted"},
      {R"({.spec['a\.b']})", "dotted"},
      {"{['spec']['on']}", "true"},
      {R"({.status.conditions[?(@.type=="Ready")].status})", "True"},
      {"{.status.conditions[?(@.type=='Other')].status}", "False"},
      {"{.status.conditions[?(@.type!='Ready')].type}", "Other"},
      {"{.status.conditions[?(@.type==')')].type}", ""},
      {"{.status.conditions[?(@.n)].type}", "Other"},
      {"{.spec.list[?(@.n>=2)].n}", "2 3"},
      {"{.spec.list[?(@.n<2)].n}", "1"},
      {"{.spec.list[?(@.n=='1')].n}", ""},
      {"{..n}", "1 2 3 7"},
      {"{.status.conditions[0].*}", "True Ready"},
      {R"({"quoted \"text\""}{' '}{12}{true})", "quoted \"text\" 12true"},
      {"{}", ""},
  };
  for (const Case& c : cases) {
    INFO(c.path);
    const std::string printed = Printed(c.path);
    CHECK(printed == (absl::string_view(c.path) == "{}" ? json::Write(Sample()) : c.printed));
  }
}

TEST_CASE("a JSONPath that ends too early is an error") {
  using std::string_literals::operator""s;
  for (const std::string& text :
       {"{.a\\"s, "{\"a\\"s, "{.a['x\\']}"s, "{.a[?(@.b\\)]}"s, "{[?(\0"s}) {
    INFO(text);
    CHECK_FALSE(kube::JsonPath::Parse(text).ok());
  }
}

TEST_CASE("what a JSONPath finds and prints is bounded") {
  std::string many = "{['a'";
  for (int i = 0; i < 15000; ++i) many += ",'a'";
  const json::Value root = json::Value::Object({{"a", std::string(10000, 'x')}});
  const auto path = kube::JsonPath::Parse(many + "]}");
  REQUIRE(path.ok());
  CHECK_FALSE(path->Find(root).ok());
  std::string long_text;
  for (int i = 0; i < 200; ++i) long_text += "{.a}";
  CHECK_FALSE(kube::JsonPath::Parse(long_text)->Print(root).ok());
}

TEST_CASE("how much a JSONPath looks at is bounded") {
  const auto refused = [](const std::string& text, const json::Value& root) {
    const auto path = JsonPath::Parse(text);
    REQUIRE(path.ok());
    CHECK(path->Print(root).status().message() ==
          "looking for values takes more than 1000000 steps");
    CHECK(path->Find(root).status().code() == absl::StatusCode::kInvalidArgument);
  };
  std::string numbers;
  for (int i = 0; i < 30000; ++i) numbers += "1 ";
  json::Value items = json::Value::Array();
  for (int i = 0; i < 10000; ++i) items.Append(i);
  const json::Value root = json::Value::Object({{"items", items}});
  refused("{.items[?(@ " + numbers + ")]}", root);
  refused("{.items[?(1==@ " + numbers + ")]}", root);
  // Two large values are equal, and compared again and again.
  json::Value pair = json::Value::Object({{"a", items}, {"b", json::Value::Array()}});
  for (int i = 0; i < 10000; ++i) pair.Mutable("b").Append(i);
  std::string many = "{['pairs'";
  for (int i = 0; i < 200; ++i) many += ",'pairs'";
  refused(many + "][?(@.a==@.b)]}",
          json::Value::Object({{"pairs", json::Value::Array({std::move(pair)})}}));
  CHECK(Printed(std::string(JsonPath::kMaxLength + 1, ' ')) ==
        "bad: a JSONPath of 65537 bytes is too long: at most 65536 are read");
}

TEST_CASE("several JSONPaths can have one budget") {
  json::Value items = json::Value::Array();
  for (int i = 0; i < 1000; ++i) items.Append(i);
  const auto path = JsonPath::Parse("{[?(@==1)]}");
  REQUIRE(path.ok());
  JsonPath::Budget budget;
  int printed = 0;
  while (printed < 10000 && path->Print(items, budget).ok()) ++printed;
  CHECK(printed > 50);
  CHECK(printed < 1000);
  CHECK(path->Print(items).ok());
}

TEST_CASE("a JSONPath that finds nothing is an error where members may not be missing") {
  CHECK(Printed("{.spec.gone}") == "error: gone is not found");
  CHECK(Printed("{.spec.gone.deeper}") == "error: gone is not found");
  CHECK(Printed("{.spec.on.deeper}") == "error: deeper is not found");
  CHECK(Printed("{.spec.list[?(@.gone==1)]}") == "error: gone is not found");
  CHECK(Printed("{.spec.list[3]}") == "error: array index out of bounds: index 3, length 3");
  CHECK(Printed("{.spec.list[-4]}") == "error: array index out of bounds: index -1, length 3");
  CHECK(Printed("{.spec.on[0]}") == "error: a subscript of what is no array");
  CHECK(Printed("{.spec[?(@.a)]}") == "error: a filter of what is no array");
  CHECK(Printed("{.spec.gone.deeper}", JsonPath::MissingKeys::kSkip).empty());
  const std::string twice = "{..*..*..*..*..*..*..*..*..*..*..*..*..*..*..*..*..*..*..*..*}";
  CHECK(Printed(twice, JsonPath::MissingKeys::kSkip).size() < 1000);
}

TEST_CASE("a text that is no JSONPath template is refused with its reason") {
  struct Case {
    const char* path;
    const char* why;
  };
  const Case cases[] = {
      {"{.a", "unclosed action"},
      {"{.a[0", "unterminated array"},
      {"{.a[b]}", "invalid array index b"},
      {"{.a[1:2:3:4]}", "invalid array index 1:2:3:4"},
      {"{.a[?(@.b==1}", "unterminated filter"},
      {"{.a[?(@.b==1)}", "unclosed array, expected ]"},
      {"{.a[?(@.b=~1)]}", "unrecognized filter operator ="},
      {"{.a[?(@.b=1)]}", "unrecognized filter operator ="},
      {"{.a[?(x)]}", "unrecognized x"},
      {"{'a}", "unterminated quoted string"},
      {"{a.b}", "unrecognized a"},
      {"{....a}", "invalid multiple recursive descent"},
      {"{range .a[*]}{.b}{end}", "range and end are not supported"},
      {"{]}", "unrecognized ]"},
      {"{.a[?(})]}", "unexpected }"},
  };
  for (const Case& c : cases) {
    INFO(c.path);
    CHECK(Printed(c.path) == absl::StrCat("bad: JSONPath \"", c.path, "\": ", c.why));
  }
}
