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
#include "kube/meta/object.h"

namespace controllers {

struct TaskAssessment {
  json::Value kept = json::Value::Array();  // The new spec.gracefulEvictionTasks.
  std::vector<std::string> evicted;         // The clusters that the workload has left now.
  std::optional<absl::Duration> next;       // When the next task times out; unset for never.
};

// Returns whether the workload would be evicted again from this cluster if it were placed there.
using KeepAwayFn = std::function<bool(absl::string_view cluster)>;

// Assesses each task alone. A task without creationTimestamp gets `now`. One with suppressDeletion
// stays if that is true, and ends if it is false. Any other ends when gracePeriodSeconds, or else
// `timeout`, is over, or when the scheduler has placed the binding anew and the workload is healthy
// in all of its clusters. Upstream: assessEvictionTasks and nextRetry.
//
// A task of the taint manager that ends so, while `keep_away` holds for its cluster, is kept as one
// that only keeps the workload away (api::KeepsAway), until it does not hold any more.
TaskAssessment AssessTasks(const kube::Object& binding, absl::Time now, absl::Duration timeout,
                           const KeepAwayFn& keep_away);

}  // namespace controllers

#endif  // CONTROLLERS_GRACEFUL_EVICTION_TASK_ASSESSMENT_H_
