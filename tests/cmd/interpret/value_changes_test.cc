// How two answers differ: fields, one line, a bounded diff.
#include "cmd/interpret/value_changes.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"

using Catch::Contains;
using cmd::interpret::BoundedDiff;
using cmd::interpret::ChangesBetween;
using cmd::interpret::ShortText;

namespace {

std::string Short(const std::string& before, const std::string& after) {
  return ShortText(ChangesBetween(json::Parse(before).value(), json::Parse(after).value()));
}

}  // namespace

TEST_CASE("Value changes: fields are named by their path, the first one with its values") {
  CHECK(Short("true", "false") == "true → false");
  CHECK(Short("null", "3") == "none → 3");
  CHECK(Short(R"({"a":{"b":[1,2]}})", R"({"a":{"b":[1,3]}})") == "a.b[1]: 2 → 3");
  CHECK(Short(R"({"a":[1]})", R"({"a":[1,2]})") == "a: [1] → [1,2]");
  CHECK(Short(R"({"a":1,"b":2,"c":3})", R"({"c":4})") == "a: 1 → none, and 2 more");
  CHECK(Short(R"({"a":1})", R"({"a":1})").empty());
  // They differ, although no field has two values.
  CHECK_THAT(Short("{}", R"({"a":null})"), Contains("{} → {\"a\":null}"));
}

TEST_CASE("Value changes: long values and many fields are bounded, and counted") {
  CHECK(Short(absl::StrCat("\"", std::string(1000, 'x'), "\""), "1").size() < 60);
  json::Value before = json::Value::Object(), after = json::Value::Object();
  for (int i = 0; i < 100; ++i) {
    before.Set(absl::StrCat("f", i), i);
    after.Set(absl::StrCat("f", i), i + 1);
  }
  const auto changes = ChangesBetween(before, after);
  CHECK(changes.count == 100);
  CHECK(changes.first.size() == 20);
  const std::string diff = BoundedDiff(before, after, 10);
  CHECK_THAT(diff, Contains(" ... 190 more lines\n"));
  CHECK(BoundedDiff(before, before, 10).empty());
}
