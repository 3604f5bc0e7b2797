#include "detector/pod_inquiry.h"

#include <utility>

#include "api/reasons.h"
#include "base/status.h"
#include "detector/template_memory.h"
#include "kube/runtime/events.h"

namespace detector {

struct PodInquiry::Inquiry {
  interpreter::Operation operation;
  absl::StatusOr<PodDemand> (PodInquiry::*ask)(const kube::Object& object) const;
  const char* failed;
  const char* succeeded;
  const char* success;  // A message.
};

const PodInquiry::Inquiry* PodInquiry::InquiryAbout(const kube::Gvk& gvk) const {
  using interpreter::Operation;
  static constexpr Inquiry kComponents = {
      Operation::kInterpretComponent, &PodInquiry::Components, api::reason::kGetComponentsFailed,
      api::reason::kGetComponentsSucceed, api::message::kGetComponentsSucceed};
  static constexpr Inquiry kReplicas = {
      Operation::kInterpretReplica, &PodInquiry::Replicas, api::reason::kGetReplicasFailed,
      api::reason::kGetReplicasSucceed, api::message::kGetReplicasSucceed};
  const auto answers = [&](const Inquiry& inquiry) {
    return deps_.interpreter.HasRule(gvk, inquiry.operation);
  };
  if (deps_.components && answers(kComponents)) return &kComponents;
  return answers(kReplicas) ? &kReplicas : nullptr;
}

absl::StatusOr<PodDemand> PodInquiry::Ask(const kube::Object& object) const {
  const Inquiry* inquiry = InquiryAbout(object.gvk());
  if (inquiry == nullptr) return PodDemand();
  absl::StatusOr<PodDemand> demand = (this->*inquiry->ask)(object);
  deps_.outcomes.Outcome({.of = OutcomesOf(object),
                          .part = kCounting,
                          .about = {kube::InvolvedObject::Of(object)},
                          .success = {inquiry->succeeded, inquiry->success},
                          .failure = {inquiry->failed, ""}},
                         demand.status());
  RETURN_IF_ERROR(base::Annotate(demand.status(), "asking for the pods of ", object.Describe()));
  return demand;
}

absl::StatusOr<PodDemand> PodInquiry::Components(const kube::Object& object) const {
  PodDemand demand;
  ASSIGN_OR_RETURN(demand.components, deps_.interpreter.GetComponents(object));
  return demand;
}

absl::StatusOr<PodDemand> PodInquiry::Replicas(const kube::Object& object) const {
  PodDemand demand;
  ASSIGN_OR_RETURN(demand.replicas, deps_.interpreter.GetReplicas(object));
  json::Value& requirements = demand.replicas.requirements;
  if (deps_.quota_estimate && requirements.is_object() &&
      requirements["namespace"].AsString().empty() && !object.ns().empty()) {
    // An estimator looks for quotas in that namespace of the member.
    requirements.Set("namespace", object.ns());
  }
  return demand;
}

void PodInquiry::ReportAnswered(const kube::Object& object) const {
  const Inquiry* inquiry = InquiryAbout(object.gvk());
  if (inquiry == nullptr) return;
  deps_.outcomes.Routine(kube::InvolvedObject::Of(object), inquiry->succeeded, inquiry->success);
}

}  // namespace detector
