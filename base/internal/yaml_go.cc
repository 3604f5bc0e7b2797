// The rules of libyaml's emitter, of which go-yaml v2 is a port, with go-yaml's choice of a style
// (encode.go, stringv): a text of several lines wants to be a block, one that would be read as
// something else than a string wants double quotes, all others want none. What the text contains
// may forbid that style; then come single quotes, and at last double quotes, which can hold
// everything. Lines of more than 80 characters are folded at the next single blank.

#include "base/internal/yaml_go.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/civil_time.h"
#include "base/internal/yaml_scalar.h"
#include "base/regex.h"
#include "base/utf8.h"

namespace yaml::internal {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kLongestSimpleName = 128;

// Returns the first character; a byte that is not UTF-8 counts as one, so that every loop moves on.
absl::string_view FirstOf(absl::string_view text) {
  return text.substr(0, std::max<size_t>(base::Utf8Length(text), 1));
}

bool IsBreak(uint32_t code) {
  return code == '\n' || code == '\r' || code == 0x85 || code == 0x2028 || code == 0x2029;
}

bool IsPrintable(uint32_t code) {
  return code == '\n' || (code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xd7ff) ||
         (code >= 0xe000 && code <= 0xfffd && code != 0xfeff);
}

bool IsBlank(absl::string_view text) {
  return !text.empty() && (text[0] == ' ' || text[0] == '\t');
}

// Which styles a text may have.
struct Allowed {
  bool plain = true, single = true, block = true;
};

// Returns whether an unquoted text must not begin with this character.
bool IsIndicator(char first, bool followed_by_blank) {
  if (absl::StrContains("#,[]{}&*!|>'\"%@`", absl::string_view(&first, 1))) return true;
  return followed_by_blank && absl::StrContains("?:-", absl::string_view(&first, 1));
}

Allowed StylesOf(absl::string_view text) {
  Allowed allowed;
  if (text.empty()) return {.block = false};
  allowed.plain = !absl::StartsWith(text, "---") && !absl::StartsWith(text, "...");
  uint32_t before = ' ';
  for (absl::string_view rest = text; !rest.empty();) {
    const absl::string_view character = FirstOf(rest);
    rest.remove_prefix(character.size());
    const uint32_t code = base::Utf8Code(character);
    // What forbids a style depends on the neighbours: ": " and " #" end a plain text, a blank at
    // the end is lost in a block, and one beside a line break is lost wherever lines are folded.
    const bool at_begin = rest.size() + character.size() == text.size();
    const bool followed = rest.empty() || IsBlank(rest);
    const bool preceded = before == ' ' || before == '\t' || IsBreak(before);
    if (at_begin ? IsIndicator(character[0], followed)
                 : (code == ':' && followed) || (code == '#' && preceded)) {
      allowed.plain = false;
    }
    if (!IsPrintable(code)) allowed = {false, false, false};
    if (IsBreak(code)) allowed.plain = false;
    if (code == ' ' && (at_begin || rest.empty())) allowed.plain = false;
    if (code == ' ' && rest.empty()) allowed.block = false;
    if (code == ' ' && !at_begin && IsBreak(before)) allowed.plain = allowed.single = false;
    if (IsBreak(code) && !at_begin && before == ' ') allowed = {false, false, false};
    before = code;
  }
  return allowed;
}

// Returns whether the text is a day of the calendar: "2024-2-29".
bool IsDay(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '-');
  int year = 0, month = 0, day = 0;
  const bool numbers = parts.size() == 3 && absl::SimpleAtoi(parts[0], &year) &&
                       absl::SimpleAtoi(parts[1], &month) && absl::SimpleAtoi(parts[2], &day);
  const absl::CivilDay civil(year, month, day);
  return numbers && civil.month() == month && civil.day() == day;
}

// The dates and times of go-yaml: year, month and day, with a time of day or without.
bool IsTimestamp(absl::string_view text) {
  static const base::Regex& pattern = *new base::Regex(
      *base::Regex::Compile("^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
                            "([Tt ]([01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9]([.,][0-9]+)?"
                            "(Z|[-+][0-9]{2}:[0-9]{2})?)?$"));
  const size_t time = text.find_first_of("Tt ");
  if (!pattern.Finds(text) || !IsDay(text.substr(0, time))) return false;
  if (time == absl::string_view::npos) return true;
  // A time after a blank has no zone, one after a letter has.
  const bool has_zone = text.find_first_of("Z+-", time) != absl::string_view::npos;
  return has_zone == (text[time] != ' ');
}

bool IsSexagesimal(absl::string_view text) {
  static const base::Regex& pattern =
      *new base::Regex(*base::Regex::Compile("^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+([.][0-9_]*)?$"));
  return absl::StrContains(text, ":") && pattern.Finds(text);
}

