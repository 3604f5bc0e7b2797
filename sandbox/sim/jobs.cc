// A pass over a Job that goes on counts its pods, judges whether it has ended, creates or deletes
// pods so that as many run as should (none at the end), and writes the status. It ends as Failed
// when more pods have failed than backoffLimit allows or activeDeadlineSeconds are over, and as
// Complete when enough have succeeded; timers bring the Job back at these times. A Job that has
// ended is only deleted, at the end of ttlSecondsAfterFinished. tallies_ remembers by uid the pods
// that have finished, so that one counts also after it was deleted; it belongs to the loop's thread
// and is dropped with the Job.

#include "sandbox/sim/jobs.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "sandbox/sim/children.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kProbe[] = "lastProbeTime";

bool HasEnded(const kube::Object& job) {
  const json::Value& conditions = job.status()["conditions"];
  return kube::IsConditionTrue(conditions, "Complete") ||
         kube::IsConditionTrue(conditions, "Failed");
}

// Returns how many pods should be running now.
int64_t WantedActive(const kube::Object& job, int64_t active, int64_t succeeded) {
  const json::Value& completions = job.spec()["completions"];
  const int64_t parallelism = job.spec()["parallelism"].AsInt(1);
  if (job.spec()["suspend"].AsBool()) return 0;
  if (!completions.is_null()) return std::min(parallelism, completions.AsInt() - succeeded);
  // This is a work queue: once one pod has succeeded, the others may finish, but none is added.
  return succeeded > 0 ? std::min(active, parallelism) : parallelism;
}

void SetSuspended(const kube::Object& job, json::Value& conditions, absl::Time now) {
  const bool suspended = job.spec()["suspend"].AsBool();
  if (suspended) {
    SetWorkloadCondition(conditions, {"Suspended", "True", "JobSuspended", "Job suspended", kProbe},
                         now);
  } else if (kube::IsConditionTrue(conditions, "Suspended")) {
    SetWorkloadCondition(conditions, {"Suspended", "False", "JobResumed", "Job resumed", kProbe},
                         now);
  }
}

}  // namespace

Jobs::Jobs(Backend& backend, EventLoop& loop)
    : backend_(backend), controller_("job", backend, loop, [this](const kube::ObjectKey& key) {
        return Reconcile(key);
      }) {
  controller_.WatchKeys(kinds::Jobs().gvr());
  controller_.WatchOwned(kinds::Pods().gvr(), "Job");
}

absl::Status Jobs::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(kube::ObjectPtr job, FindObject(backend_, kinds::Jobs().gvr(), key));
  // A Job of the same name that was made again begins to count at zero.
  if (job == nullptr || (uids_.count(key) > 0 && uids_[key] != job->uid())) {
    tallies_.erase(uids_[key]);
    uids_.erase(key);
  }
  if (job == nullptr || job->IsDeleting()) return absl::OkStatus();
  if (HasEnded(*job)) return ExpireFinished(*job);
  uids_[key] = std::string(job->uid());
  ASSIGN_OR_RETURN(Progress progress, ProgressOf(*job));
  const Verdict verdict = Judge(*job, progress);
  ASSIGN_OR_RETURN(const bool changed, Staff(*job, progress, !verdict.type.empty()));
  if (changed) {
    ASSIGN_OR_RETURN(progress, ProgressOf(*job));
  }
  return UpdateStatus(*job, progress, verdict);
}

absl::Status Jobs::ExpireFinished(const kube::Object& job) {
  const json::Value& ttl = job.spec()["ttlSecondsAfterFinished"];
  if (ttl.is_null()) return absl::OkStatus();
  absl::Time finished = controller_.Now();
  for (const json::Value& condition : job.status()["conditions"].items()) {
    const absl::string_view type = condition["type"].AsString();
    if (type != "Complete" && type != "Failed") continue;
    const auto stamp = kube::ParseTime(condition["lastTransitionTime"].AsString());
    if (stamp.ok()) finished = *stamp;
  }
  const absl::Duration left = finished + absl::Seconds(ttl.AsInt()) - controller_.Now();
  if (left <= absl::ZeroDuration()) {
    return DeleteAsRead(backend_, kinds::Jobs().gvr(), job, "Foreground");
  }
  controller_.EnqueueAfter(job.key(), left);
  return absl::OkStatus();
}

