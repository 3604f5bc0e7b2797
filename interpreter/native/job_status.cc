// A pass sums up the members' counters and endings, then determines the conditions, then the times
// that these conditions need. It keeps of the old status what an API server does not let anybody
// take back: counters, the start time, FailureTarget and SuccessCriteriaMet. A status in which the
// Job is finished is kept as it is. Everything else is written again from the members' statuses, so
// that nothing but the template remembers what a cluster has reported that the Job has left.

#include "interpreter/native/job_status.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/template_reasons.h"
#include "base/status.h"
#include "interpreter/native/times.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

constexpr absl::string_view kComplete = "Complete";
constexpr absl::string_view kFailed = "Failed";
constexpr absl::string_view kFailureTarget = "FailureTarget";
constexpr absl::string_view kSuccessCriteriaMet = "SuccessCriteriaMet";
constexpr absl::string_view kSuspended = "Suspended";

// A summary of a Job's conditions.
struct Outcome {
  absl::string_view finish;  // kComplete, kFailed or "": the first condition that ends a Job.
  bool suspended = false;
};

Outcome OutcomeOf(Fields& status) {
  Outcome outcome;
  status.Each("conditions", [&](Fields& condition) {
    const absl::string_view type = condition.String("type");
    if (condition.String("status") != "True") return;
    if (outcome.finish.empty() && (type == kComplete || type == kFailed)) outcome.finish = type;
    outcome.suspended |= type == kSuspended;
  });
  return outcome;
}

// Sums over the members' Jobs.
struct JobTotals {
  int64_t items = 0, active = 0, succeeded = 0, failed = 0;
  int64_t complete = 0;
  int64_t at_work = 0;  // How many are not finished, but started or about to be.
  std::vector<absl::string_view> failed_clusters;
  LatestTime completion;
  EarliestTime start;
};

absl::Status AddJob(const json::Value& item, JobTotals& totals) {
  ++totals.items;
  if (item["status"].is_null()) {
    // One that its cluster has, but has not reported yet, is about to start. One that could not be
    // applied may never be.
    if (item["applied"].AsBool()) ++totals.at_work;
    return absl::OkStatus();
  }
  Fields status(item["status"], "status");
  totals.active += status.Int("active");
  totals.succeeded += status.Int("succeeded");
  totals.failed += status.Int("failed");
  const Outcome outcome = OutcomeOf(status);
  if (outcome.finish == kComplete) ++totals.complete;
  if (outcome.finish == kFailed) totals.failed_clusters.push_back(item["clusterName"].AsString());
  if (outcome.finish.empty() && !outcome.suspended) ++totals.at_work;
  RETURN_IF_ERROR(totals.start.Add(status.Time("startTime")));
  RETURN_IF_ERROR(totals.completion.Add(status.Time("completionTime")));
  return status.error();
}

json::Value NewCondition(absl::string_view type, absl::string_view reason,
                         absl::string_view message, absl::Time now) {
  const std::string time = kube::FormatTime(now);
  return json::Value::Object({{"type", type},
                              {"status", "True"},
                              {"reason", reason},
                              {"message", message},
                              {"lastProbeTime", time},
                              {"lastTransitionTime", time}});
}

// Returns the old condition, with its times, if there is one that says the same.
json::Value OldOr(const json::Value* old, json::Value fresh) {
  const bool same = old != nullptr && (*old)["reason"] == fresh["reason"] &&
                    (*old)["message"] == fresh["message"];
  return same ? *old : fresh;
}

const json::Value* FindTrue(const json::Value& conditions, absl::string_view type) {
  const json::Value* condition = kube::FindCondition(conditions, type);
  return condition != nullptr && (*condition)["status"] == "True" ? condition : nullptr;
}

// Returns FailureTarget, and Failed once no member is at work. `target` is the FailureTarget that
// the Job has already, or nullptr; it stays when the cluster that failed has been left.
json::Value Failure(const JobTotals& totals, const json::Value* target, absl::Time now) {
  json::Value out;
  if (totals.failed_clusters.empty()) {
    out.Append(*target);
  } else {
    const std::string message = absl::StrCat("Job executed failed in member clusters ",
                                             absl::StrJoin(totals.failed_clusters, ","));
    out.Append(OldOr(target, NewCondition(kFailureTarget, api::reason::kJobFailed, message, now)));
  }
  if (totals.active > 0 || totals.at_work > 0) return out;
  const json::Value why = out.At(0);
  out.Append(NewCondition(kFailed, why["reason"].AsString(), why["message"].AsString(), now));
  return out;
}

