// Values and texts of evictions: how a workload is taken off a cluster, who asked for it and why.
#ifndef API_EVICTION_H_
#define API_EVICTION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Values of purgeMode in policies and eviction tasks. Immediately and Graciously are older names of
// Directly and Gracefully, which Karmada v1.19 refuses. They are read, and never written.
inline constexpr char kPurgeDirectly[] = "Directly";
inline constexpr char kPurgeImmediately[] = "Immediately";
inline constexpr char kPurgeGracefully[] = "Gracefully";
inline constexpr char kPurgeGraciously[] = "Graciously";
inline constexpr char kPurgeNever[] = "Never";

// Returns the name that all releases accept: the argument, unless it is an older name.
absl::string_view CurrentPurgeMode(absl::string_view mode);
// Puts it in the place of an older name in the member purgeMode of an object, if there is one.
void RenewPurgeMode(json::Value& object);
// Returns the purge mode of the policy's spec.failover.application if it is an older name, else "".
absl::string_view OutdatedPurgeMode(const kube::Object& policy);

// The producer of the taint manager's tasks.
inline constexpr char kTaintManagerProducer[] = "TaintManager";

// The message of a task of the taint manager that has done its part: the workload has left, and the
// task stays only to keep the scheduler from placing it there again (KeepsAway).
inline constexpr char kKeepsAwayMessage[] =
    "The workload has left. This task keeps it away as long as the cluster has NoExecute taints "
    "whose toleration time is over.";

// Returns whether an item of spec.gracefulEvictionTasks only keeps the workload away: its Work is
// neither kept nor waited for.
bool KeepsAway(const json::Value& task);

// Names of the controllers of a scope (binding_scope.h), which are event sources and the label
// `controller` of metrics. An application failover controller is also the producer of its tasks.
template <class Scope>
inline constexpr absl::string_view kGracefulEvictionController =
    Scope::kNamespaced ? "resource-binding-graceful-eviction-controller"
                       : "cluster-resource-binding-graceful-eviction-controller";
template <class Scope>
inline constexpr absl::string_view kApplicationFailoverController =
    Scope::kNamespaced ? "resource-binding-application-failover-controller"
                       : "cluster-resource-binding-application-failover-controller";

namespace reason {

// Values of a task's reason.
inline constexpr char kTaintUntolerated[] = "TaintUntolerated";
inline constexpr char kApplicationFailure[] = "ApplicationFailure";

// Reasons of events on bindings and templates.
inline constexpr char kEvictWorkloadFromClusterSucceed[] = "EvictWorkloadFromClusterSucceed";
inline constexpr char kEvictWorkloadFromClusterFailed[] = "EvictWorkloadFromClusterFailed";

}  // namespace reason

namespace message {

// "Graciously is refused by Karmada v1.19, use Gracefully"
std::string PurgeModeOutdated(absl::string_view mode);
// "Evict from cluster m1 succeed."
std::string EvictedFromCluster(absl::string_view cluster);
// "Evict from cluster m1 failed.", then the error, which upstream's message does not have.
std::string NotEvictedFromCluster(absl::string_view cluster, const absl::Status& why);

}  // namespace message
}  // namespace api

#endif  // API_EVICTION_H_
