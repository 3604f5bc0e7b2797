// Decimal numbers of any length, for amounts of quantities that do not fit an int64.
#ifndef KUBE_META_INTERNAL_DECIMAL_H_
#define KUBE_META_INTERNAL_DECIMAL_H_

#include <cstdint>
#include <optional>
#include <string>

namespace kube::internal {

// Limits how many digits are computed and written.
constexpr int64_t kMostDigits = 10'000;

// The number +-digits * 10^exponent. `digits` has no leading zeros and is empty for 0.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;

  static Decimal Of(int64_t value, int64_t exponent);
  bool IsZero() const { return digits.empty(); }
};

// The number value * 10^exponent.
struct ShortDecimal {
  int64_t value = 0;
  int64_t exponent = 0;
};
std::optional<ShortDecimal> Shortened(const Decimal& number);

// Returns -1, 0 or 1.
int Compare(const Decimal& a, const Decimal& b);

// Returns the exact sum, or the larger operand if the sum would have more than kMostDigits.
Decimal Sum(const Decimal& a, const Decimal& b);

// Returns the nearest multiple of 10^exponent that is not closer to zero.
Decimal RoundedAwayFromZero(Decimal number, int64_t exponent);

// Returns the digits of `digits` * 2^exponent. REQUIRES: exponent is a multiple of 10, not
// negative.
std::string TimesPowerOfTwo(std::string digits, int64_t exponent);

// Returns `digits` / 1024 if there is no remainder.
std::optional<std::string> DividedBy1024(const std::string& digits);

// Returns all digits. REQUIRES: 0 <= number.exponent <= kMostDigits.
std::string WrittenOut(const Decimal& number);

}  // namespace kube::internal

#endif  // KUBE_META_INTERNAL_DECIMAL_H_
