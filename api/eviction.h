// Values and texts of evictions: how a workload is taken off a cluster, who asked for it and why.
#ifndef API_EVICTION_H_
#define API_EVICTION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace api {

// Values of purgeMode in policies and eviction tasks. Immediately and Graciously are older names of
// Directly and Gracefully.
inline constexpr char kPurgeDirectly[] = "Directly";
inline constexpr char kPurgeImmediately[] = "Immediately";
inline constexpr char kPurgeGracefully[] = "Gracefully";
inline constexpr char kPurgeGraciously[] = "Graciously";
inline constexpr char kPurgeNever[] = "Never";

// Values of a task's producer. The application failover controllers name themselves.
inline constexpr char kTaintManagerProducer[] = "TaintManager";

namespace reason {

// Values of a task's reason.
inline constexpr char kTaintUntolerated[] = "TaintUntolerated";
inline constexpr char kApplicationFailure[] = "ApplicationFailure";

// Reasons of events on bindings and templates.
inline constexpr char kEvictWorkloadFromClusterSucceed[] = "EvictWorkloadFromClusterSucceed";
inline constexpr char kEvictWorkloadFromClusterFailed[] = "EvictWorkloadFromClusterFailed";

}  // namespace reason

namespace message {

// "Evict from cluster m1 succeed."
std::string EvictedFromCluster(absl::string_view cluster);
// "Evict from cluster m1 failed.", then the error, which upstream's message does not have.
std::string NotEvictedFromCluster(absl::string_view cluster, const absl::Status& why);

}  // namespace message
}  // namespace api

#endif  // API_EVICTION_H_
