// Deployment, ReplicaSet, StatefulSet, DaemonSet.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "base/status.h"
#include "interpreter/native/deployment_conditions.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/health_messages.h"
#include "interpreter/native/pod_dependencies.h"
#include "interpreter/native/replicas.h"
#include "interpreter/native/typed_fields.h"
#include "interpreter/native/workload_status.h"

namespace interpreter::native {

namespace {

constexpr bool kAlways = true;

constexpr Counter kDeploymentSums[] = {{"replicas"},
                                       {"readyReplicas"},
                                       {"updatedReplicas"},
                                       {"availableReplicas"},
                                       {"unavailableReplicas"}};
constexpr Counter kDeploymentReflected[] = {{"observedGeneration"}, {"replicas"},
                                            {"updatedReplicas"},    {"readyReplicas"},
                                            {"availableReplicas"},  {"unavailableReplicas"}};

constexpr Counter kReplicaSetSums[] = {
    {"replicas", kAlways}, {"readyReplicas"}, {"availableReplicas"}};
constexpr Counter kReplicaSetReflected[] = {
    {"replicas", kAlways}, {"readyReplicas"}, {"availableReplicas"}, {"observedGeneration"}};

// As upstream's StatefulSet, it does not report observedGeneration: the clusters' health tells as
// much, and no Work has to be written again for it.
constexpr Counter kStatefulSetCounters[] = {{"replicas", kAlways},
                                            {"availableReplicas", kAlways},
                                            {"currentReplicas"},
                                            {"readyReplicas"},
                                            {"updatedReplicas"}};

constexpr Counter kDaemonSetSums[] = {{"currentNumberScheduled", kAlways},
                                      {"numberMisscheduled", kAlways},
                                      {"desiredNumberScheduled", kAlways},
                                      {"numberReady", kAlways},
                                      {"updatedNumberScheduled"},
                                      {"numberAvailable"},
                                      {"numberUnavailable"}};
constexpr Counter kDaemonSetReflected[] = {{"currentNumberScheduled", kAlways},
                                           {"numberMisscheduled", kAlways},
                                           {"desiredNumberScheduled", kAlways},
                                           {"numberReady", kAlways},
                                           {"updatedNumberScheduled"},
                                           {"numberAvailable"},
                                           {"numberUnavailable"},
                                           {"observedGeneration"}};

absl::StatusOr<kube::Object> ReviseReplicas(const kube::Object& object, int64_t replicas) {
  return ReviseSpecField(object, "replicas", replicas);
}

// Others write into the spec of a Deployment, ReplicaSet or StatefulSet in a member:
//   replicas   autoscalers, Argo Rollouts, Flagger; it stays when the template asks for it by label
absl::StatusOr<kube::Object> RetainReplicas(const kube::Object& desired,
                                            const kube::Object& observed) {
  Fields metadata(desired.metadata(), "metadata");
  metadata.StringMap("labels");
  RETURN_IF_ERROR(metadata.error());
  if (desired.Label(api::kRetainReplicasLabel) != api::kRetainReplicasValue) return desired;
  ASSIGN_OR_RETURN(const std::optional<int64_t> replicas,
                   json::FindInt(observed.root(), {"spec", "replicas"}));
  if (!replicas.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("failed to get spec.replicas from ",
                                                   observed.kind(), " ", observed.ns(), "/",
                                                   observed.name()));
  }
  RETURN_IF_ERROR(json::FindObject(desired.root(), {"spec"}).status());
  kube::Object retained = desired;
  retained.Set({"spec", "replicas"}, *replicas);
  return retained;
}

// Flagger writes it between two releases into the pod template of a DaemonSet that a Canary names,
// so that no node runs it, and takes it away for a release (pkg/canary/daemonset_controller.go of
// its v1.44). No node has such a label.
constexpr char kScaledToZero[] = "flagger.app/scale-to-zero";

// Others write into the spec of a DaemonSet in a member:
//   template.spec.nodeSelector   Flagger: the label above
absl::StatusOr<kube::Object> RetainDaemonSet(const kube::Object& desired,
                                             const kube::Object& observed) {
  Fields spec(observed.spec(), "spec");
  Fields pod_template = spec.In("template");
  Fields pod_spec = pod_template.In("spec");
  const absl::string_view scaled = pod_spec.StringMap("nodeSelector")[kScaledToZero].AsString();
  RETURN_IF_ERROR(spec.error());
  if (scaled.empty()) return desired;
  RETURN_IF_ERROR(json::FindObject(desired.root(), {"spec", "template", "spec"}).status());
  kube::Object retained = desired;
  retained.Set({"spec", "template", "spec", "nodeSelector", kScaledToZero}, scaled);
  return retained;
}

absl::StatusOr<json::Value> ReflectDeployment(const kube::Object& object) {
  static const json::Value& names = *new json::Value(NamesOf(kDeploymentReflected));
  ASSIGN_OR_RETURN(json::Value status, ReflectCounters(object, names));
  ASSIGN_OR_RETURN(json::Value missed_deadline, ReflectMissedDeadline(object));
  if (!missed_deadline.is_null()) status.Set("conditions", std::move(missed_deadline));
  if (status.empty()) return json::Value();
  return status;
}

absl::StatusOr<json::Value> ReflectReplicaSet(const kube::Object& object) {
  static const json::Value& names = *new json::Value(NamesOf(kReplicaSetReflected));
  return ReflectCounters(object, names);
}

absl::StatusOr<json::Value> ReflectStatefulSet(const kube::Object& object) {
  static const json::Value& names = *new json::Value(NamesOf(kStatefulSetCounters));
  return ReflectCounters(object, names);
}

absl::StatusOr<json::Value> ReflectDaemonSet(const kube::Object& object) {
  static const json::Value& names = *new json::Value(NamesOf(kDaemonSetReflected));
  return ReflectCounters(object, names);
}

absl::StatusOr<kube::Object> AggregateDeployment(const kube::Object& object,
                                                 const AggregatedItems& items, absl::Time now) {
  ASSIGN_OR_RETURN(kube::Object counted,
                   AggregateCounters(object, items, kDeploymentSums, GenerationGate::kTemplate));
  return WithDeploymentConditions(object, std::move(counted), items, now);
}

absl::StatusOr<kube::Object> AggregateReplicaSet(const kube::Object& object,
                                                 const AggregatedItems& items, absl::Time) {
  return AggregateCounters(object, items, kReplicaSetSums, GenerationGate::kTemplate);
}

absl::StatusOr<kube::Object> AggregateStatefulSet(const kube::Object& object,
                                                  const AggregatedItems& items, absl::Time) {
  return AggregateCounters(object, items, kStatefulSetCounters, GenerationGate::kTemplateOrHealthy);
}

absl::StatusOr<kube::Object> AggregateDaemonSet(const kube::Object& object,
                                                const AggregatedItems& items, absl::Time) {
  return AggregateCounters(object, items, kDaemonSetSums, GenerationGate::kTemplate);
}

// Returns how many of the wanted replicas keep an older template because the user asked for it: by
// a partition or OnDelete of a StatefulSet or DaemonSet, or by pausing a Deployment.
int64_t HeldBack(Fields& spec, int64_t wanted) {
  const bool paused = spec.Bool("paused");
  Fields strategy = spec.In("updateStrategy");
  const bool on_delete = strategy.String("type") == "OnDelete";
  Fields rolling_update = strategy.In("rollingUpdate");
  const int64_t partition = std::max<int64_t>(rolling_update.Int("partition"), 0);
  return paused || on_delete ? wanted : std::min(partition, wanted);
}

// Returns whether the workload's controller has seen its present generation, what is to be updated
// is, and what is to be available is: with replicas held back all of them, else those that are
// updated.
absl::StatusOr<Health> HealthWith(Fields& root, const kube::Object& object,
                                  const ReplicaCounts& counts) {
  const bool observed =
      root.In("status").Int64("observedGeneration") == root.In("metadata").Int64("generation");
  RETURN_IF_ERROR(root.error());
  const int64_t needed = counts.held > 0 ? counts.wanted : counts.updated;
  if (observed && counts.updated >= counts.wanted - counts.held && counts.available >= needed) {
    return true;
  }
  return Health(false, WhyReplicasAreMissing(object, counts));
}

bool IsAvailable(const kube::Object& deployment) {
  const json::Value* condition =
      kube::FindCondition(deployment.status()["conditions"], "Available");
  return condition != nullptr && (*condition)["status"] == "True";
}

// Returns the health of a Deployment or StatefulSet.
absl::StatusOr<Health> RolloutHealth(const kube::Object& object) {
  Fields root(object.root(), "");
  Fields spec = root.In("spec");
  Fields status = root.In("status");
  ReplicaCounts counts;
  counts.updated = status.Int("updatedReplicas");
  counts.available = status.Int("availableReplicas");
  counts.wanted = spec.OptionalInt("replicas").value_or(counts.updated);
  counts.held = HeldBack(spec, counts.wanted);
  // A rollout that is paused half-way leaves as many replicas unavailable as it may; the
  // Deployment's own controller knows how many these are.
  if (spec.Bool("paused") && IsAvailable(object)) counts.available = counts.wanted;
  return HealthWith(root, object, counts);
}

absl::StatusOr<Health> ReplicaSetHealth(const kube::Object& object) {
  Fields root(object.root(), "");
  Fields spec = root.In("spec");
  Fields status = root.In("status");
  ReplicaCounts counts;
  counts.available = status.Int("availableReplicas");
  counts.wanted = spec.OptionalInt("replicas").value_or(counts.available);
  counts.updated = counts.wanted;
  return HealthWith(root, object, counts);
}

absl::StatusOr<Health> DaemonSetHealth(const kube::Object& object) {
  Fields root(object.root(), "");
  Fields spec = root.In("spec");
  Fields status = root.In("status");
  ReplicaCounts counts;
  counts.updated = status.Int("updatedNumberScheduled");
  counts.wanted = status.Int("desiredNumberScheduled");
  counts.available = status.Int("numberAvailable");
  counts.held = HeldBack(spec, counts.wanted);
  return HealthWith(root, object, counts);
}

// Leaves out claims made from the set's own claim templates: the set's controller makes them in
// each member.
absl::StatusOr<json::Value> StatefulSetDependencies(const kube::Object& object) {
  Fields spec(object.spec(), "spec");
  Fields pod_template = spec.In("template");
  Fields pod_spec = pod_template.In("spec");
  PodReferences references = ReferencesOf(pod_spec);
  auto& claims = references.volume_claims;
  spec.Each("volumeClaimTemplates", [&](Fields& claim_template) {
    const absl::string_view own = claim_template.In("metadata").String("name");
    claims.erase(std::remove(claims.begin(), claims.end(), own), claims.end());
  });
  RETURN_IF_ERROR(spec.error());
  return DependenciesIn(object.ns(), references);
}

}  // namespace

