// Webster's (Sainte-Lague's) method: dividing a number of replicas in proportion to weights.
#ifndef API_WEBSTER_H_
#define API_WEBSTER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/binding.h"

namespace api {

// Divides `seats` over the parties, whose `replicas` are their weights (negative ones count as 0),
// exactly as upstream's helper does: seat after seat to the largest weight/(2*held+1) in double
// precision; among equals to the one with fewer seats, then to the smaller name, or to the larger
// name when the 32-bit FNV-1a hash of `uid` is odd (so that objects do not all favour the same
// cluster; "" means the smaller name).
//
// Returns every party with its share, sorted by name. All shares are 0 when no weight is positive.
// Takes O(parties^2) steps, however many seats there are.
std::vector<TargetCluster> DivideByWeight(int64_t seats, absl::Span<const TargetCluster> parties,
                                          absl::string_view uid);

}  // namespace api

#endif  // API_WEBSTER_H_
