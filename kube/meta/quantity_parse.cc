// Parses quantities (declared in quantity.h). Nearly all texts are short: ShortAmount reads them in
// one pass without memory. Anything else is split into its parts, with apimachinery's errors, and
// computed with decimals of any length.

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/meta/internal/decimal.h"
#include "kube/meta/quantity.h"

namespace kube {
namespace {

using internal::Decimal;

constexpr int kNano = -9;

absl::Status WrongFormat() {
  return absl::InvalidArgumentError(
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

// The parts of a quantity's text.
struct Parts {
  bool negative = false;
  absl::string_view whole;  // The digits before the point.
  absl::string_view fraction;
  absl::string_view suffix;
};

// Removes the leading characters that satisfy `accept` from `rest` and returns them.
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
  int64_t exponent = 0;  // The base is 2 for kBinarySI, 10 otherwise.
};

std::optional<Suffix> FindSuffix(absl::string_view text) {
  constexpr absl::string_view kDecimal = "num kMGTPE";  // Powers of 1000 from -3 on.
  constexpr absl::string_view kBinary = "KMGTPE";       // Powers of 1024 from 1 on.
  if (text.empty()) return Suffix{};
  if (text.size() > 2) return std::nullopt;
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
  return Suffix{Quantity::Format::kDecimalExponent, static_cast<int32_t>(exponent)};
}

// The magnitude value * 10^exponent.
struct Amount {
  int64_t value = 0;
  int64_t exponent = 0;
  bool binary = false;  // The suffix was a binary one.
};

// Parses what manifests usually have: few digits, with or without a point, and a suffix of one
// letter or a binary one up to Gi. Returns nullopt for any other text, valid or not. (This reads a
// Deployment's requests with a fifth of the instructions.)
std::optional<Amount> ShortAmount(absl::string_view text) {
  constexpr size_t kMostBytes = 18;  // The digits of so short a text fit an int64.
  constexpr int64_t kMostBeforeShift = int64_t{1} << 33;
  if (text.size() > kMostBytes) return std::nullopt;
  Amount amount;
  size_t at = 0;
  size_t point = text.size();
  for (; at < text.size() && (absl::ascii_isdigit(text[at]) || text[at] == '.'); ++at) {
    if (text[at] != '.') {
      amount.value = amount.value * 10 + (text[at] - '0');
    } else if (point != text.size()) {
      return std::nullopt;
    } else {
      point = at;
    }
  }
  if (at == 0) return std::nullopt;
  if (point < at) amount.exponent = -static_cast<int64_t>(at - point - 1);
  const std::optional<Suffix> suffix = FindSuffix(text.substr(at));
  if (!suffix.has_value()) return std::nullopt;
  if (suffix->format == Quantity::Format::kBinarySI) {
    constexpr int64_t kLargestShift = 30;
    const bool fits = suffix->exponent <= kLargestShift && amount.value < kMostBeforeShift;
    if (!fits || amount.exponent != 0) return std::nullopt;
    amount.binary = true;
    amount.value <<= suffix->exponent;
    return amount;
  }
  amount.exponent += suffix->exponent;
  if (amount.exponent < kNano) return std::nullopt;
  return amount;
}

// Returns the magnitude of any number, rounded and capped.
Decimal LongAmount(const Parts& parts, const Suffix& suffix) {
  const bool binary = suffix.format == Quantity::Format::kBinarySI;
  Decimal amount;
  amount.digits = internal::TimesPowerOfTwo(absl::StrCat(parts.whole, parts.fraction),
                                            binary ? suffix.exponent : 0);
  if (amount.IsZero()) return amount;
  amount.exponent = (binary ? 0 : suffix.exponent) - static_cast<int64_t>(parts.fraction.size());
  amount = internal::RoundedAwayFromZero(std::move(amount), kNano);
  // apimachinery caps quantities with a binary suffix at this value.
  const Decimal most = Decimal::Of(std::numeric_limits<int64_t>::max(), 0);
  if (binary && internal::Compare(amount, most) > 0) return most;
  return amount;
}

}  // namespace

absl::StatusOr<Quantity> Quantity::FromJson(const json::Value& value) {
  if (value.is_null()) return Quantity();
  if (value.is_string()) return Parse(value.AsString());
  if (value.is_int()) return FromInt(value.AsInt());
  return Parse(json::Write(value));
}

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  if (const std::optional<Amount> amount = ShortAmount(text)) {
    Quantity quantity;
    quantity.value_ = amount->value;
    quantity.scale_ = static_cast<int32_t>(amount->exponent);
    quantity.format_ = amount->binary ? Format::kBinarySI : Format::kDecimalSI;
    return quantity;
  }
  ASSIGN_OR_RETURN(const Parts parts, Split(text));
  ASSIGN_OR_RETURN(const Suffix suffix, ParseSuffix(parts.suffix));
  Decimal amount = LongAmount(parts, suffix);
  // A fraction of one is not shown with binary suffixes.
  const bool fraction = internal::Compare(amount, Decimal::Of(1, 0)) < 0 && !amount.IsZero();
  const bool binary = suffix.format == Format::kBinarySI;
  amount.negative = parts.negative && !amount.IsZero();
  return Of(std::move(amount), binary && fraction ? Format::kDecimalSI : suffix.format);
}

}  // namespace kube