void RegisterWorkloads(HandlerTable& table) {
  table.Add({"apps", "v1", "Deployment"}, {.get_replicas = WorkloadReplicas,
                                           .revise_replica = ReviseReplicas,
                                           .retain = RetainReplicas,
                                           .aggregate_status = AggregateDeployment,
                                           .get_dependencies = TemplateDependencies,
                                           .reflect_status = ReflectDeployment,
                                           .interpret_health = RolloutHealth});
  table.Add({"apps", "v1", "ReplicaSet"}, {.get_replicas = WorkloadReplicas,
                                           .revise_replica = ReviseReplicas,
                                           .retain = RetainReplicas,
                                           .aggregate_status = AggregateReplicaSet,
                                           .get_dependencies = TemplateDependencies,
                                           .reflect_status = ReflectReplicaSet,
                                           .interpret_health = ReplicaSetHealth});
  table.Add({"apps", "v1", "StatefulSet"}, {.get_replicas = WorkloadReplicas,
                                            .revise_replica = ReviseReplicas,
                                            .retain = RetainReplicas,
                                            .aggregate_status = AggregateStatefulSet,
                                            .get_dependencies = StatefulSetDependencies,
                                            .reflect_status = ReflectStatefulSet,
                                            .interpret_health = RolloutHealth});
  table.Add({"apps", "v1", "DaemonSet"}, {.retain = RetainDaemonSet,
                                          .aggregate_status = AggregateDaemonSet,
                                          .get_dependencies = TemplateDependencies,
                                          .reflect_status = ReflectDaemonSet,
                                          .interpret_health = DaemonSetHealth});
}

}  // namespace interpreter::native
