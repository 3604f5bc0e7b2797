// WorkloadRebalancer (apps.karmada.io/v1alpha1): a one-time request to schedule some workloads
// again, and the result for each of them.
#ifndef API_WORKLOAD_REBALANCER_H_
#define API_WORKLOAD_REBALANCER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/object_reference.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Values of ObservedWorkload::result and ObservedWorkload::reason.
inline constexpr char kRebalanceSuccessful[] = "Successful";
inline constexpr char kRebalanceFailed[] = "Failed";
inline constexpr char kReferencedBindingNotFound[] = "ReferencedBindingNotFound";

// An item of status.observedWorkloads. The workload has no uid and no resourceVersion.
struct ObservedWorkload {
  ObjectReference workload;
  std::string result;  // "" while there is no result; other values are final.
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

  // Returns spec.workloads. A workload without a namespace is of a cluster-scoped kind.
  std::vector<ObjectReference> Workloads() const;
  // Returns how long the object stays after it has finished; nullopt: it stays for ever.
  std::optional<absl::Duration> TtlAfterFinished() const;

  std::vector<ObservedWorkload> ObservedWorkloads() const;
  // Returns nullopt when it has not finished yet (or has no valid time).
  std::optional<absl::Time> FinishTime() const;

 private:
  const kube::Object& object_;
};

// Sets status.observedWorkloads, and status.observedGeneration to the generation of `rebalancer`.
void SetObservedWorkloads(kube::Object& rebalancer, absl::Span<const ObservedWorkload> observed);
// Sets status.finishTime.
void SetFinishTime(kube::Object& rebalancer, absl::Time time);

}  // namespace api

#endif  // API_WORKLOAD_REBALANCER_H_
