// Applies objects from files to a simulated control plane, in an order in which each finds what it
// refers to.
#ifndef LENS_PLAN_APPLYING_H_
#define LENS_PLAN_APPLYING_H_

#include <vector>

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/input.h"

namespace lens::plan {

// Returns whether the object has a part in a plan. Of Karmada's own kinds only policies, overrides,
// Clusters and customizations of the interpreter have.
bool IsSimulated(const kube::Object& object);

// Returns whether the object is what a plan takes as given: a Cluster, a definition of a kind, or
// one that has no part in a plan.
bool IsScenery(const kube::Object& object);

// Collects the problems of all calls, so that one run reports all of them.
class Applying {
 public:
  // REQUIRES: `plane` outlives this object.
  explicit Applying(DryControlPlane& plane) : plane_(plane) {}

  // Makes the kinds of the objects served. Call it before any Cluster is applied, which reports
  // what is served.
  void ServeKinds(const std::vector<InputObject>& objects);
  // Takes fields that an object's kind does not have for problems: the server would drop them.
  // Call it after ServeKinds.
  void CheckFields(const std::vector<InputObject>& objects);
  // kInvalidArgument has a line for each object that was refused, here or in an earlier call.
  absl::Status Apply(const std::vector<InputObject>& objects);
  // Applies what has a part only in questions about the fleet: ClusterTaintPolicies and
  // FederatedResourceQuotas.
  absl::Status ApplyForFleet(const std::vector<InputObject>& objects);
  // Adds clusters with the names member1, member2 and so on.
  absl::Status InventClusters(int count);

 private:
  void Add(const InputObject& read, const absl::Status& status);

  DryControlPlane& plane_;
  Problems problems_;
};

}  // namespace lens::plan

#endif  // LENS_PLAN_APPLYING_H_
