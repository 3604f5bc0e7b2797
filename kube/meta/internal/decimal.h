// Decimal numbers of any length: what a quantity's amount becomes when an int64 cannot hold it.
#ifndef KUBE_META_INTERNAL_DECIMAL_H_
#define KUBE_META_INTERNAL_DECIMAL_H_

#include <cstdint>
#include <optional>
#include <string>

namespace kube::internal {

// Numbers are not written out beyond this.
constexpr int64_t kMostDigits = 10'000;

// +-digits * 10^exponent. The digits have no leading zeros; there are none in 0.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;

  static Decimal Of(int64_t value, int64_t exponent);
  bool IsZero() const { return digits.empty(); }
};

// The number as value * 10^exponent, if an int64 can hold the value.
struct ShortDecimal {
  int64_t value = 0;
  int64_t exponent = 0;
};
std::optional<ShortDecimal> Shortened(const Decimal& number);

// -1, 0 or 1.
int Compare(const Decimal& a, const Decimal& b);

// Exact, unless the operands are so far apart that the sum would have more than kMostDigits:
// then the larger one.
Decimal Sum(const Decimal& a, const Decimal& b);

// The multiple of 10^exponent that is nearest among those at least as far from zero.
Decimal RoundedAwayFromZero(Decimal number, int64_t exponent);

// `digits` times 2^exponent, written out. REQUIRES: exponent is a multiple of 10, not negative.
std::string TimesPowerOfTwo(std::string digits, int64_t exponent);

// `digits` / 1024 if that leaves no remainder.
std::optional<std::string> DividedBy1024(const std::string& digits);

// All digits. REQUIRES: 0 <= number.exponent <= kMostDigits.
std::string WrittenOut(const Decimal& number);

}  // namespace kube::internal

#endif  // KUBE_META_INTERNAL_DECIMAL_H_