// Returns whether go-yaml reads the unquoted text as a string.
bool ReadsAsString(absl::string_view text) {
  if (IsSexagesimal(text) || IsTimestamp(text)) return false;
  const auto value = ResolvePlain(text);
  return value.ok() && value->is_string();
}

// Writes characters and counts them, to fold lines.
class Line {
 public:
  Line(size_t indent, std::string& out) : indent_(indent), out_(out) {
    // The text begins in the middle of a line. Without a line break, npos + 1 is 0: the whole of
    // `out`.
    const size_t end = out.rfind('\n');
    for (absl::string_view rest = absl::string_view(out).substr(end + 1); !rest.empty();) {
      rest.remove_prefix(FirstOf(rest).size());
      ++column_;
    }
  }

  void Put(absl::string_view character) {
    out_.append(character.data(), character.size());
    ++column_;
  }
  void Escape(absl::string_view escaped) {
    out_.append(escaped.data(), escaped.size());
    column_ += escaped.size();
  }
  void Break(absl::string_view with = "\n") {
    out_.append(with.data(), with.size());
    column_ = 0;
  }
  void Indent() {
    for (; column_ < indent_; ++column_) out_ += ' ';
  }
  void Fold() {
    Break();
    Indent();
  }
  bool IsFull() const { return column_ > kWidth; }

 private:
  const size_t indent_;
  std::string& out_;
  size_t column_ = 0;
};

// Writes a text without quotes or in single ones; blanks at either end are not folded in quotes.
void AppendUnescaped(absl::string_view text, bool quotes, bool folds, Line& line) {
  bool after_space = false, after_break = false;
  for (absl::string_view rest = text; !rest.empty();) {
    const absl::string_view character = FirstOf(rest);
    const bool at_edge = rest.size() == text.size() || rest.size() == 1;
    rest.remove_prefix(character.size());
    if (character == " ") {
      // A break stands for exactly one blank, so only a single one can be folded.
      const bool fold = folds && !after_space && line.IsFull() && !absl::StartsWith(rest, " ") &&
                        !(quotes && at_edge);
      if (fold) {
        line.Fold();
      } else {
        line.Put(character);
      }
      after_space = true;
    } else if (IsBreak(base::Utf8Code(character))) {
      line.Break(character);
      after_break = true;
    } else {
      if (after_break) line.Indent();
      if (quotes && character == "'") line.Put(character);  // It is doubled, and fills two columns.
      line.Put(character);
      after_space = after_break = false;
    }
  }
}

std::string EscapeOf(uint32_t code) {
  constexpr std::array<std::pair<uint32_t, const char*>, 15> kNamed = {{{0, "\\0"},
                                                                        {7, "\\a"},
                                                                        {8, "\\b"},
                                                                        {9, "\\t"},
                                                                        {10, "\\n"},
                                                                        {11, "\\v"},
                                                                        {12, "\\f"},
                                                                        {13, "\\r"},
                                                                        {0x1b, "\\e"},
                                                                        {'"', "\\\""},
                                                                        {'\\', "\\\\"},
                                                                        {0x85, "\\N"},
                                                                        {0xa0, "\\_"},
                                                                        {0x2028, "\\L"},
                                                                        {0x2029, "\\P"}}};
  for (const auto& [known, escape] : kNamed) {
    if (known == code) return escape;
  }
  if (code <= 0xff) return absl::StrFormat("\\x%02X", code);
  return code <= 0xffff ? absl::StrFormat("\\u%04X", code) : absl::StrFormat("\\U%08X", code);
}

void AppendDoubleQuoted(absl::string_view text, bool folds, Line& line) {
  line.Put("\"");
  bool after_space = false;
  for (absl::string_view rest = text; !rest.empty();) {
    const absl::string_view character = FirstOf(rest);
    const bool at_edge = rest.size() == text.size() || rest.size() == 1;
    rest.remove_prefix(character.size());
    const uint32_t code = base::Utf8Code(character);
    if (!IsPrintable(code) || IsBreak(code) || code == '"' || code == '\\') {
      line.Escape(EscapeOf(code));
      after_space = false;
    } else if (code == ' ' && folds && !after_space && line.IsFull() && !at_edge) {
      line.Fold();
      // A reader drops the blanks at the beginning of a line; the backslash keeps the one that
      // follows.
      if (absl::StartsWith(rest, " ")) line.Put("\\");
      after_space = true;
    } else {
      line.Put(character);
      after_space = code == ' ';
    }
  }
  line.Put("\"");
}

