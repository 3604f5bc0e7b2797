// Divides replicas among clusters as karmada-scheduler does, as pure functions.
#ifndef SANDBOX_SIM_REPLICA_DIVISION_H_
#define SANDBOX_SIM_REPLICA_DIVISION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/binding.h"

namespace sandbox {

struct Party {
  std::string name;
  int64_t weight = 0;
};

// Divides as api::DivideByWeight does (`tie_break` is the template's uid). The result is sorted by
// name; parties without a seat are left out.
std::vector<api::TargetCluster> DivideByWeight(int64_t seats, absl::Span<const Party> parties,
                                               absl::string_view tie_break);

// A cluster that may get replicas according to its room.
struct Capacity {
  std::string name;
  int64_t room = 0;      // How many more replicas fit.
  int64_t assigned = 0;  // How many replicas it has now.
};
struct DynamicDivision {
  int64_t replicas = 0;
  bool aggregated = false;  // Use as few clusters as possible; otherwise spread by room.
  bool fresh = false;       // Ignore the present replicas.
  std::string tie_break;
};
// Divides for dynamicWeight AvailableReplicas and for Aggregated. kResourceExhausted when there is
// not enough room.
absl::StatusOr<std::vector<api::TargetCluster>> DivideByRoom(std::vector<Capacity> clusters,
                                                             const DynamicDivision& how);

}  // namespace sandbox

#endif  // SANDBOX_SIM_REPLICA_DIVISION_H_
