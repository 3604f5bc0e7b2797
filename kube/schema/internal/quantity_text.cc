#include "kube/schema/internal/quantity_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/quantity.h"

namespace kube::schema::internal {

namespace {

struct Suffix {
  absl::string_view text;
  int exponent;
};
constexpr Suffix kDecimal[] = {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0},   {"k", 3},
                               {"M", 6},  {"G", 9},  {"T", 12}, {"P", 15}, {"E", 18}};
constexpr Suffix kBinary[] = {{"Ki", 10}, {"Mi", 20}, {"Gi", 30},
                              {"Ti", 40}, {"Pi", 50}, {"Ei", 60}};

template <size_t n>
std::optional<int> ExponentOf(absl::string_view text, const Suffix (&suffixes)[n]) {
  const auto* const found = std::find_if(std::begin(suffixes), std::end(suffixes),
                                         [&](const Suffix& suffix) { return suffix.text == text; });
  if (found == std::end(suffixes)) return std::nullopt;
  return found->exponent;
}

// Returns the power of ten for a decimal suffix or an exponent ("e3").
std::optional<int> DecimalExponentOf(absl::string_view suffix) {
  if (const auto exponent = ExponentOf(suffix, kDecimal)) return exponent;
  int exponent = 0;
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E') ||
      !absl::SimpleAtoi(suffix.substr(1), &exponent)) {
    return std::nullopt;
  }
  return exponent;
}

// Removes the leading digits of `text` and returns them.
absl::string_view TakeDigits(absl::string_view& text) {
  const size_t count =
      std::find_if_not(text.begin(), text.end(), absl::ascii_isdigit) - text.begin();
  const absl::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// Returns whether ParseQuantity keeps the text of this valid quantity (its fast path).
bool IsKept(absl::string_view text) {
  if (text == "0") return true;
  if (absl::StartsWith(text, "-") || absl::StartsWith(text, "+")) text.remove_prefix(1);
  absl::string_view whole = TakeDigits(text);
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  absl::string_view fraction;
  if (absl::StartsWith(text, ".")) {
    text.remove_prefix(1);
    fraction = TakeDigits(text);
  }
  if (whole.empty()) return false;
  if (const auto exponent = ExponentOf(text, kBinary)) {
    int64_t number = 0;
    const int digits = static_cast<int>(whole.size());
    return fraction.empty() && 14 - digits - *exponent * 3 / 10 >= 0 &&
           absl::SimpleAtoi(whole, &number) && number % 8 != 0;
  }
  const auto exponent = DecimalExponentOf(text);
  const std::string digits = absl::StrCat(whole, fraction);
  const int scale = exponent.value_or(0) - static_cast<int>(fraction.size());
  return digits.size() <= 18 && scale >= -9 && scale % 3 == 0 && !absl::EndsWith(digits, "000");
}

}  // namespace

absl::StatusOr<std::string> QuantityText(absl::string_view text) {
  ASSIGN_OR_RETURN(const kube::Quantity quantity, kube::Quantity::Parse(text));
  return IsKept(text) ? std::string(text) : quantity.ToString();
}

}  // namespace kube::schema::internal
