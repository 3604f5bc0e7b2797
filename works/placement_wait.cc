#include "works/placement_wait.h"

#include <algorithm>

#include "api/binding.h"

namespace works {
namespace {

bool AwaitsScheduler(const api::BindingView& binding) {
  const int64_t observed = binding.SchedulerObservedGeneration();
  return binding.object().spec()["clusters"].empty() && !binding.IsSchedulingSuspended() &&
         observed > 0 && observed < binding.object().generation();
}

}  // namespace

absl::Duration PlacementWait::Remaining(const kube::Object& binding) {
  const bool awaits_scheduler = AwaitsScheduler(api::BindingView(binding));
  const base::SteadyTime now = clock_.SteadyNow();
  absl::MutexLock lock(&mu_);
  first_call_ = std::min(first_call_, now);
  if (!awaits_scheduler) {
    waiting_.erase(binding.key());
    return absl::ZeroDuration();
  }
  if (waiting_.size() >= kMostBindings) waiting_.clear();
  const size_t tasks = binding.spec()["gracefulEvictionTasks"].size();
  const bool may_wait = tasks > 0 || now - first_call_ < unknown_;
  const base::SteadyTime begin = may_wait ? now : base::SteadyTime::InfinitePast();
  Since& since = waiting_.try_emplace(binding.key(), Since{tasks, begin}).first->second;
  if (tasks < since.tasks) since.time = now;
  since.tasks = tasks;
  return std::max(since.time + kPatience - now, absl::ZeroDuration());
}

void PlacementWait::Forget(const kube::ObjectKey& binding) {
  absl::MutexLock lock(&mu_);
  waiting_.erase(binding);
}

}  // namespace works
