// Columns of the kinds that run: Deployments, Pods, Jobs and similar ones, after kube-apiserver's
// printers. A row has a cell for each column of its kind at the end of the file, in that order.

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/server/tables/builtin_columns.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {
namespace {

using Cells = std::vector<json::Value>;

const json::Value& TemplateSpec(const kube::Object& o) { return o.spec()["template"]["spec"]; }

std::string Ratio(int64_t part, int64_t whole) { return absl::StrCat(part, "/", whole); }

Cells DeploymentRow(const kube::Object& o, absl::Time now) {
  const json::Value& status = o.status();
  return {Ratio(status["readyReplicas"].AsInt(), o.spec()["replicas"].AsInt()),
          status["updatedReplicas"].AsInt(),
          status["availableReplicas"].AsInt(),
          AgeCell(o, now),
          ContainerNames(TemplateSpec(o)),
          ContainerImages(TemplateSpec(o)),
          SelectorText(o.spec()["selector"])};
}

Cells ReplicaSetRow(const kube::Object& o, absl::Time now) {
  return {o.spec()["replicas"].AsInt(),        o.status()["replicas"].AsInt(),
          o.status()["readyReplicas"].AsInt(), AgeCell(o, now),
          ContainerNames(TemplateSpec(o)),     ContainerImages(TemplateSpec(o)),
          SelectorText(o.spec()["selector"])};
}

Cells StatefulSetRow(const kube::Object& o, absl::Time now) {
  return {Ratio(o.status()["readyReplicas"].AsInt(), o.spec()["replicas"].AsInt()), AgeCell(o, now),
          ContainerNames(TemplateSpec(o)), ContainerImages(TemplateSpec(o))};
}

Cells DaemonSetRow(const kube::Object& o, absl::Time now) {
  const json::Value& status = o.status();
  return {status["desiredNumberScheduled"].AsInt(),
          status["currentNumberScheduled"].AsInt(),
          status["numberReady"].AsInt(),
          status["updatedNumberScheduled"].AsInt(),
          status["numberAvailable"].AsInt(),
          LabelsText(TemplateSpec(o)["nodeSelector"]),
          AgeCell(o, now),
          ContainerNames(TemplateSpec(o)),
          ContainerImages(TemplateSpec(o)),
          SelectorText(o.spec()["selector"])};
}

std::string JobStatus(const kube::Object& o) {
  const json::Value& conditions = o.status()["conditions"];
  if (kube::IsConditionTrue(conditions, "Complete")) return "Complete";
  if (kube::IsConditionTrue(conditions, "Failed")) return "Failed";
  if (o.IsDeleting()) return "Terminating";
  if (kube::IsConditionTrue(conditions, "Suspended")) return "Suspended";
  if (kube::IsConditionTrue(conditions, "FailureTarget")) return "FailureTarget";
  return "Running";
}

std::string JobCompletions(const kube::Object& o) {
  const int64_t succeeded = o.status()["succeeded"].AsInt();
  if (o.spec()["completions"].is_int()) return Ratio(succeeded, o.spec()["completions"].AsInt());
  const int64_t parallelism = o.spec()["parallelism"].AsInt();
  if (parallelism > 1) return absl::StrCat(succeeded, "/1 of ", parallelism);
  return absl::StrCat(succeeded, "/1");
}

Cells JobRow(const kube::Object& o, absl::Time now) {
  const auto start = kube::ParseTime(o.status()["startTime"].AsString());
  const auto end = kube::ParseTime(o.status()["completionTime"].AsString());
  const std::string duration = start.ok() ? HumanDuration((end.ok() ? *end : now) - *start) : "";
  return {JobStatus(o),
          JobCompletions(o),
          duration,
          AgeCell(o, now),
          ContainerNames(TemplateSpec(o)),
          ContainerImages(TemplateSpec(o)),
          SelectorText(o.spec()["selector"])};
}

Cells CronJobRow(const kube::Object& o, absl::Time now) {
  const json::Value& last = o.status()["lastScheduleTime"];
  const json::Value& pod = o.spec()["jobTemplate"]["spec"]["template"]["spec"];
  return {o.spec()["schedule"].ToString(),
          TextOr(o.spec()["timeZone"], "<none>"),
          o.spec()["suspend"].AsBool() ? "True" : "False",
          static_cast<int64_t>(o.status()["active"].size()),
          last.is_null() ? "<none>" : AgeOf(last, now),
          AgeCell(o, now),
          ContainerNames(pod),
          ContainerImages(pod)};
}

std::string IntOrText(const json::Value& v) {
  if (v.is_int()) return absl::StrCat(v.AsInt());
  return TextOr(v, "N/A");
}

Cells BudgetRow(const kube::Object& o, absl::Time now) {
  return {IntOrText(o.spec()["minAvailable"]), IntOrText(o.spec()["maxUnavailable"]),
          o.status()["disruptionsAllowed"].AsInt(), AgeCell(o, now)};
}

}  // namespace

std::vector<BuiltinColumns> WorkloadColumns() {
  const BuiltinColumns::Spec containers{"Containers", "string", true};
  const BuiltinColumns::Spec images{"Images", "string", true};
  const BuiltinColumns::Spec selector{"Selector", "string", true};
  const BuiltinColumns::Spec age{"Age"};
  const BuiltinColumns::Spec ready{"Ready"};
  const BuiltinColumns::Spec desired{"Desired", "integer"};
  const BuiltinColumns::Spec current{"Current", "integer"};
  const BuiltinColumns::Spec ready_count{"Ready", "integer"};
  const BuiltinColumns::Spec up_to_date{"Up-to-date", "string"};
  const BuiltinColumns::Spec available{"Available", "string"};
  return {
      {"apps",
       "Deployment",
       {ready, up_to_date, available, age, containers, images, selector},
       DeploymentRow},
      {"apps",
       "ReplicaSet",
       {desired, current, ready_count, age, containers, images, selector},
       ReplicaSetRow},
      {"",
       "ReplicationController",
       {desired, current, ready_count, age, containers, images, selector},
       ReplicaSetRow},
      {"apps", "StatefulSet", {ready, age, containers, images}, StatefulSetRow},
      {"apps",
       "DaemonSet",
       {desired,
        current,
        ready_count,
        {"Up-to-date", "integer"},
        {"Available", "integer"},
        {"Node Selector"},
        age,
        containers,
        images,
        selector},
       DaemonSetRow},
      {"batch",
       "Job",
       {{"Status"}, {"Completions"}, {"Duration"}, age, containers, images, selector},
       JobRow},
      {"batch",
       "CronJob",
       {{"Schedule"},
        {"Timezone"},
        {"Suspend", "boolean"},
        {"Active", "integer"},
        {"Last Schedule"},
        age,
        containers,
        images},
       CronJobRow},
      PodColumns(),
      AutoscalerColumns(),
      {"policy",
       "PodDisruptionBudget",
       {{"Min Available"}, {"Max Unavailable"}, {"Allowed Disruptions", "integer"}, age},
       BudgetRow},
  };
}

}  // namespace kube::server
