// A pass takes three steps. It triggers each workload that has no result yet, by setting its
// binding's rescheduleTriggeredAt to the moment when the rebalancer was created, unless the binding
// has that moment or a later one. It writes the results, and finishTime when all of them are there.
// When all are, and the time to live is over, it deletes the rebalancer; otherwise the pass is
// repeated at that time.
//
// A workload without a binding has failed for good, which is why the server is asked before that is
// said. Other failures leave the item without a result; what has been done is written all the same,
// and the pass is repeated with back-off. A pass that is repeated after its status was lost
// triggers nothing twice. All that is known is in the status and in the bindings.

#include "controllers/workload_rebalancer/workload_rebalancer_reconciler.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/workload_rebalancer/observed_workloads.h"
#include "controllers/workload_rebalancer/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

bool IsFinished(const std::vector<api::ObservedWorkload>& observed) {
  return std::none_of(observed.begin(), observed.end(),
                      [](const api::ObservedWorkload& item) { return item.result.empty(); });
}

// Returns whether a reschedule of the binding was requested at `created` or later.
bool WasTriggeredSince(const kube::Object& binding, absl::string_view created) {
  const absl::StatusOr<absl::Time> at =
      kube::ParseTime(api::BindingView(binding).RescheduleTriggeredAt());
  const absl::StatusOr<absl::Time> wanted = kube::ParseTime(created);
  return at.ok() && wanted.ok() && *at >= *wanted;
}

}  // namespace

absl::StatusOr<kube::Action> WorkloadRebalancerReconciler::Reconcile(const kube::Request& request,
                                                                     const base::StopToken& stop) {
  const kube::ObjectPtr rebalancer =
      manager_.cluster().Find(api::WorkloadRebalancers(), request.key);
  if (rebalancer == nullptr || rebalancer->IsDeleting()) return kube::Action::Gone();
  std::vector<api::ObservedWorkload> observed =
      WorkloadsToObserve(api::WorkloadRebalancerView(*rebalancer));
  const absl::Status triggered = TriggerAll(*rebalancer, observed, stop);
  if (absl::IsCancelled(triggered)) return triggered;
  const absl::StatusOr<kube::ObjectPtr> now = WriteStatus(rebalancer, observed, stop);
  if (kube::IsGone(now.status())) return kube::Action::Done();
  RETURN_IF_ERROR(base::Annotate(now.status(), "writing the status of ", rebalancer->Describe()));
  // Only what has been written is reported, so that a pass that is repeated says it once.
  Report(*rebalancer, **now);
  // The status is written first: what was asked for successfully is not asked for again.
  RETURN_IF_ERROR(triggered);
  return Expire(**now, stop);
}

void WorkloadRebalancerReconciler::Report(const kube::Object& before, const kube::Object& now) {
  const kube::InvolvedObject about = kube::InvolvedObject::Of(now);
  const api::WorkloadRebalancerView view(now);
  const std::vector<api::ObservedWorkload> known =
      api::WorkloadRebalancerView(before).ObservedWorkloads();
  const std::vector<api::ObservedWorkload> observed = view.ObservedWorkloads();
  if (before.status()["observedGeneration"] != now.status()["observedGeneration"]) {
    recorder_.Normal(about, api::reason::kRebalanceStarted,
                     absl::StrCat("The scheduler is asked to place ", view.Workloads().size(),
                                  " workload(s) again."));
  }
  int64_t failed = 0;
  for (const api::ObservedWorkload& item : observed) {
    if (item.result != api::kRebalanceFailed) continue;
    ++failed;
    if (std::find(known.begin(), known.end(), item) != known.end()) continue;
    recorder_.Warning(about, api::reason::kRebalanceWorkloadFailed,
                      absl::StrCat(item.workload.Describe(),
                                   " has no binding, so no policy propagates it, or there is no "
                                   "such object."));
  }
  if (!view.FinishTime().has_value() ||
      view.FinishTime() == api::WorkloadRebalancerView(before).FinishTime()) {
    return;
  }
  recorder_.Normal(about, api::reason::kRebalanceFinished,
                   absl::StrCat("The scheduler was asked to place ", observed.size() - failed,
                                " workload(s) again; ", failed, " failed."));
}

