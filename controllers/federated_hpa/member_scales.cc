// Sum reads every cluster, at the same time where that waits for servers, and then adds up what
// they have said, in the order of the clusters: the first selector prevails, whoever has answered
// first.

#include "controllers/federated_hpa/member_scales.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/autoscaling/pod_metrics.h"
#include "kube/client/errors.h"
#include "kube/meta/selector.h"

namespace controllers {
namespace {

// Returns whether an object of the kind says itself what its Scale would.
bool IsWorkloadOfKubernetes(const kube::Gvk& gvk) {
  return gvk.group == "apps" &&
         (gvk.kind == "Deployment" || gvk.kind == "StatefulSet" || gvk.kind == "ReplicaSet");
}

kube::Object ScaleOfWorkload(const kube::Object& workload) {
  constexpr int64_t kDefaultReplicas = 1;
  kube::Object scale = kube::Object::Make({"autoscaling", "v1", "Scale"}, workload.key());
  scale.Set({"spec", "replicas"}, workload.spec()["replicas"].AsInt(kDefaultReplicas));
  scale.Set({"status", "replicas"}, workload.status()["replicas"].AsInt());
  const auto selector = kube::LabelSelector::FromJson(workload.spec()["selector"]);
  if (selector.ok() && !selector->MatchesNothing()) {
    scale.Set({"status", "selector"}, selector->ToString());
  }
  return scale;
}

}  // namespace

void MemberScales::SetInUse(bool in_use) {
  deps_.inventory.SetReads(api::kFederatedHpaController, api::Pods(),
                           in_use ? autoscaling::PodFields() : std::vector<std::string>());
}

MemberScaleSum MemberScales::Sum(const ScaleTarget& target,
                                 const std::vector<std::string>& clusters,
                                 const base::StopToken& stop) {
  const Question question = {target, deps_.clock.SteadyNow() + kDeadline, stop};
  std::vector<Reading> readings(clusters.size());
  const auto read = [&](size_t i) {
    readings[i] = Read(clusters[i], question);
    return absl::OkStatus();
  };
  // Readings of caches are too short to be worth threads.
  if (Waits(target, clusters)) {
    base::IgnoreError(fan_out_.Run(clusters.size(), read), "the readings have the errors");
  } else {
    for (size_t i = 0; i < clusters.size(); ++i) base::IgnoreError(read(i), "the same");
  }
  MemberScaleSum sum;
  for (size_t i = 0; i < clusters.size(); ++i) {
    const absl::Status added = Add(clusters[i], target.key.ns, readings[i], sum);
    if (!added.ok() && !absl::IsCancelled(added)) Report(clusters[i], target, added);
  }
  // No cluster said how its pods are found: then at least the replicas are known, and the error is
  // that of the selector. If one did, the failures of the others were reported above.
  if (sum.selector.empty()) {
    sum.replicas = sum.replicas_without_pods;
  } else {
    sum.selector_error.clear();
  }
  return sum;
}

bool MemberScales::Waits(const ScaleTarget& target, const std::vector<std::string>& clusters) {
  if (!IsWorkloadOfKubernetes(target.gvk)) return true;
  return std::any_of(clusters.begin(), clusters.end(), [this](const std::string& cluster) {
    const auto pods = deps_.inventory.InformerFor(cluster, api::Pods());
    return pods.ok() && !(*pods)->HasSynced();
  });
}

MemberScales::Reading MemberScales::Read(const std::string& cluster, const Question& question) {
  Reading reading;
  // The pods come first: replicas without their pods would look like a metric that is missing.
  absl::StatusOr<std::shared_ptr<kube::Informer>> pods = PodsIn(cluster, question.stop);
  if (!pods.ok()) return {.status = pods.status()};
  absl::StatusOr<kube::ObjectPtr> scale = ScaleIn(cluster, question);
  if (!scale.ok()) return {.status = scale.status()};
  return {.pods = *std::move(pods), .scale = *std::move(scale)};
}

absl::Status MemberScales::Add(const std::string& cluster, const std::string& ns,
                               const Reading& reading, MemberScaleSum& sum) {
  RETURN_IF_ERROR(reading.status);
  const ScaleView scale(*reading.scale);
  const std::string text(scale.Selector());
  // Replicas without their pods would look like a metric that is missing, too.
  if (text.empty()) {
    sum.replicas_without_pods += scale.Replicas();
    return absl::FailedPreconditionError("its scale subresource has no status.selector");
  }
  const absl::StatusOr<kube::LabelSelector> selector = kube::LabelSelector::Parse(text);
  if (!selector.ok()) {
    sum.replicas_without_pods += scale.Replicas();
    sum.selector_error = std::string(selector.status().message());
    return base::Annotate(selector.status(), "the selector of its scale");
  }
  sum.replicas += scale.Replicas();
  sum.status_replicas += scale.StatusReplicas();
  if (sum.selector.empty()) sum.selector = text;
  for (kube::ObjectPtr& pod : reading.pods->store().List(ns, *selector)) {
    sum.pods.push_back({cluster, std::move(pod)});
  }
  return absl::OkStatus();
}

absl::StatusOr<kube::ObjectPtr> MemberScales::ScaleIn(const std::string& cluster,
                                                      const Question& question) {
  const ScaleTarget& target = question.target;
  if (!IsWorkloadOfKubernetes(target.gvk)) {
    ASSIGN_OR_RETURN(const std::shared_ptr<kube::MemberCluster> member, deps_.members.Get(cluster));
    const absl::Duration left = question.deadline - deps_.clock.SteadyNow();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError("the deadline passed before its scale was read");
    }
    return GetScale(member->client(), target, question.stop, left);
  }
  ASSIGN_OR_RETURN(
      const kube::ObjectPtr workload,
      deps_.objects.Find(cluster, kube::Object::Make(target.gvk, target.key), question.stop));
  if (workload == nullptr) {
    return absl::NotFoundError(absl::StrCat(target.Describe(), " is not there"));
  }
  return kube::Share(ScaleOfWorkload(*workload));
}

absl::StatusOr<std::shared_ptr<kube::Informer>> MemberScales::PodsIn(const std::string& cluster,
                                                                     const base::StopToken& stop) {
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Informer> pods,
                   deps_.inventory.InformerFor(cluster, api::Pods()));
  RETURN_IF_ERROR(
      base::Annotate(deps_.inventory.Await(cluster, *pods, deps_.clock, stop), "listing its pods"));
  return pods;
}

void MemberScales::Report(const std::string& cluster, const ScaleTarget& target,
                          const absl::Status& failed) {
  const auto verdict =
      errors_.Note(absl::StrCat(cluster, " ", target.Describe(), " ", failed.message()),
                   deps_.clock.SteadyNow());
  if (!verdict.log) return;
  base::LogWarning("a cluster is left out when replicas are computed",
                   {{"cluster", cluster},
                    {"target", target.Describe()},
                    {"error", failed},
                    {"more", verdict.More()}});
}

}  // namespace controllers
