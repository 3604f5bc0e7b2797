// Kubernetes' resource.Quantity ("100m", "1.5Gi", "2e3") with exact arithmetic and canonical forms.
#ifndef KUBE_META_QUANTITY_H_
#define KUBE_META_QUANTITY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace json {
class Value;
}  // namespace json

namespace kube {

namespace internal {
struct Decimal;
}  // namespace internal

class Quantity {
 public:
  enum class Format { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity() = default;  // Is 0 in DecimalSI.
  // The arguments are whole units and thousandths.
  static Quantity FromInt(int64_t value, Format format = Format::kDecimalSI);
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSI);
  // kInvalidArgument with apimachinery's messages. More than nano precision rounds up (away from
  // zero) and values with a binary suffix are capped at +-(2^63-1), as in resource.ParseQuantity;
  // other values have no bound ("1e400"). Only the lower 32 bits of an exponent count, as upstream.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);
  // Reads a field as API servers do: a text, or a number (beyond int64 as a double); null, and so a
  // field that is not there, is 0. kInvalidArgument as Parse.
  static absl::StatusOr<Quantity> FromJson(const json::Value& value);

  // Returns the canonical text ("1Gi" for 1024Mi, "1500m" for 1.5; "1e3" keeps its exponent), even
  // where Go's String() repeats the text that was parsed ("1.500").
  std::string ToString() const;
  Format format() const { return format_; }
  bool IsZero() const { return Sign() == 0; }
  int Sign() const;
  // Return whole units and thousandths, rounded up (away from zero) and limited to int64.
  int64_t Value() const;
  int64_t MilliValue() const;
  double AsApproximateFloat() const;  // Infinite beyond 1.8e308.
  Quantity WithFormat(Format format) const;

  // A sum has the format of the left operand, or of the right one if the left is zero. Sums are
  // exact up to ten thousand digits; if the operands are further apart the smaller one is lost.
  void Add(const Quantity& other);
  void Sub(const Quantity& other);
  friend int Compare(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b) { return Compare(a, b) == 0; }
  friend bool operator<(const Quantity& a, const Quantity& b) { return Compare(a, b) < 0; }

 private:
  using Decimal = internal::Decimal;

  static Quantity Of(Decimal number, Format format);
  Decimal AsDecimal() const;
  void AddSigned(const Quantity& other, int sign);

  // The amount is value_ * 10^scale_, the usual case, or large_ if it does not fit.
  int64_t value_ = 0;
  int32_t scale_ = 0;
  Format format_ = Format::kDecimalSI;
  std::shared_ptr<const Decimal> large_;
};

}  // namespace kube

#endif  // KUBE_META_QUANTITY_H_
