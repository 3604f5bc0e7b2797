// Takes workloads off clusters where they stay unhealthy (upstream's
// pkg/controllers/applicationfailover).
#ifndef CONTROLLERS_APPLICATION_FAILOVER_APPLICATION_FAILOVER_RECONCILER_H_
#define CONTROLLERS_APPLICATION_FAILOVER_APPLICATION_FAILOVER_RECONCILER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "api/binding.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "config/feature_gates.h"
#include "interpreter/interpreter.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/member_objects.h"

namespace controllers {

template <class Scope>
class ApplicationFailoverReconciler : public kube::Reconciler {
 public:
  struct Deps {
    kube::Manager& manager;
    works::MemberObjects& objects;
    const interpreter::Interpreter& interpreter;
    const config::FeatureGates& gates;
  };
  // REQUIRES: everything in `deps` outlives the reconciler.
  explicit ApplicationFailoverReconciler(const Deps& deps);

  // The request's key names a binding of this scope.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // The clusters to leave now, and when to look again; unset for no more clusters.
  struct Due {
    std::vector<std::string> clusters;
    std::optional<absl::Duration> next;
  };

  bool Concerns(const kube::Object& binding) const;
  // Writes the moments that the binding lacks; returns the binding as it is then.
  absl::StatusOr<kube::ObjectPtr> RecordMoments(const kube::ObjectPtr& binding,
                                                const base::StopToken& stop);
  Due FindDue(const kube::Object& binding, const base::StopToken& stop);
  // Returns how long the eviction has to wait although its time has come; zero if it has not.
  absl::Duration WaitForProof(const kube::Object& binding, const std::string& cluster,
                              const base::StopToken& stop);
  // Returns how long ago this process first saw the workload unhealthy in the cluster.
  absl::Duration SeenFor(const kube::ObjectKey& binding, const std::string& cluster);
  // Forgets the binding's clusters but these.
  void ForgetAllBut(const kube::ObjectKey& binding, const std::vector<std::string>& clusters);
  // Evicts the clusters in one write. A cluster whose eviction is not possible is reported, and
  // does not hold up the others.
  absl::Status EvictFrom(const kube::ObjectPtr& binding, const std::vector<std::string>& clusters,
                         const base::StopToken& stop);

  const Deps deps_;
  kube::EventRecorder recorder_;
  absl::Mutex mu_;
  // When this process first saw a workload unhealthy, by binding and cluster.
  absl::flat_hash_map<kube::ObjectKey, absl::flat_hash_map<std::string, base::SteadyTime>> seen_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_APPLICATION_FAILOVER_APPLICATION_FAILOVER_RECONCILER_H_
