// Requests name targets, not autoscalers, because an autoscaler that is gone or has another target
// cannot be asked any more what it scaled. Whether a target is marked follows from the present
// autoscalers, found by an index: so one that lets go of a target takes nothing from another, and a
// repeated request writes nothing.
//
// The label is removed only when an autoscaler was seen to let go. A user may have set it by hand,
// which nothing tells apart, so a start removes nothing; as upstream, an autoscaler that is deleted
// while no controller manager runs leaves its label behind.

#include "controllers/scale_target/scale_target_reconciler.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/scale_target/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"
#include "works/template_read.h"

namespace controllers {
namespace {

constexpr char kByTarget[] = "scale-target";

bool IsPropagated(const kube::Object& autoscaler) {
  return autoscaler.labels().Has(api::kPropagationPolicyIdLabel) ||
         autoscaler.labels().Has(api::kClusterPropagationPolicyIdLabel);
}

// Returns no request for a reference that names no object.
std::vector<kube::Request> TargetOf(const kube::Object& autoscaler, kube::Reason reason) {
  const json::Value& reference = autoscaler.spec()["scaleTargetRef"];
  const auto gvk = kube::ParseGvk(reference["apiVersion"].AsString(), reference["kind"].AsString());
  const std::string name(reference["name"].AsString());
  if (!gvk.ok() || gvk->empty() || name.empty()) return {};
  return {{.key = {std::string(autoscaler.ns()), name}, .gvk = *gvk, .reason = reason}};
}

std::string IndexOf(const kube::Request& target) {
  return absl::StrCat(target.key.ToString(), " ", target.gvk.ToString());
}

std::vector<std::string> IndexValues(const kube::Object& autoscaler) {
  std::vector<std::string> values;
  for (const kube::Request& target : TargetOf(autoscaler, ScaleTargetReconciler::kMark)) {
    values.push_back(IndexOf(target));
  }
  return values;
}

std::vector<kube::Request> Marked(const kube::Object& autoscaler) {
  if (!IsPropagated(autoscaler)) return {};
  return TargetOf(autoscaler, ScaleTargetReconciler::kMark);
}

std::vector<kube::Request> Released(const kube::Object& autoscaler) {
  return TargetOf(autoscaler, ScaleTargetReconciler::kRelease);
}

std::vector<kube::Request> AfterUpdate(const kube::Object& before, const kube::Object& after) {
  std::vector<kube::Request> requests = Marked(after);
  const std::vector<kube::Request> old = Released(before);
  if (old != Released(after)) requests.insert(requests.end(), old.begin(), old.end());
  return requests;
}

}  // namespace

absl::StatusOr<kube::Action> ScaleTargetReconciler::Reconcile(const kube::Request& request,
                                                              const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  const std::vector<kube::ObjectPtr> autoscalers =
      client.ByIndex(api::HorizontalPodAutoscalers(), kByTarget, IndexOf(request));
  const bool wanted = std::any_of(autoscalers.begin(), autoscalers.end(),
                                  [](const auto& found) { return IsPropagated(*found); });
  // Not marked, and nobody was seen to let go: a label that is there may be a user's.
  if (!wanted && request.reason != kRelease) return kube::Action::Done();
  const auto resource = client.mapper().ForKind(request.gvk, stop);
  RETURN_IF_ERROR(base::Annotate(resource.status(), "finding what scales ", request.ToString()));
  // An autoscaler's reference is about its own namespace. A server would answer with the object of
  // a kind without namespaces all the same, which is not the autoscaler's author's to change.
  if (!resource->namespaced) return kube::Action::Done();
  const absl::StatusOr<kube::ObjectPtr> target =
      works::ReadTemplate(client, *resource, request.key, stop);
  // A target that is created later is marked with the next update of its autoscaler's status.
  if (kube::IsGone(target.status())) return kube::Action::Done();
  RETURN_IF_ERROR(target.status());
  kube::Object after = **target;
  if (wanted) {
    after.SetLabel(api::kRetainReplicasLabel, api::kRetainReplicasValue);
  } else {
    after.EraseLabel(api::kRetainReplicasLabel);
  }
  kube::UpdateOptions options;
  // The last write of a former leader may arrive when the target has been let go.
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  const absl::StatusOr<kube::ObjectPtr> written =
      client.Update(*resource, *target, after, options, stop);
  if (kube::IsGone(written.status())) return kube::Action::Done();
  RETURN_IF_ERROR(base::Annotate(written.status(), "labelling ", request.ToString()));
  if (*written != *target) {
    base::LogInfo(wanted ? "replicas of an autoscaler's target are left to the members"
                         : "replicas of a target without autoscalers are determined here again",
                  {{"target", request.ToString()}});
  }
  return kube::Action::Done();
}

absl::Status RegisterScaleTarget(const Context& context, int workers) {
  const kube::Resource& autoscalers = api::HorizontalPodAutoscalers();
  context.NewController(api::kHpaScaleTargetMarker, workers)
      .Watches(autoscalers,
               {.when = {.remove = kube::Never}, .map = Marked, .map_update = AfterUpdate})
      .Watches(autoscalers,
               {.when = {.add = kube::Never, .update = kube::NeverUpdate}, .map = Released})
      .Reads(autoscalers, kByTarget, IndexValues)
      .ReadsWatchedKinds()
      .Build(std::make_unique<ScaleTargetReconciler>(context.manager));
  return absl::OkStatus();
}

}  // namespace controllers
