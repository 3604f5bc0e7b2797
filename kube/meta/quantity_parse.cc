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

// A quantity taken apart.
struct Parts {
  bool negative = false;
  absl::string_view whole;  // Digits before and after the point.
  absl::string_view fraction;
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

struct Suffix {
  Quantity::Format format = Quantity::Format::kDecimalSI;
  int64_t exponent = 0;  // Of 2 for kBinarySI, of 10 otherwise.
};

std::optional<Suffix> FindSuffix(absl::string_view text) {
  constexpr absl::string_view kDecimal = "num kMGTPE";  // Powers of 1000 from -3 on.
  constexpr absl::string_view kBinary = "KMGTPE";       // Powers of 1024 from 1 on.
  if (text.empty()) return Suffix{};
  if (text.size() == 1) {
    const size_t at = text[0] == ' ' ? absl::string_view::npos : kDecimal.find(text[0]);
    if (at == absl::string_view::npos) return std::nullopt;
    return Suffix{Quantity::Format::kDecimalSI, static_cast<int64_t>(at) * 3 - 9};
  }
  const size_t at = kBinary.find(text[0]);
  if (text.size() != 2 || text[1] != 'i' || at == absl::string_view::npos) return std::nullopt;
  return Suffix{Quantity::Format::kBinarySI, static_cast<int64_t>(at) * 10 + 10};
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
  parts.whole = TakeWhile(rest, absl::ascii_isdigit);
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    parts.fraction = TakeWhile(rest, absl::ascii_isdigit);
  }
  parts.suffix = rest;
  if (FindSuffix(rest).has_value()) return parts;
  TakeWhile(rest, IsSuffixLetter);
  if (!rest.empty() && IsSign(rest.front())) rest.remove_prefix(1);
  TakeWhile(rest, absl::ascii_isdigit);
  if (!rest.empty()) return WrongFormat();
  return parts;
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

// The magnitude in nanos of what manifests hold: a short whole number with a suffix up to G or Gi.
// 18 digits times 2^30 or 10^9 times 10^9 fits an Int128. nullopt for anything else. (A
// Deployment's requests are read with a third of the instructions.)
std::optional<Int128> ShortMagnitude(const Parts& parts, const Suffix& suffix) {
  constexpr size_t kMostDigits = 18;
  constexpr int64_t kLargestBinary = 30, kLargestDecimal = 9;
  const bool binary = suffix.format == Quantity::Format::kBinarySI;
  if (!parts.fraction.empty() || parts.whole.size() > kMostDigits) return std::nullopt;
  if (suffix.exponent > (binary ? kLargestBinary : kLargestDecimal)) return std::nullopt;
  if (suffix.exponent < -kNanoDigits) return std::nullopt;  // Might have to be rounded.
  int64_t whole = 0;
  for (const char c : parts.whole) whole = whole * 10 + (c - '0');
  if (binary) return (static_cast<Int128>(whole) << suffix.exponent) * kNanosPerUnit;
  Int128 magnitude = whole;
  for (int64_t i = suffix.exponent + kNanoDigits; i > 0; --i) magnitude *= 10;
  return magnitude;
}

Int128 AnyMagnitude(const Parts& parts, const Suffix& suffix) {
  const bool binary = suffix.format == Quantity::Format::kBinarySI;
  std::string digits = absl::StrCat(parts.whole, parts.fraction);
  if (binary) MultiplyByPowerOfTwo(digits, suffix.exponent);
  const int64_t exponent = binary ? 0 : suffix.exponent;
  return ScaleRoundingUp(digits,
                         exponent + kNanoDigits - static_cast<int64_t>(parts.fraction.size()));
}

}  // namespace

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(const Parts parts, Split(text));
  ASSIGN_OR_RETURN(const Suffix suffix, ParseSuffix(parts.suffix));
  const bool binary = suffix.format == Format::kBinarySI;
  const std::optional<Int128> simple = ShortMagnitude(parts, suffix);
  Int128 magnitude = simple.has_value() ? *simple : AnyMagnitude(parts, suffix);
  if (binary) magnitude = std::min(magnitude, kMaxBinary);
  Quantity quantity;
  quantity.nano_ = parts.negative ? -magnitude : magnitude;
  // A fraction of one is not shown with binary suffixes.
  const bool fraction = magnitude > 0 && magnitude < kNanosPerUnit;
  quantity.format_ = binary && fraction ? Format::kDecimalSI : suffix.format;
  return quantity;
}

}  // namespace kube
