// A scalar without quotes is tried as null, boolean and number, in this order, and is a text if it
// is none of them. The forms are those that go-yaml v2 accepts, not those of the YAML 1.1 document:
// "y" and "on" are booleans, "0o17" and "017" are octal, "1_000" is a number, but "1:30" is a text.
// Numbers take the way that they take in Go: whole floats become integers there, since
// sigs.k8s.io/yaml goes through JSON.
//
// IsPlainString answers the opposite question for the writer. It is stricter than this reader: a
// text that only other readers would take for a date or a number in base sixty is quoted, too.

#include "base/internal/yaml_scalar.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace yaml::internal {
namespace {

bool IsOneOf(absl::string_view text, std::initializer_list<absl::string_view> words) {
  for (const absl::string_view word : words) {
    if (text == word) return true;
  }
  return false;
}

std::optional<bool> AsBool(absl::string_view text) {
  if (IsOneOf(text, {"true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON"})) {
    return true;
  }
  if (IsOneOf(text, {"false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF"})) {
    return false;
  }
  return std::nullopt;
}

// YAML has these numbers, JSON has not.
bool IsNotFinite(absl::string_view text) {
  return IsOneOf(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF",
                        "-.inf", "-.Inf", "-.INF"});
}

// Removes a prefix of a base, such as "0x", from `digits`; returns the base.
int TakeBase(absl::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = absl::ascii_tolower(digits[1]);
  const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  digits.remove_prefix(base == 0 ? 1 : 2);
  return base == 0 ? 8 : base;  // A leading zero alone means octal.
}

int DigitOf(char c) {
  if (absl::ascii_isdigit(c)) return c - '0';
  return absl::ascii_isxdigit(c) ? absl::ascii_tolower(c) - 'a' + 10 : 99;
}

// Reads an integer of any size in base 2, 8, 10 or 16; returns a double when int64 is too small.
std::optional<json::Value> AsInteger(absl::string_view digits) {
  const bool negative = absl::StartsWith(digits, "-");
  if (negative || absl::StartsWith(digits, "+")) digits.remove_prefix(1);
  const int base = TakeBase(digits);
  if (digits.empty()) return std::nullopt;
  uint64_t value = 0;
  double approximate = 0;
  bool exact = true;
  for (const char c : digits) {
    const int digit = DigitOf(c);
    if (digit >= base) return std::nullopt;
    approximate = approximate * base + digit;
    exact = exact && !__builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) &&
            !__builtin_add_overflow(value, static_cast<uint64_t>(digit), &value);
  }
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + negative;
  if (exact && value <= limit) {
    return json::Value(static_cast<int64_t>(negative ? 0 - value : value));
  }
  // Decimal digits are left to AsFloat, which rounds correctly.
  if (base == 10) return std::nullopt;
  return json::Value(negative ? -approximate : approximate);
}

// Returns how many digits were taken.
size_t TakeDigits(absl::string_view& text) {
  size_t count = 0;
  while (count < text.size() && absl::ascii_isdigit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

// Returns whether the text matches [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool HasFormOfFloat(absl::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const size_t whole = TakeDigits(text);
  const bool point = absl::ConsumePrefix(&text, ".");
  const size_t fraction = point ? TakeDigits(text) : 0;
  if (whole + fraction == 0) return false;
  if (text.empty()) return true;
  if (!absl::ConsumePrefix(&text, "e") && !absl::ConsumePrefix(&text, "E")) return false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return TakeDigits(text) > 0 && text.empty();
}

// Turns whole numbers into integers: in Go's reader they lose the ".0" on their way through JSON
// text.
json::Value FromDouble(double number) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (std::trunc(number) == number && number >= -kLimit && number < kLimit) {
    return static_cast<int64_t>(number);
  }
  return number;
}

std::optional<json::Value> AsFloat(absl::string_view text) {
  double number = 0;
  if (!HasFormOfFloat(text) || !absl::SimpleAtod(text, &number) || !std::isfinite(number)) {
    return std::nullopt;
  }
  return FromDouble(number);
}

// Underscores may stand between digits; a text that begins with one is a name.
std::optional<json::Value> AsNumber(absl::string_view text) {
  if (text.empty() || text[0] == '_') return std::nullopt;
  const std::string plain = absl::StrReplaceAll(text, {{"_", ""}});
  if (auto integer = AsInteger(plain)) return integer;
  return AsFloat(plain);
}

absl::Status Mismatch(absl::string_view text, absl::string_view kind) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not a ", kind));
}

absl::StatusOr<json::Value> DecodeBinary(absl::string_view text) {
  std::string bytes;
  if (!absl::Base64Unescape(text, &bytes)) return Mismatch(text, "base64 text");
  return json::Value(bytes);
}

// YAML 1.1 readers take 1:30 for ninety.
bool LooksSexagesimal(absl::string_view text) {
  return absl::StrContains(text, ":") &&
         text.find_first_not_of("0123456789:.+-_") == absl::string_view::npos;
}

// Many readers take 2024-01-01 for a date.
bool LooksLikeDate(absl::string_view text) {
  absl::string_view rest = text;
  return TakeDigits(rest) == 4 && absl::ConsumePrefix(&rest, "-") && TakeDigits(rest) > 0 &&
         absl::ConsumePrefix(&rest, "-");
}

bool HasOnlyPlainCharacters(absl::string_view text) {
  for (const char c : text) {
    if (absl::ascii_iscntrl(c)) return false;
  }
  // Line separators and the byte order mark.
  for (const absl::string_view special :
       {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf"}) {
    if (absl::StrContains(text, special)) return false;
  }
  return !absl::StrContains(text, ": ") && !absl::StrContains(text, " #");
}

// A character that begins something else in YAML (a flow, an anchor, a tag, a comment) needs
// quotes.
bool StartsPlain(absl::string_view text) {
  if (absl::StartsWith(text, "---") || absl::StartsWith(text, "...")) return false;
  if (text[0] == '-') return text.size() > 1 && text[1] != ' ';
  return !absl::StrContains(" ?:,[]{}#&*!|>'\"%@`=<", text.substr(0, 1));
}

}  // namespace

absl::StatusOr<json::Value> ResolvePlain(absl::string_view text) {
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return json::Value();
  if (const auto boolean = AsBool(text)) return json::Value(*boolean);
  if (IsNotFinite(text)) return Mismatch(text, "number that JSON can hold");
  if (auto number = AsNumber(text)) return *std::move(number);
  return json::Value(text);
}

absl::StatusOr<json::Value> ResolveTagged(absl::string_view tag, absl::string_view text) {
  // An application's own tag says nothing that JSON could hold.
  if (!absl::ConsumePrefix(&tag, "tag:yaml.org,2002:")) return json::Value(text);
  if (tag == "binary") return DecodeBinary(text);
  if (!IsOneOf(tag, {"null", "bool", "int", "float"})) return json::Value(text);
  auto value = ResolvePlain(text);
  if (!value.ok()) return value;
  const bool fits = tag == "null"   ? value->is_null()
                    : tag == "bool" ? value->is_bool()
                    : tag == "int"  ? value->is_int()
                                    : value->is_number();
  return fits ? value : Mismatch(text, tag);
}

bool IsPlainString(absl::string_view text) {
  if (text.empty() || text.back() == ' ' || text.back() == ':') return false;
  if (!StartsPlain(text) || !HasOnlyPlainCharacters(text)) return false;
  if (LooksSexagesimal(text) || LooksLikeDate(text)) return false;
  const auto value = ResolvePlain(text);
  return value.ok() && value->is_string();
}

}  // namespace yaml::internal
