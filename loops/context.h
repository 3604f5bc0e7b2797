// What controllers share; each one's Register function takes it.
#ifndef LOOPS_CONTEXT_H_
#define LOOPS_CONTEXT_H_

#include <memory>
#include <string>

#include "base/clock.h"
#include "config/options.h"
#include "interpreter/interpreter.h"
#include "kube/cache/informer.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"
#include "loops/member_inventory.h"
#include "works/binding_rechecks.h"
#include "works/member_objects.h"
#include "works/work_status_writer.h"

namespace loops {

// Copies refer to the same things. REQUIRES: all of them outlive the manager's Run.
struct Context {
  kube::Manager& manager;  // Runs the controllers, on the control plane.
  kube::ClusterSet& members;
  works::MemberObjects& objects;  // In members.
  MemberInventory& inventory;     // What members have that is not Karmada's.
  works::WorkStatusWriter& status;
  works::BindingRechecks& rechecks;
  const interpreter::Interpreter& interpreter;
  kube::WatchedKinds& kinds;  // Watches kinds of the control plane that have no Resource in api/.
  const config::Options& options;

  const base::Clock& clock() const { return manager.clock(); }
  // A resource of the control plane. For Register functions only: whoever reads it in Reconcile
  // declares that with ControllerBuilder::Reads.
  std::shared_ptr<kube::Informer> InformerOf(const kube::Resource& resource) const {
    return manager.cluster().informers().Get(resource);
  }
  // A controller whose queue has the rate limits of the flags.
  kube::ControllerBuilder NewController(absl::string_view name, int workers) const;
  // The rate limits of the flags.
  kube::RateLimiterOptions RateLimiter() const;
};

// Declares what has to be known before a member can be talked to: a member whose Secret has not
// been listed yet would look like one without.
kube::ControllerBuilder& ReadsCredentials(kube::ControllerBuilder& builder);

}  // namespace loops

#endif  // LOOPS_CONTEXT_H_
