// Hands every object to its controllers again from time to time (--resync-period).
#ifndef CONTROLLERS_PROCESS_RESYNC_H_
#define CONTROLLERS_PROCESS_RESYNC_H_

#include <string>

#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/cache/informer.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/periodic.h"

namespace controllers {

// Hands every object of the control plane, and of the members that are connected, to its
// controllers again, as at a start. Ends early when it is stopped.
void ResyncAll(const kube::InformerSet& control_plane, const kube::ClusterSet& members,
               const base::StopToken& stop);

// Resyncs the informers of the control plane and of the members that are connected, each time a
// period has passed since the last resync ended. The requests wait behind those of changes, and a
// pass that finds nothing to do writes nothing, as after a restart.
class Resync : public kube::Periodic {
 public:
  // REQUIRES: all arguments outlive the runnable, and the period is positive.
  Resync(absl::Duration period, const base::Clock& clock, const kube::InformerSet& control_plane,
         const kube::ClusterSet& members)
      : Periodic(clock), period_(period), control_plane_(control_plane), members_(members) {}

  std::string name() const override { return "resync"; }

 protected:
  absl::Duration Begin() override { return period_; }
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  const absl::Duration period_;
  const kube::InformerSet& control_plane_;
  const kube::ClusterSet& members_;
};

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_RESYNC_H_
