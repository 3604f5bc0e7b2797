// A pass is about one quota: it deletes those of its Works whose cluster is not assigned any more,
// and then writes a Work for each cluster that has an assignment and takes Works. What is right
// already is not sent, and a cluster that fails does not hold up the others. All Works of a quota
// are deleted when it was seen to be deleted. Works whose quota is merely not there stay, and say
// so: a restored backup may bring it yet.
//
// A quota is queued when its assignments change, when an assigned cluster gets its execution
// namespace, and when somebody changes or deletes one of its Works. Limits that no member would
// accept (negative, or not a quantity at all) are not sent; only a change of the quota repairs
// them, so nothing is tried again.

#include "controllers/federated_quota/quota_sync_reconciler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/absent_clusters.h"
#include "api/federated_resource_quota.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/status.h"
#include "controllers/context/execution_namespace.h"
#include "controllers/context/new_specs.h"
#include "controllers/context/seen_deletions.h"
#include "controllers/federated_quota/quota_works.h"
#include "controllers/federated_quota/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"
#include "works/related.h"
#include "works/unregistering.h"

namespace controllers {
namespace {

constexpr char kResourceQuota[] = "ResourceQuota";

bool OtherAssignments(const kube::Object& before, const kube::Object& after) {
  return before.spec()["staticAssignments"] != after.spec()["staticAssignments"];
}

// A deletion is not a change of the content; the end of the Work queues its quota.
bool OtherContent(const kube::Object& before, const kube::Object& after) {
  return !after.IsDeleting() &&
         (kube::GenerationChanged(before, after) || api::QuotaOf(before) != api::QuotaOf(after));
}

kube::Object ResourceQuota(const kube::ObjectKey& key, const api::ResourceList& hard) {
  kube::Object quota = kube::Object::Make({"", "v1", kResourceQuota}, key);
  const json::Value limits = hard.ToJson();
  quota.Set({"spec"},
            limits.is_null() ? json::Value::Object() : json::Value::Object({{"hard", limits}}));
  return quota;
}

}  // namespace

QuotaSyncReconciler::QuotaSyncReconciler(kube::Manager& manager,
                                         std::shared_ptr<SeenDeletions> seen)
    : manager_(manager),
      seen_(std::move(seen)),
      writer_(manager.cluster()),
      recorder_(manager.events(), api::kQuotaSyncController, outcomes()) {}

absl::StatusOr<kube::Action> QuotaSyncReconciler::Reconcile(const kube::Request& request,
                                                            const base::StopToken& stop) {
  const kube::ObjectPtr quota =
      manager_.cluster().Find(api::FederatedResourceQuotas(), request.key);
  if (request.reason == kReportAbsent) {
    if (quota != nullptr) ReportAbsentClusters(*quota);
    return kube::Action::Done();
  }
  if (quota == nullptr) return CleanUpAfter(request.key, stop);
  seen_->Forget(request.key);
  const Synced synced = Sync(*quota, stop);
  const absl::Status result = recorder_.Judge(request, "", synced.status);
  recorder_.Outcome(
      {.of = request,
       .about = {kube::InvolvedObject::Of(*quota)},
       .success = {api::reason::kSyncWorkSucceed, api::message::QuotaSynced(request.key)},
       .failure = {api::reason::kSyncWorkFailed, ""},
       .routine = synced.changed},
      result);
  RETURN_IF_ERROR(result);
  return kube::Action::Done();
}

absl::StatusOr<kube::Action> QuotaSyncReconciler::CleanUpAfter(const kube::ObjectKey& key,
                                                               const base::StopToken& stop) {
  const std::string name = key.ToString();
  const std::vector<kube::ObjectPtr> works =
      manager_.cluster().ByIndex(api::Works(), kWorksByQuota, name);
  if (!works.empty()) {
    ASSIGN_OR_RETURN(const auto absence,
                     seen_->Judge(manager_.cluster(), api::FederatedResourceQuotas(), key, stop));
    // The server still has the quota, and its event is on the way.
    if (absence == SeenDeletions::Absence::kOfCache) return kube::Action::Done();
    if (absence == SeenDeletions::Absence::kUnseen) {
      return kube::Action::Gone(ReportKept(recorder_, manager_.clock().Now(), works,
                                           absl::StrCat("FederatedResourceQuota ", name)));
    }
    base::ErrorList errors;
    for (const kube::ObjectPtr& work : works) errors.Add(DeleteWork(*work, stop));
    RETURN_IF_ERROR(errors.Join());
  }
  return kube::Action::Gone();
}

absl::Status QuotaSyncReconciler::DeleteWork(const kube::Object& work,
                                             const base::StopToken& stop) {
  if (work.IsDeleting()) return absl::OkStatus();
  return base::Annotate(
      manager_.cluster().Delete(api::Works(), work.key(), {.uid = std::string(work.uid())}, stop),
      "deleting Work ", work.key().ToString());
}

QuotaSyncReconciler::Synced QuotaSyncReconciler::Sync(const kube::Object& quota,
                                                      const base::StopToken& stop) {
  kube::ClusterClient& client = manager_.cluster();
  base::ErrorList errors;
  bool changed = false;
  for (const kube::ObjectPtr& work :
       client.ByIndex(api::Works(), kWorksByQuota, quota.key().ToString())) {
    const auto cluster = api::ClusterOfExecutionNamespace(work->ns());
    // Assigned is enough to keep a Work: a cluster that is not ready, or has unusable limits, keeps
    // what it has.
    const bool wanted = cluster.ok() && api::FederatedResourceQuotaView(quota).IsAssigned(*cluster);
    if (wanted || work->IsDeleting()) continue;
    changed = true;
    errors.Add(DeleteWork(*work, stop));
  }
  for (const kube::ObjectPtr& cluster : client.List(api::Clusters())) {
    const absl::StatusOr<bool> written = WriteFor(quota, *cluster, stop);
    errors.Add(base::Annotate(written.status(), "cluster ", cluster->name()));
    changed = changed || (written.ok() && *written);
  }
  return {errors.Join(), changed};
}

absl::StatusOr<bool> QuotaSyncReconciler::WriteFor(const kube::Object& quota,
                                                   const kube::Object& cluster,
                                                   const base::StopToken& stop) {
  const std::string name(cluster.name());
  const json::Value& limits = api::FederatedResourceQuotaView(quota).HardFor(name);
  // The creation of its execution namespace queues the cluster.
  if (limits.is_null() || !works::TakesWorks(manager_.cluster(), cluster)) return false;
  const absl::StatusOr<api::ResourceList> hard = api::ResourceList::FromLimits(limits);
  if (!hard.ok()) {
    return base::Terminal(base::Annotate(hard.status(), "spec.staticAssignments.hard"));
  }
  works::WantedWork work;
  work.key = {api::ExecutionNamespace(name),
              api::WorkName(kResourceQuota, quota.name(), quota.ns())};
  work.manifest = ResourceQuota(quota.key(), *hard);
  work.labels = api::QuotaLabels(quota.key());
  const absl::StatusOr<works::WorkWriter::Result> result = writer_.CreateOrUpdate(work, stop);
  if (!result.ok()) return works::ExplainedByCluster(manager_.cluster(), name, result.status());
  return result->written;
}

void QuotaSyncReconciler::ReportAbsentClusters(const kube::Object& quota) {
  const std::vector<std::string> absent =
      api::FederatedResourceQuotaView(quota).AbsentClusters([this](absl::string_view name) {
        return manager_.cluster().Find(api::Clusters(), {"", std::string(name)}) != nullptr;
      });
  if (absent.empty()) return;
  recorder_.Warning(kube::InvolvedObject::Of(quota), api::reason::kClusterNotFound,
                    api::message::ClustersAreAbsent(absent));
}

absl::Status RegisterQuotaSync(const Context& context, int workers) {
  const std::shared_ptr<kube::Informer> quotas = context.InformerOf(api::FederatedResourceQuotas());
  const auto seen = std::make_shared<SeenDeletions>();
  kube::Controller& controller =
      context.NewController(api::kQuotaSyncController, workers)
          .Watches(quotas, {.when = {.update = OtherAssignments, .remove = kube::Never}})
          .Watches(quotas, OnDeletion(seen))
          .Watches(api::Works(),
                   {.when = {.update = OtherContent},
                    .map = RequestForQuotaOf,
                    .removal_delay = works::TimeToUnregister(context.manager.cluster())})
          .Reads(api::Works(), kWorksByQuota, QuotaIndexValues)
          .Reads(api::Clusters())
          .Reads(api::Namespaces())
          .Build(std::make_unique<QuotaSyncReconciler>(context.manager, seen));
  kube::WorkQueue& queue = controller.queue();
  QueueNewSpecs(context, controller,
                {.resource = api::FederatedResourceQuotas(),
                 .differs = OtherAssignments,
                 .reason = QuotaSyncReconciler::kReportAbsent});
  OnExecutionNamespace(context, controller, [&queue, quotas](const std::string& cluster) {
    for (const kube::ObjectPtr& quota : quotas->store().List()) {
      if (!api::FederatedResourceQuotaView(*quota).IsAssigned(cluster)) continue;
      queue.Add({.key = quota->key()});
    }
  });
  return absl::OkStatus();
}

}  // namespace controllers
