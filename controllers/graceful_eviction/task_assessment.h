// Decides which eviction tasks of a binding have ended: a pure function.
#ifndef CONTROLLERS_GRACEFUL_EVICTION_TASK_ASSESSMENT_H_
#define CONTROLLERS_GRACEFUL_EVICTION_TASK_ASSESSMENT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "controllers/eviction/applied_tolerations.h"
#include "controllers/graceful_eviction/left_tainted.h"
#include "kube/meta/object.h"

namespace controllers {

struct TaskAssessment {
  json::Value kept = json::Value::Array();  // The new spec.gracefulEvictionTasks.
  std::vector<std::string> evicted;         // The clusters that the workload has left now.
  std::optional<absl::Duration> next;       // When the next task times out; unset for never.
  // What the binding has to record from now on.
  LeftTainted left_tainted;
  json::Value preserved_state;  // See api/preserved_state.h.
};

// Returns the taints because of which the workload would be evicted again at once from this cluster
// if it were placed there; nullopt when it would not.
using OverdueTaintsFn = std::function<std::optional<TaintTimes>(absl::string_view cluster)>;

// Assesses each task alone. A task without creationTimestamp gets `now`. One with suppressDeletion
// stays if that is true, and ends if it is false. Any other ends when gracePeriodSeconds, or else
// `timeout`, is over, or when the scheduler has placed the binding again and the workload is
// healthy in all of its clusters. Upstream: assessEvictionTasks and nextRetry.
//
// The state in a task that times out before the workload is healthy is kept until it is.
//
// A task of the taint manager that ends, while `overdue` names taints of its cluster, is
// recorded in left_tainted. If that was recorded for one of these taints before, the workload has
// returned to the cluster since: its task is kept as one that only keeps the workload away
// (api::KeepsAway), until `overdue` names none any more.
TaskAssessment AssessTasks(const kube::Object& binding, absl::Time now, absl::Duration timeout,
                           const OverdueTaintsFn& overdue);

}  // namespace controllers

#endif  // CONTROLLERS_GRACEFUL_EVICTION_TASK_ASSESSMENT_H_
