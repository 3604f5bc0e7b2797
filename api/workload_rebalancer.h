// WorkloadRebalancer (apps.karmada.io/v1alpha1): a one-time request that the scheduler places some
// workloads anew, and what became of it for each of them.
#ifndef API_WORKLOAD_REBALANCER_H_
#define API_WORKLOAD_REBALANCER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/object_reference.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Values of ObservedWorkload::result, and of its reason.
inline constexpr char kRebalanceSuccessful[] = "Successful";
inline constexpr char kRebalanceFailed[] = "Failed";
inline constexpr char kReferencedBindingNotFound[] = "ReferencedBindingNotFound";

// An item of status.observedWorkloads. The workload has no uid and no resourceVersion.
struct ObservedWorkload {
  ObjectReference workload;
  std::string result;  // "" while nothing has come of it yet; another value is final.
  std::string reason;  // Why it failed; "" when it did not.

  static ObservedWorkload FromJson(const json::Value& item);
  json::Value ToJson() const;
  friend bool operator==(const ObservedWorkload&, const ObservedWorkload&) = default;
};

// Reads one WorkloadRebalancer. The object must outlive the view and stay unchanged.
class WorkloadRebalancerView {
 public:
  explicit WorkloadRebalancerView(const kube::Object& object) : object_(object) {}
  explicit WorkloadRebalancerView(kube::Object&&) = delete;

  // spec.workloads. A workload without a namespace is one of a cluster-scoped kind.
  std::vector<ObjectReference> Workloads() const;
  // How long the object stays after it has finished; nullopt: for good.
  std::optional<absl::Duration> TtlAfterFinished() const;

  std::vector<ObservedWorkload> ObservedWorkloads() const;
  // nullopt when it has not finished yet (or carries no time that can be read).
  std::optional<absl::Time> FinishTime() const;

 private:
  const kube::Object& object_;
};

}  // namespace api

#endif  // API_WORKLOAD_REBALANCER_H_
