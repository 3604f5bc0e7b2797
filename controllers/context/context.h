// What controllers share; their Register functions take it.
#ifndef CONTROLLERS_CONTEXT_CONTEXT_H_
#define CONTROLLERS_CONTEXT_CONTEXT_H_

#include <memory>
#include <string>

#include "base/clock.h"
#include "config/options.h"
#include "config/release.h"
#include "controllers/context/member_inventory.h"
#include "controllers/context/served_clusters.h"
#include "interpreter/interpreter.h"
#include "kube/cache/informer.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"
#include "works/edit_times.h"
#include "works/member_changes.h"
#include "works/member_objects.h"
#include "works/rechecks.h"
#include "works/work_status_writer.h"

namespace kube {
class Shadow;
}

namespace controllers {

// Returns who puts back what others change in members, as the release does.
works::Repairs RepairsOf(config::Release release);

// Returns the rate limits of queues that the flags set.
kube::RateLimiterOptions RateLimiterOf(const config::RateLimits& limits);

// Copies refer to the same things. REQUIRES: everything it refers to outlives the manager's Run.
struct Context {
  kube::Manager& manager;  // Runs the controllers, on the control plane.
  kube::ClusterSet& members;
  works::MemberObjects& objects;  // Writes and watches Karmada's objects in members.
  MemberInventory& inventory;     // Watches other objects of members.
  works::WorkStatusWriter& status;
  works::Rechecks& rechecks;
  const interpreter::Interpreter& interpreter;
  kube::WatchedKinds& kinds;  // Watches kinds of the control plane that have no Resource in api/.
  const config::Options& options;
  // With --shadow: goes over every transport that a loop makes for itself; else nullptr.
  std::shared_ptr<kube::Shadow> shadow = nullptr;
  ServedClusters served = {};              // In which clusters the loops act.
  works::EditTimes* edit_times = nullptr;  // Optional.

  const base::Clock& clock() const { return manager.clock(); }
  // Returns the informer of a resource of the control plane. For Register functions only: a
  // controller that reads the resource in Reconcile declares that with ControllerBuilder::Reads.
  std::shared_ptr<kube::Informer> InformerOf(const kube::Resource& resource) const {
    return manager.cluster().informers().Get(resource);
  }
  // Returns a builder for a controller whose queue has the rate limits of the flags.
  kube::ControllerBuilder NewController(absl::string_view name, int workers) const;
  // The rate limits of the flags.
  kube::RateLimiterOptions RateLimiter() const;
};

// Declares that the controller reads Clusters and Secrets: a member whose Secret has not been
// listed yet would look like one without credentials.
kube::ControllerBuilder& ReadsCredentials(kube::ControllerBuilder& builder);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_CONTEXT_H_
