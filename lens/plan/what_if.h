// What a change of the fleet would do to the workloads: the whole of "what if member1 were lost?".
#ifndef LENS_PLAN_WHAT_IF_H_
#define LENS_PLAN_WHAT_IF_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lens/plan/dry_failover.h"
#include "lens/plan/findings.h"
#include "lens/plan/fleet_edit.h"
#include "lens/plan/outcome.h"

namespace lens::plan {

// What becomes of a template. Their names are codes of --fail-on, too.
enum class Verdict {
  kUnchanged,
  kMoves,        // It leaves a cluster, or has fewer replicas there, and others get what it loses.
  kSpreads,      // It comes to a cluster, or has more replicas there, and leaves none.
  kShrinks,      // It leaves a cluster; its other clusters go on, and none gets more.
  kNoRoom,       // There is no room for all or a part of it.
  kPinned,       // Its placement cannot be met: it has to leave, and no other cluster may have it.
  kQuota,        // A FederatedResourceQuota refuses its new placement.
  kNowhere,      // It leaves its last cluster, and nothing places it again: that is suspended.
  kStays,        // It is in a cluster that is lost or that it should leave, and nothing moves it.
  kNotSimulated  // It leaves a cluster or is placed again; where it goes is not known here.
};
// Returns "unchanged", "moves", "spreads", "shrinks", "no-room", "pinned", "quota", "nowhere",
// "stays" or "not-simulated".
absl::string_view NameOf(Verdict verdict);
// All but "unchanged".
inline constexpr Verdict kVerdicts[] = {
    Verdict::kMoves, Verdict::kSpreads, Verdict::kShrinks, Verdict::kNoRoom,      Verdict::kPinned,
    Verdict::kQuota, Verdict::kNowhere, Verdict::kStays,   Verdict::kNotSimulated};

// How a template leaves a cluster, and whether two copies run meanwhile.
struct Leaving {
  enum class How {
    kAtOnce,     // The scheduler takes it away; its object is deleted while others are created.
    kGradually,  // Its copy stays until all others are healthy, `at_most` so long.
    kFirst,      // Its copy has to be gone before another one starts.
    kFollows,    // It is where what needs it is, and goes when that has gone.
  };
  std::string cluster;
  How how = How::kAtOnce;
  absl::Duration after;    // From the change on, until it begins.
  absl::Duration at_most;  // Not for kAtOnce.
  // True: the cluster does not answer, so that the copy there goes only when it answers again.
  bool is_lost = false;
  // True: the cluster leaves the fleet and does not answer, so that the copy there is not deleted.
  bool is_abandoned = false;

  std::string with;  // For kFollows: what needs it.

  // Returns a sentence without a full stop, such as "leaves member1 at once: ...".
  std::string ToString() const;
};

struct Fate {
  Verdict verdict = Verdict::kUnchanged;
  std::vector<Leaving> leaves;
  // For kNoRoom, kPinned and kQuota the scheduler's words, which may be ""; for kNowhere and
  // kNotSimulated why it is so; for kStays why the daemon does not know what it tolerates, or "".
  std::string why;
};

// The answer, beside the differences of a plan.
struct WhatIf {
  std::vector<std::string> changes;  // "member1 is lost"
  std::vector<std::string> notes;    // What that does by itself, and what keeps things from moving.
  std::map<ObjectId, Fate> fates;
  std::map<Verdict, size_t> counts;  // Of templates.
  // How long the evictions take together, because of --resource-eviction-rate.
  absl::Duration evictions_take;
};

}  // namespace lens::plan

#endif  // LENS_PLAN_WHAT_IF_H_
