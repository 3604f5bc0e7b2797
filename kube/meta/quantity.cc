// Nearly every quantity is an int64 and a power of ten (value_, scale_); each operation tries that
// form with checks for overflow, and only what does not fit goes through Decimal (large_, shared
// between copies). Three formats share one amount: decimal suffixes, exponents, and binary
// suffixes; arithmetic keeps the format of the left operand. Rounding is always away from zero, as
// upstream's, so that a request is never made smaller than it was written.

#include "kube/meta/quantity.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/internal/decimal.h"

namespace kube {
namespace {

using internal::Decimal;
using Format = Quantity::Format;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int kSmallestExponent = -9;
constexpr int64_t kLargestSiExponent = 18;
constexpr int64_t kLargestExponent = 2'147'483'646;  // The largest multiple of 3 that can be read.
constexpr int64_t kPowersOfTen[] = {1,
                                    10,
                                    100,
                                    1'000,
                                    10'000,
                                    100'000,
                                    1'000'000,
                                    10'000'000,
                                    100'000'000,
                                    1'000'000'000,
                                    10'000'000'000,
                                    100'000'000'000,
                                    1'000'000'000'000,
                                    10'000'000'000'000,
                                    100'000'000'000'000,
                                    1'000'000'000'000'000,
                                    10'000'000'000'000'000,
                                    100'000'000'000'000'000,
                                    1'000'000'000'000'000'000};
constexpr int64_t kMostPower = std::size(kPowersOfTen) - 1;

// The printed form of an amount: digits and exponent.
struct Printed {
  std::string digits;
  int64_t exponent = 0;
};

std::string DecimalSuffix(int64_t exponent, Format format) {
  if (exponent == 0) return "";
  if (format == Format::kDecimalExponent) return absl::StrCat("e", exponent);
  constexpr absl::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return std::string(kSuffixes[(exponent - kSmallestExponent) / 3]);
}

// Returns how many zeros to remove from a number that has `zeros` at its end, so that its exponent
// becomes the largest multiple of 3 that can be written; a negative result is the number of zeros
// to add. SI suffixes end at E.
int64_t ZerosToMove(int64_t zeros, int64_t exponent, Format format) {
  const int64_t reached = exponent + zeros;
  const int64_t rest = ((reached % 3) + 3) % 3;
  int64_t wanted = reached - rest;
  wanted =
      std::min(wanted, format == Format::kDecimalExponent ? kLargestExponent : kLargestSiExponent);
  return wanted - exponent;
}

// Returns nullopt when the digits do not fit an int64. REQUIRES: value != 0.
std::optional<std::string> ShortDecimalText(int64_t value, int64_t exponent, Format format) {
  int64_t zeros = 0;
  int64_t stripped = value;
  while (stripped % 10 == 0) {
    stripped /= 10;
    ++zeros;
  }
  const int64_t added = zeros - ZerosToMove(zeros, exponent, format);
  if (added > kMostPower || __builtin_mul_overflow(stripped, kPowersOfTen[added], &stripped)) {
    return std::nullopt;
  }
  return absl::StrCat(stripped, DecimalSuffix(exponent + zeros - added, format));
}

// Uses an exponent when a suffix would need too many digits.
std::string LongDecimalText(const Decimal& number, Format format) {
  std::string digits = number.digits;
  const auto zeros = static_cast<int64_t>(digits.size() - digits.find_last_not_of('0') - 1);
  const int64_t moved = ZerosToMove(zeros, number.exponent, format);
  if (-moved > internal::kMostDigits) return LongDecimalText(number, Format::kDecimalExponent);
  digits.resize(static_cast<size_t>(static_cast<int64_t>(digits.size()) - moved), '0');
  return absl::StrCat(number.negative ? "-" : "", digits,
                      DecimalSuffix(number.exponent + moved, format));
}

constexpr absl::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

// Uses the largest power of 1024 that leaves no fraction. REQUIRES: units != 0.
std::string ShortBinaryText(int64_t units) {
  size_t power = 0;
  while (units % 1024 == 0 && power + 1 < std::size(kBinarySuffixes)) {
    units /= 1024;
    ++power;
  }
  return absl::StrCat(units, kBinarySuffixes[power]);
}

std::string LongBinaryText(const Decimal& number) {
  std::string digits = internal::WrittenOut(number);
  size_t power = 0;
  while (power + 1 < std::size(kBinarySuffixes)) {
    std::optional<std::string> quotient = internal::DividedBy1024(digits);
    if (!quotient.has_value()) break;
    digits = std::move(*quotient);
    ++power;
  }
  return absl::StrCat(number.negative ? "-" : "", digits, kBinarySuffixes[power]);
}

// Returns value * 10^exponent, rounded away from zero and limited to int64.
int64_t Scaled(int64_t value, int64_t exponent) {
  if (value == 0 || exponent == 0) return value;
  int64_t scaled = 0;
  if (exponent > 0) {
    const bool fits =
        exponent <= kMostPower && !__builtin_mul_overflow(value, kPowersOfTen[exponent], &scaled);
    if (fits) return scaled;
    return value < 0 ? kMin : kMax;
  }
  const int away = value < 0 ? -1 : 1;
  // The value is a tiny part of one unit, which is rounded up.
  if (-exponent > kMostPower) return away;
  const int64_t divisor = kPowersOfTen[-exponent];
  return value / divisor + (value % divisor != 0 ? away : 0);
}

// Sets `out` to value * 10^exponent; returns whether that overflows. REQUIRES: exponent >= 0,
// unless the value is 0.
bool RescaleOverflows(int64_t value, int64_t exponent, int64_t& out) {
  out = value;
  if (value == 0 || exponent == 0) return false;
  return exponent > kMostPower || __builtin_mul_overflow(value, kPowersOfTen[exponent], &out);
}

// Returns how many times 10^unit the number is, rounded away from zero and limited to int64.
int64_t Scaled(const Decimal& number, int64_t unit) {
  const Decimal rounded = internal::RoundedAwayFromZero(number, unit);
  const auto held = internal::Shortened(rounded);
  if (held.has_value()) return Scaled(held->value, held->exponent - unit);
  return number.negative ? kMin : kMax;
}

// Returns the nearest double to 10^exponent.
double PowerOfTen(int64_t exponent) {
  double power = 0;
  (void)absl::SimpleAtod(absl::StrCat("1e", exponent), &power);  // Infinite when out of range.
  return power;
}

}  // namespace

Quantity Quantity::FromInt(int64_t value, Format format) {
  Quantity quantity;
  quantity.value_ = value;
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::FromMilli(int64_t milli, Format format) {
  Quantity quantity;
  quantity.value_ = milli;
  quantity.scale_ = -3;
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::Of(Decimal number, Format format) {
  Quantity quantity;
  quantity.format_ = format;
  const auto held = internal::Shortened(number);
  if (held.has_value() && held->exponent == static_cast<int32_t>(held->exponent)) {
    quantity.value_ = held->value;
    quantity.scale_ = static_cast<int32_t>(held->exponent);
  } else {
    quantity.large_ = std::make_shared<const Decimal>(std::move(number));
  }
  return quantity;
}

internal::Decimal Quantity::AsDecimal() const {
  return large_ != nullptr ? *large_ : Decimal::Of(value_, scale_);
}

int Quantity::Sign() const {
  if (large_ != nullptr) return large_->negative ? -1 : 1;
  return value_ < 0 ? -1 : static_cast<int>(value_ > 0);
}

std::string Quantity::ToString() const {
  if (IsZero()) return "0";
  const auto in_decimal = [&](Format format) {
    if (large_ != nullptr) return LongDecimalText(*large_, format);
    const auto text = ShortDecimalText(value_, scale_, format);
    return text.has_value() ? *text : LongDecimalText(AsDecimal(), format);
  };
  if (format_ != Format::kBinarySI) return in_decimal(format_);
  // Amounts below it have no binary suffix, whole or not.
  constexpr int64_t kSmallestShown = 1024;
  if (large_ == nullptr && scale_ == 0) {
    const bool small = value_ > -kSmallestShown && value_ < kSmallestShown;
    return small ? in_decimal(Format::kDecimalSI) : ShortBinaryText(value_);
  }
  const Decimal amount = AsDecimal();
  const Decimal units = internal::RoundedAwayFromZero(amount, 0);
  Decimal magnitude = units;
  magnitude.negative = false;
  const bool whole = internal::Compare(units, amount) == 0;
  const bool small = internal::Compare(magnitude, Decimal::Of(kSmallestShown, 0)) < 0;
  // So large a number is not written out.
  if (units.exponent > internal::kMostDigits) return in_decimal(Format::kDecimalExponent);
  return whole && !small ? LongBinaryText(units) : in_decimal(Format::kDecimalSI);
}

int64_t Quantity::Value() const {
  return large_ != nullptr ? Scaled(*large_, 0) : Scaled(value_, scale_);
}

int64_t Quantity::MilliValue() const {
  constexpr int kMilli = -3;
  return large_ != nullptr ? Scaled(*large_, kMilli) : Scaled(value_, int64_t{scale_} - kMilli);
}

double Quantity::AsApproximateFloat() const {
  if (large_ == nullptr) {
    if (scale_ == 0 || value_ == 0) return static_cast<double>(value_);
    return static_cast<double>(value_) * PowerOfTen(scale_);
  }
  double value = 0;
  (void)absl::SimpleAtod(
      absl::StrCat(large_->negative ? "-" : "", large_->digits, "e", large_->exponent),
      &value);  // Infinite when out of range.
  return value;
}

Quantity Quantity::WithFormat(Format format) const {
  Quantity quantity = *this;
  quantity.format_ = format;
  return quantity;
}

void Quantity::AddSigned(const Quantity& other, int sign) {
  // A sum that begins at zero gets the format of the first addend.
  if (IsZero()) format_ = other.format_;
  if (other.IsZero()) return;
  if (large_ == nullptr && other.large_ == nullptr) {
    const int32_t scale = value_ == 0 ? other.scale_ : std::min(scale_, other.scale_);
    int64_t sum = 0;
    int64_t addend = 0;
    const bool fits = !RescaleOverflows(value_, int64_t{scale_} - scale, sum) &&
                      !RescaleOverflows(other.value_, int64_t{other.scale_} - scale, addend) &&
                      !__builtin_mul_overflow(addend, static_cast<int64_t>(sign), &addend) &&
                      !__builtin_add_overflow(sum, addend, &sum);
    if (fits) {
      value_ = sum;
      scale_ = scale;
      return;
    }
  }
  Decimal operand = other.AsDecimal();
  operand.negative = (sign < 0) != operand.negative;
  *this = Of(internal::Sum(AsDecimal(), operand), format_);
}

void Quantity::Add(const Quantity& other) { AddSigned(other, 1); }

void Quantity::Sub(const Quantity& other) { AddSigned(other, -1); }

int Compare(const Quantity& a, const Quantity& b) {
  // Equal scales need no conversion: almost all comparisons.
  const bool comparable = a.large_ == nullptr && b.large_ == nullptr && a.scale_ == b.scale_;
  if (!comparable) return internal::Compare(a.AsDecimal(), b.AsDecimal());
  return a.value_ < b.value_ ? -1 : static_cast<int>(a.value_ > b.value_);
}

}  // namespace kube
