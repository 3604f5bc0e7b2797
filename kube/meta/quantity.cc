#include "kube/meta/quantity.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"

namespace kube {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// Written out because std::numeric_limits<__int128> may be unspecialised (all zero) in strict
// modes.
constexpr Int128 kMaxInt128 = static_cast<Int128>(~static_cast<UInt128>(0) >> 1);
constexpr Int128 kNanosPerUnit = 1'000'000'000;
constexpr Int128 kNanosPerMilli = 1'000'000;
constexpr int kSmallestExponent = -9;
constexpr int kLargestSiExponent = 18;

std::string IntegerText(Int128 value) {
  const auto small = static_cast<int64_t>(value);
  if (small == value) return absl::StrCat(small);  // A division of 128 bits for each digit is slow.
  UInt128 rest = value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  std::string text;
  do {
    text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) text.push_back('-');
  std::reverse(text.begin(), text.end());
  return text;
}

std::string DecimalSuffix(int exponent, Quantity::Format format) {
  if (exponent == 0) return "";
  if (format == Quantity::Format::kDecimalExponent) return absl::StrCat("e", exponent);
  constexpr absl::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return std::string(kSuffixes[(exponent - kSmallestExponent) / 3]);
}

// The largest power of 1000 that leaves no fraction. REQUIRES: nano != 0.
std::string DecimalText(Int128 nano, Quantity::Format format) {
  int exponent = kSmallestExponent;
  while (nano % 1000 == 0 &&
         (format == Quantity::Format::kDecimalExponent || exponent < kLargestSiExponent)) {
    nano /= 1000;
    exponent += 3;
  }
  return IntegerText(nano) + DecimalSuffix(exponent, format);
}

// The largest power of 1024 that leaves no fraction. REQUIRES: units != 0.
std::string BinaryText(Int128 units) {
  constexpr absl::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t power = 0;
  while (units % 1024 == 0 && power + 1 < std::size(kSuffixes)) {
    units /= 1024;
    ++power;
  }
  return absl::StrCat(IntegerText(units), kSuffixes[power]);
}

int64_t DivideAwayFromZero(Int128 value, Int128 divisor) {
  Int128 result = value / divisor;
  if (value % divisor != 0) result += value < 0 ? -1 : 1;
  constexpr Int128 kMin = std::numeric_limits<int64_t>::min();
  constexpr Int128 kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(result, kMin, kMax));
}

Int128 SaturatingAdd(Int128 a, Int128 b) {
  Int128 sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? -kMaxInt128 : kMaxInt128;
}

}  // namespace

Quantity Quantity::FromInt(int64_t value, Format format) {
  Quantity quantity;
  quantity.nano_ = value * kNanosPerUnit;
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::FromMilli(int64_t milli, Format format) {
  Quantity quantity;
  quantity.nano_ = milli * kNanosPerMilli;
  quantity.format_ = format;
  return quantity;
}

std::string Quantity::ToString() const {
  if (nano_ == 0) return "0";
  if (format_ != Format::kBinarySI) return DecimalText(nano_, format_);
  const Int128 units = nano_ / kNanosPerUnit;
  const bool small = units > -1024 && units < 1024;
  if (small || nano_ % kNanosPerUnit != 0) return DecimalText(nano_, Format::kDecimalSI);
  return BinaryText(units);
}

int64_t Quantity::Value() const { return DivideAwayFromZero(nano_, kNanosPerUnit); }

int64_t Quantity::MilliValue() const { return DivideAwayFromZero(nano_, kNanosPerMilli); }

double Quantity::AsApproximateFloat() const {
  if (nano_ % kNanosPerUnit == 0) return static_cast<double>(nano_ / kNanosPerUnit);
  return static_cast<double>(nano_) / static_cast<double>(kNanosPerUnit);
}

Quantity Quantity::WithFormat(Format format) const {
  Quantity quantity = *this;
  quantity.format_ = format;
  return quantity;
}

void Quantity::Add(const Quantity& other) {
  if (IsZero()) format_ = other.format_;
  nano_ = SaturatingAdd(nano_, other.nano_);
}

void Quantity::Sub(const Quantity& other) {
  if (IsZero()) format_ = other.format_;
  nano_ = SaturatingAdd(nano_, -other.nano_);
}

int Compare(const Quantity& a, const Quantity& b) {
  if (a.nano_ == b.nano_) return 0;
  return a.nano_ < b.nano_ ? -1 : 1;
}

}  // namespace kube