absl::StatusOr<Jobs::Progress> Jobs::ProgressOf(const kube::Object& job) {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> pods,
                   ClaimChildren(backend_, kinds::Pods().gvr(), job));
  // By uid, because a finished pod may be deleted, and must not be replaced for that. The loop's
  // thread alone uses the tallies; they are lost with the sandbox, as all its objects are.
  Tally& tally = tallies_[std::string(job.uid())];
  Progress progress;
  for (const kube::ObjectPtr& pod : pods) {
    const absl::string_view phase = pod->status()["phase"].AsString();
    if (phase == "Succeeded") tally.succeeded.emplace(pod->uid());
    if (phase == "Failed") tally.failed.emplace(pod->uid());
    if (!IsActivePod(*pod)) continue;
    progress.active.push_back(pod);
    if (IsReadyPod(*pod)) ++progress.ready;
  }
  progress.succeeded = static_cast<int64_t>(tally.succeeded.size());
  progress.failed = static_cast<int64_t>(tally.failed.size());
  return progress;
}

Jobs::Verdict Jobs::Judge(const kube::Object& job, const Progress& progress) {
  const json::Value& spec = job.spec();
  if (progress.failed > spec["backoffLimit"].AsInt(6)) {
    return {"Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  }
  const auto started = kube::ParseTime(job.status()["startTime"].AsString());
  if (!spec["activeDeadlineSeconds"].is_null() && started.ok()) {
    const absl::Duration left =
        *started + absl::Seconds(spec["activeDeadlineSeconds"].AsInt()) - controller_.Now();
    if (left <= absl::ZeroDuration()) {
      return {"Failed", "DeadlineExceeded", "Job was active longer than specified deadline"};
    }
    controller_.EnqueueAfter(job.key(), left);
  }
  const bool queue = spec["completions"].is_null();
  const bool reached = queue ? progress.succeeded > 0 && progress.active.empty()
                             : progress.succeeded >= spec["completions"].AsInt();
  if (!reached || spec["suspend"].AsBool()) return {};
  return {"Complete", "CompletionsReached", "Reached expected number of succeeded pods"};
}

absl::StatusOr<bool> Jobs::Staff(const kube::Object& job, const Progress& progress, bool ended) {
  const auto active = static_cast<int64_t>(progress.active.size());
  const int64_t wanted =
      ended ? 0 : std::max<int64_t>(0, WantedActive(job, active, progress.succeeded));
  // At most one of the two does something: pods are missing, or there are too many.
  RETURN_IF_ERROR(CreatePods(backend_, job, std::max<int64_t>(0, wanted - active),
                             {"job-controller", controller_.Now()}));
  for (int64_t i = wanted; i < active; ++i) {
    RETURN_IF_ERROR(DeleteAsRead(backend_, kinds::Pods().gvr(), *progress.active[i]));
  }
  return wanted != active;
}

absl::Status Jobs::UpdateStatus(const kube::Object& job, const Progress& progress,
                                const Verdict& verdict) {
  const absl::Time now = controller_.Now();
  json::Value conditions = job.status()["conditions"];
  SetSuspended(job, conditions, now);
  json::Value status = json::Value::Object({{"ready", progress.ready},
                                            {"terminating", 0},
                                            {"uncountedTerminatedPods", json::Value::Object()}});
  const auto set = [&](absl::string_view name, size_t value) {
    if (value > 0) status.Set(name, static_cast<int64_t>(value));
  };
  set("active", progress.active.size());
  set("succeeded", progress.succeeded);
  set("failed", progress.failed);
  const json::Value& started = job.status()["startTime"];
  // Suspending takes the start away from a Job that goes on, but not from one that has ended.
  if (!job.spec()["suspend"].AsBool() || !verdict.type.empty()) {
    status.Set("startTime", started.is_null() ? json::Value(kube::FormatTime(now)) : started);
  }
  if (!verdict.type.empty()) {
    const bool complete = verdict.type == "Complete";
    const std::string first = complete ? "SuccessCriteriaMet" : "FailureTarget";
    // Clients wait for either; Kubernetes sets the first as soon as the end is certain.
    for (const std::string& type : {first, verdict.type}) {
      SetWorkloadCondition(conditions, {type, "True", verdict.reason, verdict.message, kProbe},
                           now);
    }
    if (complete) status.Set("completionTime", kube::FormatTime(now));
  }
  if (!conditions.empty()) status.Set("conditions", std::move(conditions));
  return WriteStatus(backend_, kinds::Jobs().gvr(), job, std::move(status));
}

}  // namespace sandbox
