// Texts that are hard to compile.
#include "lua/script.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/lua/lua_fixture.h"

namespace lua {
namespace {

std::string Repeat(absl::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) absl::StrAppend(&all, text);
  return all;
}

// Returns `each` several times, with its % replaced by 0, 1, 2, ...
std::string Numbered(absl::string_view each, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&all, absl::StrReplaceAll(each, {{"%", absl::StrCat(i)}}));
  }
  return all;
}

TEST_CASE("texts that are hard to compile compile, or are refused, soon") {
  const std::vector<std::string> texts = {
      Numbered("local a% = %\n", 201),
      Numbered("local a% = %\n", 20000),
      Numbered("x% = %\n", 20000),
      Numbered("goto l%\n", 20000) + Numbered("::l%::\n", 20000),
      Numbered("do goto l% ::l%:: end\n", 20000),
      "x = " + Repeat("(", 100000),
      "x = " + Repeat("{", 100000),
      "x = " + Repeat("a .. ", 50000) + "a",
      "x = " + Repeat("1 + ", 50000) + "1",
      "x = " + Repeat("not ", 100000) + "1",
      "x = " + Repeat("-", 1) + Repeat(" - ", 50000) + "1",
      Repeat("if x then ", 50000) + Repeat("end ", 50000),
      Repeat("function f() ", 20000),
      "x = {" + Repeat("1, ", 100000) + "}",
      "x = {" + Numbered("k% = {}, ", 20000) + "}",
      "x = '" + std::string(900000, 'x') + "'",
      "x = " + Repeat("[[", 100000),
      "--" + std::string(900000, '-'),
      Numbered("function f%() end\n", 20000),
      std::string(1, '\0') + "x = 1",
      "x = 1" + Repeat("0", 100000),
      "x = 0x" + Repeat("f", 100000),
      "return " + Repeat("f(", 100000),
      Repeat("repeat local x ", 10000),
      Repeat("x = 1; ", 100000),
  };
  for (const std::string& text : texts) {
    CAPTURE(text.substr(0, 60));
    const auto start = std::chrono::steady_clock::now();
    const absl::StatusOr<std::shared_ptr<const Script>> script = Script::Compile("hard", text);
    // Much more than is needed; without limits some of these texts take minutes.
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
    if (!script.ok()) CHECK(absl::StartsWith(script.status().message(), "hard"));
  }
}

TEST_CASE("scripts are distinguished by name and text") {
  const auto a = MustCompile("x = 1", "a");
  CHECK(a->fingerprint() == MustCompile("x = 1", "a")->fingerprint());
  CHECK(a->fingerprint() != MustCompile("x = 1", "b")->fingerprint());
  CHECK(a->fingerprint() != MustCompile("x = 2", "a")->fingerprint());
}

TEST_CASE("more scripts than are kept compiled still run") {
  const ScriptRunner runner(Patient());
  std::vector<std::shared_ptr<const Script>> scripts;
  for (int i = 0; i < 300; ++i) {
    scripts.push_back(MustCompile(absl::StrCat("function F() return ", i, " end")));
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) {
      CHECK(runner.Run(*scripts[static_cast<size_t>(i)], {"F"})->results[0].json == json::Value(i));
    }
  }
}

}  // namespace
}  // namespace lua
