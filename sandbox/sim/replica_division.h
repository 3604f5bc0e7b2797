// How karmada-scheduler divides a number of replicas among clusters, as pure functions.
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

// Webster's method (Sainte-Lague): one seat at a time to the party with the largest
// weight/(2*seats+1). Ties go to the party with fewer seats, then by name: ascending, or descending
// when the FNV-1a hash of `tie_break` (the template's uid) is odd. Sorted by name; parties without
// a seat are left out.
std::vector<api::TargetCluster> DivideByWeight(int64_t seats, absl::Span<const Party> parties,
                                               absl::string_view tie_break);

// A cluster that may get replicas according to what it has room for.
struct Capacity {
  std::string name;
  int64_t room = 0;      // How many more fit.
  int64_t assigned = 0;  // How many it has now.
};
struct DynamicDivision {
  int64_t replicas = 0;
  bool aggregated = false;  // As few clusters as possible; else spread by room.
  bool fresh = false;       // Ignores what clusters have now.
  std::string tie_break;
};
// dynamicWeight AvailableReplicas and Aggregated. kResourceExhausted when there is not enough room.
absl::StatusOr<std::vector<api::TargetCluster>> DivideByRoom(std::vector<Capacity> clusters,
                                                             const DynamicDivision& how);

}  // namespace sandbox

#endif  // SANDBOX_SIM_REPLICA_DIVISION_H_
