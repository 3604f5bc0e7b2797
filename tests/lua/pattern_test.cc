// Lua patterns: examples, and a comparison with LuaJIT's own matcher.
#include "lua/internal/pattern.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/lua/lua_fixture.h"
#include "tests/lua/native_pattern.h"

namespace lua {
namespace {

class Unbounded : public Steps {
 public:
  bool Made(size_t count) override {
    made += count;
    return made < most;
  }
  size_t made = 0;
  size_t most = SIZE_MAX;
};

// Returns "begin-end" of the first match with its captures, or the error.
std::string FirstMatch(absl::string_view subject, absl::string_view pattern) {
  Unbounded steps;
  PatternMatcher matcher(subject, pattern, steps);
  switch (matcher.Search(0)) {
    case PatternMatcher::Result::kMalformed:
      return matcher.error();
    case PatternMatcher::Result::kMatch:
      break;
    default:
      return "none";
  }
  std::string text = absl::StrCat(matcher.begin(), "-", matcher.end());
  for (int i = 0; i < matcher.capture_count(); ++i) {
    const PatternMatcher::Capture capture = matcher.capture(i);
    if (capture.is_position) {
      absl::StrAppend(&text, " @", matcher.position(i));
    } else {
      absl::StrAppend(&text, " ", capture.text);
    }
  }
  return text;
}

TEST_CASE("patterns match as in the manual") {
  CHECK(FirstMatch("hello world", "o w") == "4-7");
  CHECK(FirstMatch("key = value", "(%w+)%s*=%s*(%w+)") == "0-11 key value");
  CHECK(FirstMatch("f(a(b)c)d", "%b()") == "1-8");
  CHECK(FirstMatch("THE (quick) fox", "%f[%a]%a+%f[%A]") == "0-3");
  CHECK(FirstMatch("x", "()x()") == "0-1 @1 @2");
  CHECK(FirstMatch("aXb", "%u") == "1-2");
  CHECK(FirstMatch("[[]", "[]]") == "2-3");
  CHECK(FirstMatch("a-z", "[a%-]+") == "0-2");
  CHECK(FirstMatch("^x", "[^^]") == "1-2");
  CHECK(FirstMatch("abcabc", "(abc)%1") == "0-6 abc");
  CHECK(FirstMatch("", "a*") == "0-0");
  CHECK(FirstMatch("aaa", "a-$") == "0-3");
  CHECK(FirstMatch("abc", "z") == "none");
}

TEST_CASE("malformed patterns are reported in Lua's words") {
  CHECK(FirstMatch("a", "%") == "malformed pattern (ends with '%')");
  CHECK(FirstMatch("a", "[a") == "malformed pattern (missing ']')");
  CHECK(FirstMatch("a", "%1") == "invalid capture index");
  CHECK(FirstMatch("a", ")") == "invalid pattern capture");
  CHECK(FirstMatch("a", "%b") == "unbalanced pattern");
  CHECK(FirstMatch("a", "%fa") == "missing '[' after '%f' in pattern");
}

TEST_CASE("who counts the steps can end a search") {
  Unbounded steps;
  steps.most = 100000;
  const std::string subject(100000, 'a');
  PatternMatcher matcher(subject, ".-b", steps);
  CHECK(matcher.Search(0) == PatternMatcher::Result::kStopped);
  CHECK(steps.made <= 200000);
}

// Uses small alphabets, so that patterns often match.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 2654435761 + 1) {}
  size_t Roll(size_t sides) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<size_t>(state_ >> 33) % sides;
  }
  template <size_t n>
  const char* Pick(const char* const (&choices)[n]) {
    return choices[Roll(n)];
  }

 private:
  uint64_t state_;
};

std::string RandomPattern(Dice& dice) {
  static const char* const kItems[] = {
      "a",  "b",  ".",    "%a",   "%d",   "%s",    "%w",   "%p",  "%l",   "%u",     "%x", "%c",
      "%g", "%z", "[ab]", "[^a]", "[%w_", "[%d-]", "[a-c", "]",   "[",    "%",      "%A", "%S",
      "(",  ")",  "()",   "%1",   "%2",   "%b()",  "%bab", "%f",  "%f[a", "%f[%w]", "^",  "$",
      "%.", "%%", "-",    "1",    " ",    "[]]",   "[^]]", "[a-", "x",    "B"};
  static const char* const kRepeats[] = {"", "", "", "*", "+", "-", "?"};
  std::string pattern = dice.Roll(8) == 0 ? "^" : "";
  for (size_t i = dice.Roll(6) + 1; i > 0; --i) {
    absl::StrAppend(&pattern, dice.Pick(kItems), dice.Pick(kRepeats));
  }
  return pattern;
}

std::string RandomSubject(Dice& dice) {
  static const char* const kPieces[] = {"a", "b", "ab", "(", ")", " ", "1", "_",
                                        "B", "]", "-",  "%", ".", "x", "aa"};
  std::string subject;
  for (size_t i = dice.Roll(12); i > 0; --i) subject += dice.Pick(kPieces);
  if (dice.Roll(10) == 0) subject += '\0';
  return subject;
}

TEST_CASE("find, match, gmatch and gsub answer as LuaJIT's do") {
  const NativePattern native;
  const ScriptRunner runner(Patient());
  const auto script = MustCompile(NativePattern::kScript);
  Dice dice(20261121);
  for (int i = 0; i < 1500; ++i) {
    const json::Value arguments = json::Value::Array(
        {RandomSubject(dice), RandomPattern(dice), static_cast<int64_t>(dice.Roll(5)) - 2});
    CAPTURE(json::Write(arguments));
    const absl::StatusOr<Outcome> ours = runner.Run(*script, {"All", {arguments}});
    REQUIRE(ours.ok());
    REQUIRE(ours->results[0].json.ToString() == native.Run(arguments));
  }
}

}  // namespace
}  // namespace lua
