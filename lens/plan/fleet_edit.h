// What a plan asks about: "what if member1 were lost?" One change of one Cluster.
#ifndef LENS_PLAN_FLEET_EDIT_H_
#define LENS_PLAN_FLEET_EDIT_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/cluster.h"
#include "kube/meta/object.h"

namespace lens::plan {

struct FleetEdit {
  enum class Kind { kWithout, kLost, kTaint, kLabel, kCapacity, kJoin };
  Kind kind = Kind::kWithout;
  std::string cluster;
  // True: the taint or the label is taken off.
  bool removes = false;
  // What kTaint adds or takes off; then an empty effect stands for any.
  api::Taint taint = {};
  std::string key = {}, value = {};                 // The label of kLabel.
  std::map<std::string, std::string> amounts = {};  // Quantities of kCapacity.
  kube::Object joining = {};                        // The Cluster of kJoin.

  // Returns "member1 is lost", "member1 gets the taint key=value:NoExecute" and so on.
  std::string ToString() const;
};

// The taint of --drain.
inline constexpr char kDrainTaint[] = "drain";

FleetEdit Without(absl::string_view cluster);
FleetEdit Lost(absl::string_view cluster);
FleetEdit Drained(absl::string_view cluster);
FleetEdit Cordoned(absl::string_view cluster);
FleetEdit Uncordoned(absl::string_view cluster);
// kInvalidArgument unless the object is a Cluster.
absl::StatusOr<FleetEdit> Joining(const kube::Object& cluster);

// These read the values of flags, as kubectl has them behind the name of the cluster:
// "C:key=value:Effect", "C:key:Effect", "C:key:Effect-", "C:key-"; "C:key=value", "C:key-";
// "C:cpu=10,memory=20Gi". kInvalidArgument says what the form is.
absl::StatusOr<FleetEdit> ParseTaint(absl::string_view text);
absl::StatusOr<FleetEdit> ParseLabel(absl::string_view text);
absl::StatusOr<FleetEdit> ParseCapacity(absl::string_view text);

// Returns the Cluster as it would be. A lost one is not ready, or unknown if an agent reports it.
// REQUIRES: the edit is neither kWithout nor kJoin.
kube::Object Edited(const kube::Object& cluster, const FleetEdit& edit, absl::Time now);

}  // namespace lens::plan

#endif  // LENS_PLAN_FLEET_EDIT_H_
