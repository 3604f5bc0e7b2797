// A pass is about one quota: it reads the status of its Works and writes what differs. A Work that
// could not be applied counts as if the cluster had said nothing. A status that cannot be read
// leaves only its own cluster out, with an event; it is looked at again when the Work's status
// changes.

#include "controllers/federated_quota/quota_status_reconciler.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "controllers/federated_quota/quota_works.h"
#include "controllers/federated_quota/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

bool OtherStatus(const kube::Object& before, const kube::Object& after) {
  return before.status() != after.status() || api::QuotaOf(before) != api::QuotaOf(after);
}

// The status is this loop's own, apart from what others write there by mistake.
bool OtherSpecOrStatus(const kube::Object& before, const kube::Object& after) {
  return kube::GenerationChanged(before, after) || before.status() != after.status();
}

absl::StatusOr<api::ClusterQuotaStatus> Reported(const std::string& cluster,
                                                 const json::Value& status) {
  api::ClusterQuotaStatus out;
  out.cluster = cluster;
  ASSIGN_OR_RETURN(out.hard, api::ResourceList::FromJson(status["hard"]));
  ASSIGN_OR_RETURN(out.used, api::ResourceList::FromJson(status["used"]));
  return out;
}

api::ResourceList SumOfUsed(const std::vector<api::ClusterQuotaStatus>& clusters) {
  api::ResourceList sum;
  for (const api::ClusterQuotaStatus& cluster : clusters) sum.Add(cluster.used);
  return sum;
}

}  // namespace

QuotaStatusReconciler::QuotaStatusReconciler(kube::Manager& manager, bool sums_up)
    : manager_(manager),
      sums_up_(sums_up),
      recorder_(manager.events(), api::kQuotaStatusController, outcomes()) {}

absl::StatusOr<kube::Action> QuotaStatusReconciler::Reconcile(const kube::Request& request,
                                                              const base::StopToken& stop) {
  const kube::ObjectPtr quota =
      manager_.cluster().Find(api::FederatedResourceQuotas(), request.key);
  if (quota == nullptr || quota->IsDeleting()) return kube::Action::Gone();
  const absl::StatusOr<bool> written = Write(quota, stop);
  const absl::Status result = recorder_.Judge(request, "", kube::IgnoreGone(written.status()));
  recorder_.Outcome({.of = request,
                     .about = {kube::InvolvedObject::Of(*quota)},
                     .success = {api::reason::kAggregateStatusSucceed,
                                 api::message::QuotaStatusCollected(request.key)},
                     .failure = {api::reason::kAggregateStatusFailed, ""},
                     .routine = written.ok() && *written},
                    result);
  RETURN_IF_ERROR(result);
  return kube::Action::Done();
}

absl::StatusOr<bool> QuotaStatusReconciler::Write(const kube::ObjectPtr& quota,
                                                  const base::StopToken& stop) {
  base::ErrorList errors;
  const std::vector<api::ClusterQuotaStatus> clusters = Collect(quota->key(), errors);
  kube::Object after = *quota;
  api::SetAggregatedStatus(after, clusters);
  // With the gate for enforcement on, the other loop writes these fields, by what bindings use.
  if (sums_up_) {
    const auto overall =
        api::ResourceList::FromJson(api::FederatedResourceQuotaView(*quota).Overall());
    if (overall.ok()) {
      api::SetOverall(after, *overall, SumOfUsed(clusters));
    } else {
      errors.Add(base::Terminal(base::Annotate(overall.status(), "spec.overall")));
    }
  }
  const absl::StatusOr<kube::ObjectPtr> written = manager_.cluster().Update(
      api::FederatedResourceQuotas(), quota, after, {.subresource = "status"}, stop);
  errors.Add(written.status());
  RETURN_IF_ERROR(errors.Join());
  return *written != quota;
}

std::vector<api::ClusterQuotaStatus> QuotaStatusReconciler::Collect(const kube::ObjectKey& quota,
                                                                    base::ErrorList& errors) {
  std::vector<api::ClusterQuotaStatus> out;
  for (const kube::ObjectPtr& object :
       manager_.cluster().ByIndex(api::Works(), kWorksByQuota, quota.ToString())) {
    const api::WorkView work(*object);
    const json::Value& said = object->status()["manifestStatuses"].At(0)["status"];
    const auto cluster = api::ClusterOfExecutionNamespace(object->ns());
    if (!work.IsApplied() || said.is_null() || !cluster.ok()) continue;
    absl::StatusOr<api::ClusterQuotaStatus> status = Reported(*cluster, said);
    if (status.ok()) {
      out.push_back(*std::move(status));
    } else {
      errors.Add(base::Terminal(base::Annotate(
          status.status(), "the status of the ResourceQuota in cluster ", *cluster)));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.cluster < b.cluster; });
  return out;
}

absl::Status RegisterQuotaStatus(const Context& context, int workers) {
  const bool enforced = context.options.gates.Enabled(config::Gate::kFederatedQuotaEnforcement);
  context.NewController(api::kQuotaStatusController, workers)
      .Watches(api::FederatedResourceQuotas(), {.when = {.update = OtherSpecOrStatus}})
      .Watches(api::Works(),
               {.when = {.add = kube::Never, .update = OtherStatus}, .map = RequestForQuotaOf})
      .Reads(api::Works(), kWorksByQuota, QuotaIndexValues)
      .Build(std::make_unique<QuotaStatusReconciler>(context.manager, !enforced));
  return absl::OkStatus();
}

}  // namespace controllers
