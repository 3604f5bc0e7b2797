// JSON text that is patched means what the same patch makes of the parsed document.
#include "overrides/internal/json_text.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/meta/patch.h"

namespace {

using json::Value;

absl::StatusOr<std::string> PatchText(absl::string_view text, const Value& operations) {
  kube::PatchBudget budget;
  return overrides::PatchJsonText(text, operations, budget);
}

Value ParseJson(absl::string_view text) {
  absl::StatusOr<Value> value = json::Parse(text);
  INFO(text << value.status());
  REQUIRE(value.ok());
  return *std::move(value);
}

// Makes documents and operations at random, the same ones in every run.
class Random {
 public:
  std::string Document(int depth = 0) { return Flip() ? Object(depth) : Array(depth); }
  Value Operations() {
    Value operations = Value::Array();
    for (int i = Below(4); i >= 0; --i) {
      const char* op = Pick({"add", "add", "remove", "replace"});
      operations.Append(
          Value::Object({{"op", op}, {"path", Path()}, {"value", ParseJson(OneOf(2))}}));
    }
    return operations;
  }

 private:
  int Below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  bool Flip() { return Below(2) == 0; }
  const char* Pick(const std::vector<const char*>& from) {
    return from[static_cast<size_t>(Below(static_cast<int>(from.size())))];
  }
  std::string Space() { return Pick({"", "", " ", "\n\t ", "\r\n"}); }
  std::string Name() { return Pick({"a", "b", "c~d", "e/f", "", "0", "\\u0041", "q\\\"}"}); }
  std::string Scalar() {
    return Pick({"1", "-2.5", "1e3", "true", "null", "\"\"", "\"x,]}[{:\"", "\"\\\\\\\"\"",
                 "\"<&>\"", "\"\\u2028\xe2\x80\xa9\""});
  }
  std::string OneOf(int depth) { return depth > 3 || Flip() ? Scalar() : Document(depth + 1); }
  std::string Array(int depth) {
    std::string text = "[" + Space();
    const int n = Below(4);
    for (int i = 0; i < n; ++i) {
      absl::StrAppend(&text, i > 0 ? "," : "", Space(), OneOf(depth), Space());
    }
    return text + "]";
  }
  std::string Object(int depth) {
    std::string text = "{" + Space();
    const int n = Below(4);
    for (int i = 0; i < n; ++i) {
      absl::StrAppend(&text, i > 0 ? "," : "", Space(), "\"", Name(), "\"", Space(), ":");
      absl::StrAppend(&text, Space(), OneOf(depth), Space());
    }
    return text + "}";
  }
  std::string Path() {
    std::string path;
    for (int i = Below(4); i > 0; --i) {
      absl::StrAppend(&path, "/", Pick({"a", "b", "c~0d", "e~1f", "", "0", "1", "-1", "-", "A"}));
    }
    return path;
  }

  std::mt19937 engine_{7};  // NOLINT: the same in every run.
};

TEST_CASE("patched JSON text means what the patch makes of the document") {
  Random random;
  int applied = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random.Document();
    const Value operations = random.Operations();
    const auto wanted = kube::ApplyJsonPatch(ParseJson(text), operations);
    const auto got = PatchText(text, operations);
    if (wanted.ok() == got.ok() && (!got.ok() || ParseJson(*got) == *wanted)) {
      applied += got.ok();
      continue;
    }
    INFO(text << "\n" << json::Write(operations) << "\n" << wanted.status() << got.status());
    INFO((got.ok() ? *got : "") << "\n" << (wanted.ok() ? json::Write(*wanted) : ""));
    FAIL();
  }
  CHECK(applied > 500);
}

TEST_CASE("a member of a large document is patched in a time that grows with its size") {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&text, "\"k", i, "\": ", i, ", ");
  text += "\"last\": [1]}";
  const auto patched = PatchText(text, ParseJson(R"([{"op": "replace", "path": "/k5", "value": "x"},
                          {"op": "add", "path": "/last/-", "value": 2}])"));
  REQUIRE(patched.ok());
  CHECK(ParseJson(*patched)["k5"].AsString() == "x");
  CHECK(ParseJson(*patched)["last"].size() == 2);
}

TEST_CASE("a document that is nested deeply is patched or refused") {
  const Value operations = ParseJson(R"([{"op": "add", "path": "/0/0/-", "value": 1}])");
  for (const size_t depth : {3u, 500u, 511u, 512u, 513u, 100000u}) {
    const auto patched =
        PatchText(absl::StrCat(std::string(depth, '['), std::string(depth, ']')), operations);
    CHECK(patched.ok() == (depth <= 512));
  }
}

}  // namespace
