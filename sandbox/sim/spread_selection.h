// Chooses among the clusters that pass the filters for a binding, by its spread constraints, as
// karmada-scheduler does: pure functions.
#ifndef SANDBOX_SIM_SPREAD_SELECTION_H_
#define SANDBOX_SIM_SPREAD_SELECTION_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/binding.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace sandbox {

// Room for everything, which is as much as upstream counts.
inline constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

inline constexpr int kNoTier = -1;

// A cluster that passes the filters.
struct Candidate {
  kube::ObjectPtr cluster;
  int64_t assigned = 0;
  bool is_target = false;
  int64_t room = 0;
  // 0 for the affinity itself, i + 1 for its overflow i, kNoTier when none of them matches.
  int tier = 0;

  std::string name() const { return std::string(cluster->name()); }
  int64_t available() const { return room + assigned; }
};
using Candidates = std::vector<Candidate>;

// Orders candidates: by tier, then present targets first, then by room, then by name.
bool IsBetter(const Candidate& a, const Candidate& b);

// Returns for how many replicas there is room in all of them.
int64_t AvailableIn(const Candidates& chosen);

// Returns whether the placement divides replicas by weights that it names.
bool HasStaticWeight(const json::Value& placement);

// Applies the spread constraints. As upstream: those by region go before those by cluster, and
// those by zone and provider only leave out clusters that have none (MissingTopology).
// REQUIRES: the candidates are sorted, the best one first.
absl::StatusOr<Candidates> SelectBySpread(const api::BindingView& binding, Candidates candidates);

}  // namespace sandbox

#endif  // SANDBOX_SIM_SPREAD_SELECTION_H_
