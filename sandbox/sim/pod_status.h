// The statuses that a kubelet writes, as pure functions.
#ifndef SANDBOX_SIM_POD_STATUS_H_
#define SANDBOX_SIM_POD_STATUS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "sandbox/sim/pod_references.h"

namespace sandbox {

// Returns the status of a pod that is pending because no node can take it.
json::Value UnschedulableStatus(const kube::Object& pod, absl::string_view message, absl::Time now);

// Returns the status of a pod that is pending on its node: no container starts while a referenced
// object is missing.
json::Value WaitingStatus(const kube::Object& pod, const MissingReference& missing, absl::Time now);

struct PodAddress {
  std::string pod_ip;
  std::string host_ip;
};
// Returns the status of a pod whose containers all run and are ready.
json::Value RunningStatus(const kube::Object& pod, const PodAddress& address, absl::Time now);

// Returns the status of a pod whose containers all ended with `exit_code`: phase Succeeded or
// Failed.
json::Value FinishedStatus(const kube::Object& pod, int64_t exit_code, absl::Time now);

// Returns the exit code of its containers: from a command such as `false` or `sh -c "...; exit 3"`,
// else 0.
int64_t ExitCodeOf(const kube::Object& pod);
// Returns whether its containers end at all, that is, restartPolicy is not Always.
bool RunsToCompletion(const kube::Object& pod);

}  // namespace sandbox

#endif  // SANDBOX_SIM_POD_STATUS_H_