json::Value JobConditions(const JobTotals& totals, const json::Value& old, absl::Time now) {
  const json::Value* target = FindTrue(old, kFailureTarget);
  const json::Value* met = FindTrue(old, kSuccessCriteriaMet);
  // No server accepts a failure together with SuccessCriteriaMet, which nobody can take back.
  const bool failed = !totals.failed_clusters.empty() || target != nullptr;
  if (failed && met == nullptr) return Failure(totals, target, now);
  json::Value out;
  if (totals.items > 0 && totals.complete == totals.items && totals.active == 0) {
    out.Append(NewCondition(kComplete, api::reason::kJobCompleted, "Job completed", now));
    out.Append(OldOr(met, NewCondition(kSuccessCriteriaMet, api::reason::kCompletionsReached,
                                       "All member clusters have met success criteria", now)));
  } else if (met != nullptr) {
    out.Append(*met);
  }
  return out;
}

// Sets the times that go with the conditions of `status`. A Job that ends without a cluster having
// told when it started, or ended, has the time of `now` there: it has no ending otherwise.
absl::Status SetTimes(absl::string_view started, const JobTotals& totals, absl::Time now,
                      json::Value& status) {
  const bool complete = FindTrue(status["conditions"], kComplete) != nullptr;
  const bool finished = complete || FindTrue(status["conditions"], kFailed) != nullptr;
  const std::string text_of_now = kube::FormatTime(now);
  LatestTime end = totals.completion;
  if (end.count() == 0) RETURN_IF_ERROR(end.Add(text_of_now));
  const bool all_started = totals.items > 0 && totals.start.count() == totals.items;
  absl::string_view start = started;
  if (start.empty() && (all_started || finished)) start = totals.start.text();
  if (start.empty() && finished) start = end.text();
  if (!start.empty()) status.Set("startTime", start);
  if (!complete) return absl::OkStatus();
  RETURN_IF_ERROR(end.Add(start));  // The clock of a cluster that the Job has left may be ahead.
  status.Set("completionTime", end.text());
  return absl::OkStatus();
}

// Returns whether the counter of successes may decrease: the completions of an indexed Job that has
// as many as it runs at a time may be scaled down.
bool IsElastic(const json::Value& spec) {
  return spec["completionMode"].AsString() == "Indexed" &&
         spec["completions"] == spec["parallelism"];
}

absl::StatusOr<json::Value> NewStatus(const kube::Object& object, Fields& old, JobTotals& totals,
                                      absl::Time now) {
  if (!IsElastic(object.spec())) {
    totals.succeeded = std::max(totals.succeeded, old.Int("succeeded"));
  }
  totals.failed = std::max(totals.failed, old.Int("failed"));
  json::Value status = json::Value::Object();
  SetOrOmit(status, "active", totals.active);
  SetOrOmit(status, "succeeded", totals.succeeded);
  SetOrOmit(status, "failed", totals.failed);
  json::Value conditions = JobConditions(totals, object.status()["conditions"], now);
  if (!conditions.is_null()) status.Set("conditions", std::move(conditions));
  RETURN_IF_ERROR(SetTimes(old.Time("startTime"), totals, now, status));
  RETURN_IF_ERROR(old.error());
  return status;
}

}  // namespace

absl::StatusOr<kube::Object> AggregateJob(const kube::Object& object, const AggregatedItems& items,
                                          absl::Time now) {
  Fields old(object.status(), "status");
  const bool finished = !OutcomeOf(old).finish.empty();
  old.Time("startTime");
  RETURN_IF_ERROR(old.error());
  if (finished) return object;  // A finished Job never changes again.
  JobTotals totals;
  for (const json::Value& item : items.items()) {
    RETURN_IF_ERROR(
        base::Annotate(AddJob(item, totals), "cluster ", item["clusterName"].AsString()));
  }
  ASSIGN_OR_RETURN(json::Value status, NewStatus(object, old, totals, now));
  if (SameTyped(status, object.status())) return object;
  kube::Object out = object;
  out.Set({"status"}, std::move(status));
  return out;
}

}  // namespace interpreter::native
