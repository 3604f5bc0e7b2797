// Ports of Go's strconv.Atoi and time.ParseDuration. Magnitudes are unsigned and may be as large as
// 2^63, because the smallest int64 has no positive counterpart; the sign is applied at the end, and
// 2^63 itself is allowed only with a minus. A duration is a sequence of numbers with units, which
// are added up in nanoseconds; overflow is an error at each step, never a wrong value.

#include "base/go_syntax.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/regex.h"
#include "base/utf8.h"

namespace base {
namespace {

constexpr uint64_t kLimit = uint64_t{1} << 63;
constexpr uint64_t kDecimal = 10;

struct Unit {
  absl::string_view name;
  uint64_t nanoseconds;
};
constexpr Unit kUnits[] = {
    {"ns", 1},
    {"us", 1'000},
    {"\xC2\xB5s", 1'000},  // The micro sign,
    {"\xCE\xBCs", 1'000},  // and the Greek letter mu.
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
};

bool IsDigit(absl::string_view text) { return !text.empty() && absl::ascii_isdigit(text.front()); }

// Takes digits off the front; nullopt if their number is above kLimit.
std::optional<uint64_t> TakeInteger(absl::string_view& text) {
  uint64_t value = 0;
  for (; IsDigit(text); text.remove_prefix(1)) {
    const uint64_t digit = text.front() - '0';
    // It is checked before the multiplication, so that nothing wraps around.
    if (value > (kLimit - digit) / kDecimal) return std::nullopt;
    value = value * kDecimal + digit;
  }
  return value;
}

// Takes the digits after a decimal point off the front. Those that a double cannot hold count for
// nothing.
double TakeFraction(absl::string_view& text) {
  double value = 0, scale = 1;
  for (; IsDigit(text); text.remove_prefix(1)) {
    if (scale >= static_cast<double>(kLimit) / kDecimal) continue;
    value = value * kDecimal + (text.front() - '0');
    scale *= kDecimal;
  }
  return value / scale;
}

void AppendHex(char byte, std::string& out) {
  absl::StrAppend(&out, "\\x", absl::Hex(static_cast<unsigned char>(byte), absl::kZeroPad2));
}

// Quotes as package time does in its errors, which is not strconv.Quote (time.quote).
std::string QuoteAsTime(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (!absl::ascii_isascii(c) || c < ' ') {
      AppendHex(c, out);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

// Returns whether strconv.Quote writes the character as it is: a letter, mark, number, punctuation
// or symbol of Unicode, or a blank (strconv.IsPrint).
bool IsPrintable(absl::string_view character) {
  static const Regex& printable = *new Regex(*Regex::Compile("^[\\pL\\pM\\pN\\pP\\pS ]$"));
  if (character.size() == 1) return absl::ascii_isprint(character[0]);
  return printable.Finds(character);
}

// Appends a character that is not printable, or a byte that is not part of one.
void AppendEscaped(absl::string_view character, std::string& out) {
  constexpr absl::string_view kNamed = "\a\b\f\n\r\t\v", kNames = "abfnrtv";
  if (character.size() == 1) {
    const size_t named = kNamed.find(character[0]);
    if (named == absl::string_view::npos) return AppendHex(character[0], out);
    return absl::StrAppend(&out, "\\", kNames.substr(named, 1));
  }
  constexpr uint32_t kLastShort = 0xFFFF;
  const uint32_t code = Utf8Code(character);
  if (code <= kLastShort) return absl::StrAppend(&out, "\\u", absl::Hex(code, absl::kZeroPad4));
  absl::StrAppend(&out, "\\U", absl::Hex(code, absl::kZeroPad8));
}

absl::Status Invalid(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("time: ", what, " duration ", QuoteAsTime(text)));
}

// Takes one number with its unit off the front, and returns it in nanoseconds. `whole` is for the
// messages.
absl::StatusOr<uint64_t> TakePart(absl::string_view& text, absl::string_view whole) {
  const bool has_integer = IsDigit(text);
  const std::optional<uint64_t> integer = TakeInteger(text);
  bool has_fraction = false;
  double fraction = 0;
  if (integer.has_value() && absl::ConsumePrefix(&text, ".")) {
    has_fraction = IsDigit(text);
    fraction = TakeFraction(text);
  }
  if (!integer.has_value() || (!has_integer && !has_fraction)) return Invalid("invalid", whole);
  // A unit is whatever stands before the next number: unknown ones are reported whole.
  const auto* const end = std::find_if(text.begin(), text.end(),
                                       [](char c) { return c == '.' || absl::ascii_isdigit(c); });
  const absl::string_view name = text.substr(0, end - text.begin());
  if (name.empty()) return Invalid("missing unit in", whole);
  const auto* const unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                        [&](const Unit& u) { return u.name == name; });
  if (unit == std::end(kUnits)) {
    return Invalid(absl::StrCat("unknown unit ", QuoteAsTime(name), " in"), whole);
  }
  text.remove_prefix(name.size());
  if (*integer > kLimit / unit->nanoseconds) return Invalid("invalid", whole);
  return *integer * unit->nanoseconds +
         static_cast<uint64_t>(fraction * static_cast<double>(unit->nanoseconds));
}

}  // namespace

std::string GoQuote(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const absl::string_view character = text.substr(0, std::max<size_t>(Utf8Length(text), 1));
    text.remove_prefix(character.size());
    if (character == "\"" || character == "\\") {
      absl::StrAppend(&out, "\\", character);
    } else if (IsPrintable(character)) {
      absl::StrAppend(&out, character);
    } else {
      AppendEscaped(character, out);
    }
  }
  return out + "\"";
}

absl::StatusOr<int64_t> GoAtoi(absl::string_view text) {
  const auto failure = [text](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("strconv.Atoi: parsing ", GoQuote(text), ": ", why));
  };
  absl::string_view rest = text;
  const bool negative = absl::ConsumePrefix(&rest, "-");
  if (!negative) absl::ConsumePrefix(&rest, "+");
  if (rest.empty() ||
      !std::all_of(rest.begin(), rest.end(), [](char c) { return absl::ascii_isdigit(c); })) {
    return failure("invalid syntax");
  }
  const std::optional<uint64_t> value = TakeInteger(rest);
  if (!value.has_value() || (*value == kLimit && !negative)) return failure("value out of range");
  if (*value == kLimit) return std::numeric_limits<int64_t>::min();
  return negative ? -static_cast<int64_t>(*value) : static_cast<int64_t>(*value);
}

absl::StatusOr<absl::Duration> GoParseDuration(absl::string_view text) {
  absl::string_view rest = text;
  const bool negative = absl::ConsumePrefix(&rest, "-");
  if (!negative) absl::ConsumePrefix(&rest, "+");
  // Zero is the only number that needs no unit.
  if (rest == "0") return absl::ZeroDuration();
  if (rest.empty()) return Invalid("invalid", text);
  uint64_t sum = 0;
  while (!rest.empty()) {
    const absl::StatusOr<uint64_t> part = TakePart(rest, text);
    if (!part.ok()) return part.status();
    if (*part > kLimit - sum) return Invalid("invalid", text);
    sum += *part;
  }
  if (sum == kLimit && !negative) return Invalid("invalid", text);
  if (sum == kLimit) return absl::Nanoseconds(std::numeric_limits<int64_t>::min());
  const absl::Duration duration = absl::Nanoseconds(static_cast<int64_t>(sum));
  return negative ? -duration : duration;
}

}  // namespace base
