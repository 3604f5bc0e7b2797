// A quantity that can be parsed prints a text that parses to the same quantity.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/meta/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto quantity = kube::Quantity::Parse(text);
  if (!quantity.ok()) return 0;
  const auto again = kube::Quantity::Parse(quantity->ToString());
  if (!again.ok() || !(*again == *quantity)) std::abort();
  kube::Quantity doubled = *quantity;
  doubled.Add(*quantity);
  if (doubled.Sign() != quantity->Sign()) std::abort();
  quantity->Value();
  quantity->MilliValue();
  quantity->AsApproximateFloat();
  return 0;
}