// The marks behind "|" say what a reader cannot see: how deep the text is indented if it begins
// with a blank or a break, and how many of its last breaks belong to it.
void AppendBlock(absl::string_view text, Line& line) {
  line.Put("|");
  if (text[0] == ' ' || IsBreak(base::Utf8Code(FirstOf(text)))) line.Put("2");
  if (!absl::EndsWith(text, "\n")) {
    line.Put("-");
  } else if (text == "\n" || absl::EndsWith(text, "\n\n")) {
    line.Put("+");
  }
  line.Break();
  bool after_break = true;
  for (absl::string_view rest = text; !rest.empty();) {
    const absl::string_view character = FirstOf(rest);
    rest.remove_prefix(character.size());
    const bool is_break = IsBreak(base::Utf8Code(character));
    if (is_break) {
      line.Break(character);
    } else {
      if (after_break) line.Indent();
      line.Put(character);
    }
    after_break = is_break;
  }
  if (!after_break) line.Break();
}

}  // namespace

void AppendGoString(absl::string_view text, size_t indent, bool is_name, std::string& out) {
  Line line(indent, out);
  const Allowed allowed = StylesOf(text);
  if (absl::StrContains(text, "\n")) {
    if (allowed.block && !is_name) return AppendBlock(text, line);
  } else if (ReadsAsString(text)) {
    if (allowed.plain) return AppendUnescaped(text, /*quotes=*/false, !is_name, line);
    if (allowed.single) {
      line.Put("'");
      AppendUnescaped(text, /*quotes=*/true, !is_name, line);
      return line.Put("'");
    }
  }
  AppendDoubleQuoted(text, !is_name, line);
}

bool IsSimpleGoName(absl::string_view name) {
  for (absl::string_view rest = name; !rest.empty();) {
    const absl::string_view character = FirstOf(rest);
    if (IsBreak(base::Utf8Code(character))) return false;
    rest.remove_prefix(character.size());
  }
  return name.size() <= kLongestSimpleName;
}

std::string GoFloat(double number) {
  std::array<char, 32> buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                     std::chars_format::scientific);
  const std::string scientific(buffer.data(), written.ptr);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  // As strconv.FormatFloat with 'g' and the shortest precision, which writes an exponent only for
  // numbers outside these bounds.
  constexpr int kLeast = -4, kTooMuch = 6;
  if (exponent < kLeast || exponent >= kTooMuch) return scientific;
  const auto fixed =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
  return std::string(buffer.data(), fixed.ptr);
}

namespace {

bool IsLetter(uint32_t code) {
  return code >= 0x80 || absl::ascii_isalpha(static_cast<unsigned char>(code));
}

// Returns the value of the digits at the beginning, after `carry`, and removes them.
uint64_t TakeNumber(absl::string_view& text, uint64_t carry) {
  for (; !text.empty() && absl::ascii_isdigit(text[0]); text.remove_prefix(1)) {
    carry = carry * 10 + static_cast<uint64_t>(text[0] - '0');
  }
  return carry;
}

// Returns whether the digits at the end of the part that is the same have one that is not zero.
bool EndsInNumber(absl::string_view same) {
  for (; !same.empty() && absl::ascii_isdigit(same.back()); same.remove_suffix(1)) {
    if (same.back() != '0') return true;
  }
  return false;
}

}  // namespace

// The order of keyList in go-yaml: letters come after other characters, and numbers are compared by
// their value ("a9" is before "a10"). Zeros at the beginning of the rest are places of a number
// only if digits stand before them; a 1 then stands for those digits: the carry.
bool IsBeforeInGo(absl::string_view a, absl::string_view b) {
  size_t same = 0;
  while (same < a.size() && same < b.size()) {
    const absl::string_view character = FirstOf(a.substr(same));
    if (character != FirstOf(b.substr(same))) break;
    same += character.size();
  }
  if (same >= a.size() || same >= b.size()) return a.size() < b.size();
  const uint32_t code_a = base::Utf8Code(FirstOf(a.substr(same))),
                 code_b = base::Utf8Code(FirstOf(b.substr(same)));
  if (IsLetter(code_a) && IsLetter(code_b)) return code_a < code_b;
  if (IsLetter(code_a) || IsLetter(code_b)) return IsLetter(code_b);
  const bool zero = code_a == '0' || code_b == '0';
  const uint64_t carry = zero && EndsInNumber(a.substr(0, same)) ? 1 : 0;
  absl::string_view rest_a = a.substr(same), rest_b = b.substr(same);
  const uint64_t number_a = TakeNumber(rest_a, carry), number_b = TakeNumber(rest_b, carry);
  if (number_a != number_b) return number_a < number_b;
  const size_t digits_a = a.size() - rest_a.size(), digits_b = b.size() - rest_b.size();
  return digits_a != digits_b ? digits_a < digits_b : code_a < code_b;
}

}  // namespace yaml::internal
