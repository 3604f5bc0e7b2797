// The quota enforcement loop: what the bindings of a namespace use of its FederatedResourceQuotas
// (upstream's federated-resource-quota-enforcement-controller).
#ifndef CONTROLLERS_FEDERATED_QUOTA_QUOTA_ENFORCEMENT_RECONCILER_H_
#define CONTROLLERS_FEDERATED_QUOTA_QUOTA_ENFORCEMENT_RECONCILER_H_

#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "api/federated_resource_quota.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "controllers/federated_quota/usage_sums.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// status.overall is spec.overall, and status.overallUsed the sum of what all ResourceBindings of
// the namespace use of it. Thread-safe.
class QuotaEnforcementReconciler : public kube::Reconciler {
 public:
  // `period` is the time after which a quota is added up again without any event. `sums` is told of
  // each change of a binding; nullptr: bindings are counted in each pass. REQUIRES: `manager`
  // outlives the reconciler.
  QuotaEnforcementReconciler(kube::Manager& manager, absl::Duration period,
                             std::shared_ptr<UsageSums> sums = nullptr);

  // The request names a FederatedResourceQuota.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

  // How long the quota has to stay as it is before less than it says is written, and how long this
  // can be put off.
  static constexpr absl::Duration kSettled = absl::Seconds(2);
  static constexpr absl::Duration kLongestWait = absl::Seconds(30);

 private:
  struct Lowering {
    std::string version;     // The resourceVersion of the quota that is to be lowered,
    base::SteadyTime seen;   // when it was seen first,
    base::SteadyTime begun;  // and when the first of these versions was.
  };

  struct Pass {
    absl::Status status;
    bool changed = false;
    absl::Duration wait;  // Until the next one.
  };

  Pass AddUp(const kube::ObjectPtr& quota, const base::StopToken& stop);
  absl::StatusOr<bool> Write(const kube::ObjectPtr& quota, const kube::Object& after,
                             const base::StopToken& stop);
  // Bindings whose requests cannot be read are left out, and are errors.
  UsageSum UsedIn(absl::string_view ns) const;
  // Returns how long to wait before the quota may be lowered; 0: it may.
  absl::Duration UntilLowered(const kube::Object& quota);
  // Reports limits of resources that are never counted, unless that has been done.
  void ReportUncounted(const kube::Object& quota);

  kube::Manager& manager_;
  const absl::Duration period_;
  const std::shared_ptr<UsageSums> sums_;
  kube::EventRecorder recorder_;
  absl::Mutex mu_;
  std::map<std::string, Lowering> lowerings_ ABSL_GUARDED_BY(mu_);  // By the quota's key.
  // By the quota's key: its uid, and the event about resources that are never counted. If it is
  // empty, the event is recorded once more, and written if the server does not have it.
  std::map<std::string, std::pair<std::string, std::string>> reported_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_QUOTA_QUOTA_ENFORCEMENT_RECONCILER_H_