absl::Status WorkloadRebalancerReconciler::TriggerAll(const kube::Object& rebalancer,
                                                      std::vector<api::ObservedWorkload>& observed,
                                                      const base::StopToken& stop) {
  base::ErrorList errors;
  for (api::ObservedWorkload& item : observed) {
    // A result is final: each workload is asked for once, also after a restart.
    if (!item.result.empty()) continue;
    const absl::Status triggered = Trigger(rebalancer, item.workload, stop);
    if (absl::IsCancelled(triggered)) return triggered;
    if (triggered.ok()) {
      item.result = api::kRebalanceSuccessful;
    } else if (kube::IsGone(triggered)) {
      item.result = api::kRebalanceFailed;
      item.reason = api::kReferencedBindingNotFound;
    } else {
      errors.Add(base::Annotate(triggered, "asking to reschedule ", item.workload.Describe()));
    }
  }
  return errors.Join();
}

absl::Status WorkloadRebalancerReconciler::Trigger(const kube::Object& rebalancer,
                                                   const api::ObjectReference& workload,
                                                   const base::StopToken& stop) {
  const auto& [bindings, key] = api::BindingOf(workload.kind, workload.key());
  kube::ClusterClient& client = manager_.cluster();
  kube::ObjectPtr binding = client.Find(bindings, key);
  if (binding == nullptr) {
    // The result "no binding" is final, so it must not rest on a cache that may lag behind.
    ASSIGN_OR_RETURN(kube::Object live, client.raw().Get(bindings, key, stop));
    binding = kube::Share(std::move(live));
  }
  const absl::string_view created = rebalancer.metadata()["creationTimestamp"].AsString();
  // The moment is that of the creation, not of this pass, so that a repeated pass asks for nothing
  // new.
  if (WasTriggeredSince(*binding, created)) return absl::OkStatus();
  kube::Object after = *binding;
  api::SetRescheduleTriggeredAt(after, created);
  kube::UpdateOptions options;
  // A later moment that somebody has set meanwhile must stay.
  options.precondition = kube::UpdateOptions::Precondition::kAlways;
  return client.Update(bindings, binding, after, options, stop).status();
}

absl::StatusOr<kube::ObjectPtr> WorkloadRebalancerReconciler::WriteStatus(
    const kube::ObjectPtr& rebalancer, const std::vector<api::ObservedWorkload>& observed,
    const base::StopToken& stop) {
  kube::Object after = *rebalancer;
  api::SetObservedWorkloads(after, observed);
  const bool changed = after.status() != rebalancer->status() ||
                       !api::WorkloadRebalancerView(*rebalancer).FinishTime().has_value();
  if (changed && IsFinished(observed)) {
    api::SetFinishTime(after, manager_.clock().Now());
  }
  return manager_.cluster().Update(api::WorkloadRebalancers(), rebalancer, after,
                                   {.subresource = "status"}, stop);
}

absl::StatusOr<kube::Action> WorkloadRebalancerReconciler::Expire(const kube::Object& rebalancer,
                                                                  const base::StopToken& stop) {
  const api::WorkloadRebalancerView view(rebalancer);
  const std::optional<absl::Duration> ttl = view.TtlAfterFinished();
  const std::optional<absl::Time> finished = view.FinishTime();
  if (!ttl.has_value() || !finished.has_value()) return kube::Action::Done();
  const absl::Duration left = *finished + *ttl - manager_.clock().Now();
  if (left > absl::ZeroDuration()) return kube::Action::After(left);
  // The precondition keeps a rebalancer that was edited at the last moment.
  RETURN_IF_ERROR(manager_.cluster().Delete(
      api::WorkloadRebalancers(), rebalancer.key(),
      {.resource_version = std::string(rebalancer.resource_version())}, stop));
  return kube::Action::Done();
}

absl::Status RegisterWorkloadRebalancer(const Context& context, int workers) {
  context.NewController(api::kWorkloadRebalancer, workers)
      .Watches(api::WorkloadRebalancers(),
               {.when = {.update = kube::GenerationChanged, .remove = kube::Never}})
      .Reads(api::ResourceBindings())
      .Reads(api::ClusterResourceBindings())
      .Build(std::make_unique<WorkloadRebalancerReconciler>(context.manager));
  return absl::OkStatus();
}

}  // namespace controllers
