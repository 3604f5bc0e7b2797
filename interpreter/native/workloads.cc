// Deployment, ReplicaSet, StatefulSet, DaemonSet.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "base/status.h"
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

// Upstream's StatefulSet does not report observedGeneration, so its aggregated one does not change
// while there are members; so does ours.
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

// Retains the member's replica count (set by an autoscaler, for example) when the template asks for
// it by label.
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

absl::StatusOr<json::Value> ReflectDeployment(const kube::Object& object) {
  static const json::Value& names = *new json::Value(NamesOf(kDeploymentReflected));
  ASSIGN_OR_RETURN(json::Value status, ReflectCounters(object, names));
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
                                                 const AggregatedItems& items, absl::Time) {
  return AggregateCounters(object, items, kDeploymentSums, GenerationGate::kTemplate);
}

absl::StatusOr<kube::Object> AggregateReplicaSet(const kube::Object& object,
                                                 const AggregatedItems& items, absl::Time) {
  return AggregateCounters(object, items, kReplicaSetSums, GenerationGate::kTemplate);
}

absl::StatusOr<kube::Object> AggregateStatefulSet(const kube::Object& object,
                                                  const AggregatedItems& items, absl::Time) {
  return AggregateCounters(object, items, kStatefulSetCounters, GenerationGate::kMember);
}

absl::StatusOr<kube::Object> AggregateDaemonSet(const kube::Object& object,
                                                const AggregatedItems& items, absl::Time) {
  return AggregateCounters(object, items, kDaemonSetSums, GenerationGate::kTemplate);
}

Health Missing(const kube::Object& object, const ReplicaCounts& counts) {
  return {false, WhyReplicasAreMissing(object, counts)};
}

// Returns whether all wanted replicas of a Deployment or StatefulSet run the current template and
// are available.
absl::StatusOr<Health> RolloutHealth(const kube::Object& object) {
  Fields root(object.root(), "");
  Fields spec = root.In("spec");
  Fields status = root.In("status");
  const bool observed =
      status.Int64("observedGeneration") == root.In("metadata").Int64("generation");
  const std::optional<int64_t> wanted = spec.OptionalInt("replicas");
  const int64_t updated = status.Int("updatedReplicas");
  const int64_t available = status.Int("availableReplicas");
  RETURN_IF_ERROR(root.error());
  if (observed && updated >= wanted.value_or(updated) && available >= updated) return true;
  return Missing(object, {wanted.value_or(updated), updated, available});
}

absl::StatusOr<Health> ReplicaSetHealth(const kube::Object& object) {
  Fields root(object.root(), "");
  Fields spec = root.In("spec");
  Fields status = root.In("status");
  const bool observed =
      status.Int64("observedGeneration") == root.In("metadata").Int64("generation");
  const std::optional<int64_t> wanted = spec.OptionalInt("replicas");
  const int64_t available = status.Int("availableReplicas");
  RETURN_IF_ERROR(root.error());
  if (observed && available >= wanted.value_or(available)) return true;
  return Missing(object, {wanted.value_or(available), wanted.value_or(available), available});
}

absl::StatusOr<Health> DaemonSetHealth(const kube::Object& object) {
  Fields root(object.root(), "");
  Fields status = root.In("status");
  const bool observed =
      status.Int64("observedGeneration") == root.In("metadata").Int64("generation");
  const int64_t updated = status.Int("updatedNumberScheduled");
  const int64_t wanted = status.Int("desiredNumberScheduled");
  const int64_t available = status.Int("numberAvailable");
  RETURN_IF_ERROR(root.error());
  if (observed && updated >= wanted && available >= updated) return true;
  return Missing(object, {wanted, updated, available});
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
  table.Add({"apps", "v1", "DaemonSet"}, {.aggregate_status = AggregateDaemonSet,
                                          .get_dependencies = TemplateDependencies,
                                          .reflect_status = ReflectDaemonSet,
                                          .interpret_health = DaemonSetHealth});
}

}  // namespace interpreter::native
