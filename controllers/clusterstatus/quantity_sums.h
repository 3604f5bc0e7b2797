// Sums of quantities by resource, from which what was added can be taken away again.
#ifndef CONTROLLERS_CLUSTERSTATUS_QUANTITY_SUMS_H_
#define CONTROLLERS_CLUSTERSTATUS_QUANTITY_SUMS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/json.h"
#include "controllers/clusterstatus/resource_models.h"
#include "kube/meta/quantity.h"

namespace controllers {

// Adding and taking away are exact for quantities that a double can hold. The format of a sum is
// binary where a part is, else decimal, else that with exponents: unlike in Go, where it is that of
// the first part, it does not depend on the order of the parts.
class QuantitySums {
 public:
  void Add(const Quantities& parts);
  // REQUIRES: these parts were added, and not taken away since.
  void Sub(const Quantities& parts);
  // With every resource that a part names, also where the sum is 0.
  json::Value ToJson() const;

 private:
  struct Sum {
    kube::Quantity total;
    int64_t parts = 0;
    std::array<int64_t, 3> formats{};  // How many parts that are not 0 have which format.
  };
  static kube::Quantity::Format FormatOf(const Sum& sum);

  std::map<std::string, Sum> sums_;
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTERSTATUS_QUANTITY_SUMS_H_
