// resource.Quantity: "100m", "1.5Gi", "2e3", with exact arithmetic and Kubernetes' canonical forms.
#ifndef KUBE_META_QUANTITY_H_
#define KUBE_META_QUANTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kube {

class Quantity {
 public:
  enum class Format { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity() = default;  // 0, DecimalSI.
  // Whole units, thousandths.
  static Quantity FromInt(int64_t value, Format format = Format::kDecimalSI);
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSI);
  // kInvalidArgument with apimachinery's messages. More than nano precision rounds up (away from
  // zero) and values with a binary suffix are capped at +-(2^63-1), as in resource.ParseQuantity;
  // others are capped near +-1.7e29.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  // The canonical text ("1Gi" for 1024Mi, "1500m" for 1.5, "1e3" stays exponent form), also where
  // Go's String() repeats the text that was parsed ("1.500").
  std::string ToString() const;
  Format format() const { return format_; }
  bool IsZero() const { return nano_ == 0; }
  int Sign() const { return nano_ < 0 ? -1 : nano_ > 0; }
  // Whole units and thousandths, rounded up (away from zero), saturating at int64.
  int64_t Value() const;
  int64_t MilliValue() const;
  double AsApproximateFloat() const;
  Quantity WithFormat(Format format) const;

  // The format of a sum is that of the left operand, unless that is zero (then the right one's).
  void Add(const Quantity& other);
  void Sub(const Quantity& other);
  friend int Compare(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b) { return Compare(a, b) == 0; }
  friend bool operator<(const Quantity& a, const Quantity& b) { return Compare(a, b) < 0; }

 private:
  __extension__ using Int128 = __int128;
  Int128 nano_ = 0;  // The value in units of 10^-9: exact for everything the API accepts.
  Format format_ = Format::kDecimalSI;
};

}  // namespace kube

#endif  // KUBE_META_QUANTITY_H_
