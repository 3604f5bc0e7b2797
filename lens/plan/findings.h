// What a plan warns of: policies that match nothing, clusters that do not exist, overrides that
// cannot be applied, dependencies that are missing.
#ifndef LENS_PLAN_FINDINGS_H_
#define LENS_PLAN_FINDINGS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "config/options.h"
#include "kube/meta/names.h"
#include "lens/plan/dry_loops.h"
#include "lens/plan/input.h"
#include "lens/plan/outcome.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

namespace finding {

// Names of findings, for programs that read them.
inline constexpr char kNoPolicy[] = "no-policy";
inline constexpr char kSelectsNothing[] = "selects-nothing";
inline constexpr char kNoSuchCluster[] = "no-such-cluster";
inline constexpr char kNoClusterMatches[] = "no-cluster-matches";
inline constexpr char kClusterNotReady[] = "cluster-not-ready";
inline constexpr char kAgentSilent[] = "agent-silent";
inline constexpr char kPreemptionOff[] = "preemption-off";
inline constexpr char kOldPurgeMode[] = "old-purge-mode";
inline constexpr char kOverrideFails[] = "override-fails";
inline constexpr char kHeldBack[] = "held-back";
inline constexpr char kNotScheduled[] = "not-scheduled";
inline constexpr char kDependencyMissing[] = "dependency-missing";
inline constexpr char kKindAssumed[] = "kind-assumed";
inline constexpr char kNotSimulated[] = "not-simulated";
inline constexpr char kLoopWarning[] = "loop-warning";
// Those of what-if (fates.h).
inline constexpr char kNoRoom[] = "no-room";
inline constexpr char kPinned[] = "pinned";
inline constexpr char kQuota[] = "quota";
inline constexpr char kNowhere[] = "nowhere";
inline constexpr char kStays[] = "stays";
inline constexpr char kLeftBehind[] = "left-behind";

// All of them.
inline constexpr const char* kAll[] = {
    kNoPolicy,     kSelectsNothing, kNoSuchCluster, kNoClusterMatches, kPreemptionOff,
    kOldPurgeMode, kOverrideFails,  kHeldBack,      kNotScheduled,     kDependencyMissing,
    kKindAssumed,  kNotSimulated,   kLoopWarning,   kNoRoom,           kPinned,
    kQuota,        kNowhere,        kStays,         kLeftBehind,       kClusterNotReady,
    kAgentSilent,
};

}  // namespace finding

struct Finding {
  Place place;          // Empty if no file has the object.
  std::string code;     // One of the names above.
  std::string object;   // "OverridePolicy shop/small"
  std::string message;  // A sentence without a full stop.

  friend auto operator<=>(const Finding&, const Finding&) = default;
};

// Everything that findings are made from.
struct Scene {
  const std::vector<InputObject>& objects;  // The files'.
  const Outcome& outcome;
  sandbox::Backend& backend;  // The simulated control plane, at rest.
  const config::Options& options;
  std::vector<LoopWarning> warnings;
  std::set<kube::Gvk> assumed_kinds;
};

// Returns the findings, sorted, each once.
std::vector<Finding> FindingsOf(const Scene& scene);

}  // namespace lens::plan

#endif  // LENS_PLAN_FINDINGS_H_
