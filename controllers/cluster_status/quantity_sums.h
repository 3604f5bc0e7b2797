// Sums of quantities by resource, from which parts can be subtracted again.
#ifndef CONTROLLERS_CLUSTER_STATUS_QUANTITY_SUMS_H_
#define CONTROLLERS_CLUSTER_STATUS_QUANTITY_SUMS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "base/json.h"
#include "controllers/cluster_status/resource_models.h"
#include "kube/meta/quantity.h"

namespace controllers {

// Adding and subtracting are exact for quantities that a double can hold. The format of a sum is
// binary if any part's is, else decimal if any part's is, else that with exponents. Unlike in Go,
// where it is that of the first part, it does not depend on the order of the parts.
class QuantitySums {
 public:
  void Add(const Quantities& parts);
  // REQUIRES: these parts were added, and not subtracted since.
  void Sub(const Quantities& parts);
  // Returns every resource that a part names, also where the sum is 0.
  json::Value ToJson() const;

 private:
  struct Sum {
    kube::Quantity total;
    int64_t parts = 0;
    std::array<int64_t, 3> formats{};  // How many parts that are not 0 have each format.
  };
  static kube::Quantity::Format FormatOf(const Sum& sum);

  std::map<std::string, Sum> sums_;
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_QUANTITY_SUMS_H_
