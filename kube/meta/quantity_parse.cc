// Reading quantities (declared in quantity.h).
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/quantity.h"

namespace kube {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// Written out because std::numeric_limits<__int128> may be unspecialised (all zero) in strict
// modes.
constexpr Int128 kMaxInt128 = static_cast<Int128>(~static_cast<UInt128>(0) >> 1);
constexpr Int128 kNanosPerUnit = 1'000'000'000;
// As apimachinery caps quantities with a binary suffix.
constexpr Int128 kMaxBinary = std::numeric_limits<int64_t>::max() * kNanosPerUnit;
constexpr int kNanoDigits = 9;
// Beyond any exponent that leaves a value between one nano and the cap.
constexpr int64_t kExponentLimit = 1'000'000;

absl::Status WrongFormat() {
  return absl::InvalidArgumentError(
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

// A quantity taken apart: the number is digits * 10^-fraction_digits.
struct Parts {
  bool negative = false;
  std::string digits;
  int64_t fraction_digits = 0;
  absl::string_view suffix;
};

// Takes the leading characters that satisfy `accept` off `rest`.
template <class Accept>
absl::string_view TakeWhile(absl::string_view& rest, Accept accept) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), accept);
  const absl::string_view taken = rest.substr(0, end - rest.begin());
  rest.remove_prefix(taken.size());
  return taken;
}

bool IsSign(char c) { return c == '+' || c == '-'; }
bool IsSuffixLetter(char c) {
  return absl::string_view("eEinumkKMGTP").find(c) != absl::string_view::npos;
}

// Digits may be missing on both sides of the point, as apimachinery allows.
absl::StatusOr<Parts> Split(absl::string_view text) {
  if (text.empty()) return WrongFormat();
  Parts parts;
  absl::string_view rest = text;
  if (IsSign(rest.front())) {
    parts.negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  const absl::string_view whole = TakeWhile(rest, absl::ascii_isdigit);
  absl::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = TakeWhile(rest, absl::ascii_isdigit);
  }
  parts.digits = absl::StrCat(whole, fraction);
  parts.fraction_digits = static_cast<int64_t>(fraction.size());
  parts.suffix = rest;
  TakeWhile(rest, IsSuffixLetter);
  if (!rest.empty() && IsSign(rest.front())) rest.remove_prefix(1);
  TakeWhile(rest, absl::ascii_isdigit);
  if (!rest.empty()) return WrongFormat();
  return parts;
}

struct Suffix {
  Quantity::Format format = Quantity::Format::kDecimalSI;
  int64_t exponent = 0;  // Of 2 for kBinarySI, of 10 otherwise.
};

std::optional<Suffix> FindSuffix(absl::string_view text) {
  static constexpr struct {
    absl::string_view text;
    int exponent;
  } kDecimal[] = {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0},   {"k", 3},
                  {"M", 6},  {"G", 9},  {"T", 12}, {"P", 15}, {"E", 18}},
    kBinary[] = {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}};
  for (const auto& known : kDecimal) {
    if (text == known.text) return Suffix{Quantity::Format::kDecimalSI, known.exponent};
  }
  for (const auto& known : kBinary) {
    if (text == known.text) return Suffix{Quantity::Format::kBinarySI, known.exponent};
  }
  return std::nullopt;
}

absl::StatusOr<Suffix> ParseSuffix(absl::string_view text) {
  if (const auto known = FindSuffix(text)) return *known;
  int64_t exponent = 0;
  const bool is_exponent = text.size() > 1 && (text.front() == 'e' || text.front() == 'E');
  if (!is_exponent || !absl::SimpleAtoi(text.substr(1), &exponent)) {
    return absl::InvalidArgumentError("unable to parse quantity's suffix");
  }
  return Suffix{Quantity::Format::kDecimalExponent,
                std::clamp(exponent, -kExponentLimit, kExponentLimit)};
}

// Multiplies a decimal number, written out, by 2^exponent. REQUIRES: exponent is a multiple of 10.
void MultiplyByPowerOfTwo(std::string& digits, int64_t exponent) {
  for (; exponent > 0; exponent -= 10) {
    int carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      carry += (*digit - '0') * 1024;
      *digit = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    digits.insert(0, absl::StrCat(carry));
  }
}

Int128 SaturatingAppendDigit(Int128 value, int digit) {
  return value > (kMaxInt128 - digit) / 10 ? kMaxInt128 : value * 10 + digit;
}

// digits * 10^shift, rounded up; the largest Int128 when that is too small for it.
Int128 ScaleRoundingUp(absl::string_view digits, int64_t shift) {
  const size_t first = digits.find_first_not_of('0');
  if (first == absl::string_view::npos) return 0;
  digits.remove_prefix(first);
  const int64_t size = static_cast<int64_t>(digits.size());
  const int64_t kept = std::clamp<int64_t>(size + shift, 0, size);
  Int128 value = 0;
  for (const char c : digits.substr(0, kept)) value = SaturatingAppendDigit(value, c - '0');
  constexpr int64_t kMoreDigitsThanFit = 40;
  for (int64_t i = std::min(shift, kMoreDigitsThanFit); i > 0; --i) {
    value = SaturatingAppendDigit(value, 0);
  }
  const bool exact = digits.find_first_not_of('0', kept) == absl::string_view::npos;
  return exact || value == kMaxInt128 ? value : value + 1;
}

}  // namespace

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(Parts parts, Split(text));
  ASSIGN_OR_RETURN(const Suffix suffix, ParseSuffix(parts.suffix));
  const bool binary = suffix.format == Format::kBinarySI;
  if (binary) MultiplyByPowerOfTwo(parts.digits, suffix.exponent);
  const int64_t exponent = binary ? 0 : suffix.exponent;
  Int128 magnitude = ScaleRoundingUp(parts.digits, exponent + kNanoDigits - parts.fraction_digits);
  if (binary) magnitude = std::min(magnitude, kMaxBinary);
  Quantity quantity;
  quantity.nano_ = parts.negative ? -magnitude : magnitude;
  // A fraction of one is not shown with binary suffixes.
  const bool fraction = magnitude > 0 && magnitude < kNanosPerUnit;
  quantity.format_ = binary && fraction ? Format::kDecimalSI : suffix.format;
  return quantity;
}

}  // namespace kube
