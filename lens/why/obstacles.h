// Why the scheduler does not choose a cluster: the filters of karmada-scheduler, over a chain.
#ifndef LENS_WHY_OBSTACLES_H_
#define LENS_WHY_OBSTACLES_H_

#include <string>

#include "api/cluster.h"
#include "kube/meta/object.h"

namespace lens::why {

// In the order of nearness: a cluster that fails only for a later one is nearer to being chosen.
enum class ObstacleKind {
  kNone,
  kAffinity,
  kApi,
  kApiVersion,  // It serves the kind, in other versions.
  kTaint,
  kCordoned,
  kNotReady,
  kTopology,
  kEviction,
  kDeleting
};

// Returns "maintenance=yes:NoExecute".
std::string TaintText(const api::Taint& taint);

struct Obstacle {
  ObstacleKind kind = ObstacleKind::kNone;
  std::string text;  // Goes after the cluster's name: "does not serve apps/v1 Deployment".
};

// Returns the first filter that the cluster does not pass for the binding.
Obstacle ObstacleIn(const kube::Object& binding, const kube::Object& cluster);

}  // namespace lens::why

#endif  // LENS_WHY_OBSTACLES_H_
