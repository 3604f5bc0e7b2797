// Arithmetic on decimal digits as text, for amounts that an int64 cannot hold. It is slow, and only
// used where the fast path of Quantity overflows. Exponents are 64-bit and may be far apart, so
// every function that would write digits out first compares their number with a limit: a text of
// ten bytes ("1e999999999") must not take gigabytes.

#include "kube/meta/internal/decimal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kube::internal {

namespace {

void DropLeadingZeros(std::string& digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

// Returns how many digits stand before the point.
int64_t WholeDigits(const Decimal& number) {
  return static_cast<int64_t>(number.digits.size()) + number.exponent;
}

int CompareMagnitudes(const Decimal& a, const Decimal& b) {
  if (a.IsZero() || b.IsZero()) return static_cast<int>(b.IsZero()) - static_cast<int>(a.IsZero());
  if (WholeDigits(a) != WholeDigits(b)) return WholeDigits(a) < WholeDigits(b) ? -1 : 1;
  const size_t shared = std::min(a.digits.size(), b.digits.size());
  const int order = a.digits.compare(0, shared, b.digits, 0, shared);
  if (order != 0) return order < 0 ? -1 : 1;
  const bool a_goes_on = a.digits.find_first_not_of('0', shared) != std::string::npos;
  const bool b_goes_on = b.digits.find_first_not_of('0', shared) != std::string::npos;
  return static_cast<int>(a_goes_on) - static_cast<int>(b_goes_on);
}

// Returns a + b or, if `sign` is -1, a - b, of numbers of the same length. REQUIRES: the result is
// not negative, and a difference has no more digits than a and b.
std::string AddDigits(const std::string& a, const std::string& b, int sign) {
  std::string sum(a.size(), '0');
  int carry = 0;
  for (size_t i = a.size(); i-- > 0;) {
    int digit = (a[i] - '0') + sign * (b[i] - '0') + carry;
    carry = digit < 0 ? -1 : digit / 10;
    digit -= carry * 10;
    sum[i] = static_cast<char>('0' + digit);
  }
  if (carry > 0) sum.insert(0, "1");
  return sum;
}

}  // namespace

Decimal Decimal::Of(int64_t value, int64_t exponent) {
  Decimal number;
  if (value == 0) return number;
  number.negative = value < 0;
  number.digits = absl::StrCat(value).substr(number.negative ? 1 : 0);
  number.exponent = exponent;
  return number;
}

std::optional<ShortDecimal> Shortened(const Decimal& number) {
  if (number.IsZero()) return ShortDecimal{};
  const size_t kept = number.digits.find_last_not_of('0') + 1;
  // Zeros are only dropped as far as needed to fit: "100" stays.
  constexpr size_t kInt64Digits = 19;
  const size_t size = std::max(kept, std::min(number.digits.size(), kInt64Digits - 1));
  ShortDecimal out;
  if (!absl::SimpleAtoi(absl::string_view(number.digits).substr(0, size), &out.value)) {
    return std::nullopt;
  }
  if (number.negative) out.value = -out.value;
  out.exponent = number.exponent + static_cast<int64_t>(number.digits.size() - size);
  return out;
}

int Compare(const Decimal& a, const Decimal& b) {
  if (a.IsZero() && b.IsZero()) return 0;
  const bool a_below = a.negative && !a.IsZero();
  const bool b_below = b.negative && !b.IsZero();
  if (a_below != b_below) return a_below ? -1 : 1;
  return a_below ? -CompareMagnitudes(a, b) : CompareMagnitudes(a, b);
}

Decimal Sum(const Decimal& a, const Decimal& b) {
  const int order = CompareMagnitudes(a, b);
  const Decimal& large = order < 0 ? b : a;
  const Decimal& small = order < 0 ? a : b;
  if (small.IsZero()) return large;
  Decimal sum = large;
  sum.exponent = std::min(large.exponent, small.exponent);
  // The smaller number would not change a digit that is kept.
  if (WholeDigits(large) - sum.exponent > kMostDigits) return large;
  const auto aligned = [&](const Decimal& number) {
    std::string digits = number.digits;
    digits.append(static_cast<size_t>(number.exponent - sum.exponent), '0');
    return digits;
  };
  const std::string upper = aligned(large);
  std::string lower = aligned(small);
  lower.insert(0, upper.size() - lower.size(), '0');
  sum.digits = AddDigits(upper, lower, a.negative == b.negative ? 1 : -1);
  DropLeadingZeros(sum.digits);
  if (sum.IsZero()) return Decimal();
  return sum;
}

Decimal RoundedAwayFromZero(Decimal number, int64_t exponent) {
  if (number.IsZero() || number.exponent >= exponent) return number;
  const int64_t size = static_cast<int64_t>(number.digits.size());
  const int64_t kept = std::max<int64_t>(WholeDigits(number) - exponent, 0);
  // What is cut off is zeros only.
  const bool exact = kept <= size && number.digits.find_first_not_of(
                                         '0', static_cast<size_t>(kept)) == std::string::npos;
  number.digits.resize(static_cast<size_t>(kept));
  number.exponent = exponent;
  if (exact) return number;
  Decimal one = Decimal::Of(1, exponent);
  one.negative = number.negative;
  return number.IsZero() ? one : Sum(number, one);
}

std::string TimesPowerOfTwo(std::string digits, int64_t exponent) {
  // A factor of 1024 at a time keeps the carry small.
  for (; exponent > 0; exponent -= 10) {
    int carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      carry += (*digit - '0') * 1024;
      *digit = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    digits.insert(0, absl::StrCat(carry));
  }
  DropLeadingZeros(digits);
  return digits;
}

std::optional<std::string> DividedBy1024(const std::string& digits) {
  std::string quotient;
  int rest = 0;
  for (const char digit : digits) {
    rest = rest * 10 + (digit - '0');
    quotient.push_back(static_cast<char>('0' + rest / 1024));
    rest %= 1024;
  }
  if (rest != 0) return std::nullopt;
  DropLeadingZeros(quotient);
  return quotient;
}

std::string WrittenOut(const Decimal& number) {
  std::string digits = number.digits;
  digits.append(static_cast<size_t>(number.exponent), '0');
  return digits;
}

}  // namespace kube::internal
