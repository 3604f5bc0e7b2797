#include "controllers/cluster_status/quantity_sums.h"

#include <cstddef>

namespace controllers {

using Format = kube::Quantity::Format;

void QuantitySums::Add(const Quantities& parts) {
  for (const auto& [name, q] : parts) {
    Sum& sum = sums_[name];
    ++sum.parts;
    sum.total.Add(q);
    if (!q.IsZero()) ++sum.formats[static_cast<size_t>(q.format())];
  }
}

void QuantitySums::Sub(const Quantities& parts) {
  for (const auto& [name, q] : parts) {
    const auto found = sums_.find(name);
    Sum& sum = found->second;
    sum.total.Sub(q);
    if (!q.IsZero()) --sum.formats[static_cast<size_t>(q.format())];
    if (--sum.parts == 0) sums_.erase(found);
  }
}

json::Value QuantitySums::ToJson() const {
  json::Value out = json::Value::Object();
  for (const auto& [name, sum] : sums_) {
    out.Set(name, sum.total.WithFormat(FormatOf(sum)).ToString());
  }
  return out;
}

kube::Quantity::Format QuantitySums::FormatOf(const Sum& sum) {
  for (const Format format : {Format::kBinarySI, Format::kDecimalSI}) {
    if (sum.formats[static_cast<size_t>(format)] > 0) return format;
  }
  return Format::kDecimalExponent;
}

}  // namespace controllers
