// Job, CronJob.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/job_status.h"
#include "interpreter/native/pod_dependencies.h"
#include "interpreter/native/replicas.h"
#include "interpreter/native/times.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

absl::StatusOr<Replicas> JobReplicas(const kube::Object& object, const RequirementRules& rules) {
  Fields spec(object.spec(), "spec");
  const int64_t parallelism = spec.Int("parallelism");
  const std::optional<int64_t> completions = spec.OptionalInt("completions");
  Fields pod_template = spec.In("template");
  Fields pod_spec = pod_template.In("spec");
  Replicas out;
  out.replicas = std::min(parallelism, completions.value_or(parallelism));
  out.requirements = RequirementsOf(pod_spec, rules);
  RETURN_IF_ERROR(spec.error());
  return out;
}

absl::StatusOr<kube::Object> ReviseParallelism(const kube::Object& object, int64_t replicas) {
  return ReviseSpecField(object, "parallelism", replicas);
}

// Copies the labels in the last member of `path`.
absl::Status CopyLabels(const kube::Object& from, json::Path path, kube::Object& to) {
  ASSIGN_OR_RETURN(const json::Value* labels, json::FindObject(from.root(), path));
  if (labels == nullptr) return absl::OkStatus();
  const json::Path parent = path.first(path.size() - 1);
  const std::string where = absl::StrJoin(parent, ".");
  Fields owner(from.Get(parent), where);
  owner.StringMap(path.back());
  RETURN_IF_ERROR(owner.error());
  RETURN_IF_ERROR(json::FindObject(to.root(), parent).status());
  to.Set(path, *labels);
  return absl::OkStatus();
}

// Kueue v0.19.2, pkg/controller/jobs/job/job_controller.go: it suspends and resumes a Job. When it
// resumes one, it writes its placement into the pod template (RunWithPodSetsInfo), and, with these
// annotations, the parallelism that it admitted and as many completions.
constexpr char kQueueLabel[] = "kueue.x-k8s.io/queue-name";
constexpr char kMinParallelism[] = "kueue.x-k8s.io/job-min-parallelism";
constexpr char kCompletionsFollow[] = "kueue.x-k8s.io/job-completions-equal-parallelism";

void CopySpecField(const kube::Object& from, absl::string_view field, kube::Object& to) {
  const json::Value& value = from.Get({"spec", field});
  if (!value.is_null()) to.Set({"spec", field}, value);
}

// Retains what the member's Kueue determined about a Job in one of its queues.
absl::Status RetainAdmission(const kube::Object& observed, kube::Object& retained) {
  if (retained.Label(kQueueLabel).empty() && observed.Label(kQueueLabel).empty()) {
    return absl::OkStatus();
  }
  Fields spec(observed.spec(), "spec");
  const bool suspended = spec.Bool("suspend");
  spec.Object("template");
  spec.Int("parallelism");
  spec.Int("completions");
  RETURN_IF_ERROR(spec.error());
  RETURN_IF_ERROR(json::FindObject(retained.root(), {"spec"}).status());
  CopySpecField(observed, "suspend", retained);
  if (suspended || observed.Get({"spec", "suspend"}).is_null()) return absl::OkStatus();
  CopySpecField(observed, "template", retained);
  if (observed.Annotation(kMinParallelism).empty()) return absl::OkStatus();
  CopySpecField(observed, "parallelism", retained);
  if (observed.Annotation(kCompletionsFollow) == "true") {
    CopySpecField(observed, "completions", retained);
  }
  return absl::OkStatus();
}

// Others write into the spec of a Job in a member:
//   selector.matchLabels, template.metadata.labels   the API server, when the Job is created: the
//                       labels by which the job controller recognizes the pods
//   suspend             Kueue, for a Job with its label queue-name
//   template            Kueue, when it admits the Job: where the pods run
//   parallelism, completions   Kueue, when it admits a part of the Job
absl::StatusOr<kube::Object> RetainJob(const kube::Object& desired, const kube::Object& observed) {
  kube::Object retained = desired;
  RETURN_IF_ERROR(CopyLabels(observed, {"spec", "selector", "matchLabels"}, retained));
  RETURN_IF_ERROR(CopyLabels(observed, {"spec", "template", "metadata", "labels"}, retained));
  RETURN_IF_ERROR(RetainAdmission(observed, retained));
  return retained;
}

// Returns a condition as its typed struct writes it: its times are always present.
json::Value TypedCondition(Fields& condition) {
  json::Value out = json::Value::Object(
      {{"type", condition.String("type")}, {"status", condition.String("status")}});
  for (const char* time : {"lastProbeTime", "lastTransitionTime"}) {
    const absl::string_view text = condition.Time(time);
    out.Set(time, text.empty() ? json::Value() : json::Value(text));
  }
  for (const char* text : {"reason", "message"}) {
    if (!condition.String(text).empty()) out.Set(text, condition.String(text));
  }
  return out;
}

absl::StatusOr<json::Value> ReflectJob(const kube::Object& object) {
  Fields status(object.status(), "status");
  json::Value out = json::Value::Object();
  for (const char* counter : {"active", "succeeded", "failed"}) {
    SetOrOmit(out, counter, status.Int(counter));
  }
  for (const char* time : {"startTime", "completionTime"}) {
    if (!status.Time(time).empty()) out.Set(time, status.Time(time));
  }
  status.Each("conditions", [&](Fields& condition) {
    out.Mutable("conditions").Append(TypedCondition(condition));
  });
  RETURN_IF_ERROR(status.error());
  return out;
}

absl::StatusOr<kube::Object> AggregateCronJob(const kube::Object& object,
                                              const AggregatedItems& items, absl::Time) {
  json::Value active;
  LatestTime scheduled, successful;
  for (const json::Value& item : items.items()) {
    Fields status(item["status"], "status");
    status.Each("active", [&](Fields& job) { active.Append(job.value()); });
    absl::Status read = scheduled.Add(status.Time("lastScheduleTime"));
    read.Update(successful.Add(status.Time("lastSuccessfulTime")));
    read.Update(status.error());
    RETURN_IF_ERROR(base::Annotate(read, "cluster ", item["clusterName"].AsString()));
  }
  json::Value status = json::Value::Object();
  if (!active.is_null()) status.Set("active", std::move(active));
  if (scheduled.count() > 0) status.Set("lastScheduleTime", scheduled.text());
  if (successful.count() > 0) status.Set("lastSuccessfulTime", successful.text());
  if (SameTyped(status, object.status())) return object;
  kube::Object out = object;
  out.Set({"status"}, std::move(status));
  return out;
}

absl::StatusOr<json::Value> CronJobDependencies(const kube::Object& object) {
  Fields spec(object.spec(), "spec");
  Fields job_template = spec.In("jobTemplate");
  Fields job_spec = job_template.In("spec");
  Fields pod_template = job_spec.In("template");
  Fields pod_spec = pod_template.In("spec");
  const PodReferences references = ReferencesOf(pod_spec);
  RETURN_IF_ERROR(spec.error());
  return DependenciesIn(object.ns(), references);
}

}  // namespace

void RegisterJobs(HandlerTable& table) {
  table.Add({"batch", "v1", "Job"}, {.get_replicas = JobReplicas,
                                     .revise_replica = ReviseParallelism,
                                     .retain = RetainJob,
                                     .aggregate_status = AggregateJob,
                                     .get_dependencies = TemplateDependencies,
                                     .reflect_status = ReflectJob});
  table.Add({"batch", "v1", "CronJob"},
            {.aggregate_status = AggregateCronJob, .get_dependencies = CronJobDependencies});
}

}  // namespace interpreter::native
