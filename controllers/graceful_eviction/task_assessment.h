// Decides which eviction tasks of a binding have ended: a pure function.
#ifndef CONTROLLERS_GRACEFUL_EVICTION_TASK_ASSESSMENT_H_
#define CONTROLLERS_GRACEFUL_EVICTION_TASK_ASSESSMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace controllers {

struct TaskAssessment {
  json::Value kept = json::Value::Array();  // The new spec.gracefulEvictionTasks.
  std::vector<std::string> evicted;         // The clusters whose tasks have ended.
  std::optional<absl::Duration> next;       // When the next task times out; unset for never.
};

// Assesses each task alone. A task without creationTimestamp gets `now`. One with suppressDeletion
// stays if that is true, and ends if it is false. Any other ends when gracePeriodSeconds, or else
// `timeout`, is over, or when the scheduler has placed the binding anew and the workload is healthy
// in all of its clusters. Upstream: assessEvictionTasks and nextRetry.
TaskAssessment AssessTasks(const kube::Object& binding, absl::Time now, absl::Duration timeout);

}  // namespace controllers

#endif  // CONTROLLERS_GRACEFUL_EVICTION_TASK_ASSESSMENT_H_
