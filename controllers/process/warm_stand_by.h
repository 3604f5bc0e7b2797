// Keeps the caches of the members warm in a process that does not lead, so that it need not read
// them when it does (--warm-stand-by).
#ifndef CONTROLLERS_PROCESS_WARM_STAND_BY_H_
#define CONTROLLERS_PROCESS_WARM_STAND_BY_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "controllers/context/context.h"
#include "kube/runtime/handler_registration.h"
#include "kube/runtime/periodic.h"

namespace controllers {

// Until the process leads, it follows the Clusters with their Secrets, and has the informers of the
// kinds that the Works of each cluster bring run there, as the leader has them; and those of the
// kinds of templates in the control plane. Then it ends, and the loops find them read.
//
// It only reads. Nodes, pods and EndpointSlices of members, which the leader reads as well, are not
// read.
class WarmStandBy : public kube::Periodic {
 public:
  // REQUIRES: what `context` refers to outlives the runnable.
  explicit WarmStandBy(const Context& context);

  std::string name() const override { return "warm stand-by"; }

 protected:
  absl::Duration Begin() override;
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  void NoteWork(const kube::Object& work);
  void NoteCluster(const kube::Object& cluster);
  void NoteSecret(const kube::Object& secret);
  bool CanBegin() const;
  // Has the informers of the cluster run. Returns whether nothing of it has to be tried again.
  bool Follow(const std::string& name, const base::StopToken& stop);
  std::set<kube::Gvk> KindsIn(const std::string& cluster) const;

  const Context context_;
  base::SteadyTime templates_due_ = base::SteadyTime::InfinitePast();
  mutable absl::Mutex mu_;
  std::map<std::string, std::set<kube::Gvk>> kinds_ ABSL_GUARDED_BY(mu_);  // By cluster.
  std::map<std::string, kube::ObjectKey> secrets_ ABSL_GUARDED_BY(mu_);    // By cluster.
  std::set<std::string> due_ ABSL_GUARDED_BY(mu_);                         // Clusters.
  std::vector<kube::HandlerRegistration> handlers_;                        // Destroyed first.
};

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_WARM_STAND_BY_H_
