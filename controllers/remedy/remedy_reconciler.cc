// A pass is about one cluster and takes all Remedies into account. A cluster is looked at when it
// is added, when its conditions or its actions change, and when a Remedy that concerns it is added,
// changed or removed. Clusters of the first list are looked at, too, so that what happened while no
// controller manager ran is made up for.

#include "controllers/remedy/remedy_reconciler.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/absent_clusters.h"
#include "api/cluster.h"
#include "api/reasons.h"
#include "api/remedy.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/context/new_specs.h"
#include "controllers/remedy/register.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

bool OtherConditionsOrActions(const kube::Object& before, const kube::Object& after) {
  return before.status()["conditions"] != after.status()["conditions"] ||
         before.status()["remedyActions"] != after.status()["remedyActions"];
}

bool OtherSpec(const kube::Object& before, const kube::Object& after) {
  return before.spec() != after.spec();
}

}  // namespace

absl::StatusOr<kube::Action> RemedyReconciler::Reconcile(const kube::Request& request,
                                                         const base::StopToken& stop) {
  if (request.reason == kReportAbsent) {
    ReportAbsentClusters(request.key);
    return kube::Action::Done();
  }
  const std::string& name = request.key.name;
  const kube::ObjectPtr cluster = manager_.cluster().Find(api::Clusters(), request.key);
  if (cluster == nullptr || cluster->IsDeleting()) return kube::Action::Done();
  std::set<std::string> actions;
  for (const kube::ObjectPtr& object : manager_.cluster().List(api::Remedies())) {
    const api::RemedyView remedy(*object);
    if (!remedy.Concerns(name) || !remedy.Matches(api::ClusterView(*cluster))) continue;
    for (std::string& action : remedy.Actions()) actions.insert(std::move(action));
  }
  kube::Object after = *cluster;
  api::SetRemedyActions(after, actions);
  const absl::StatusOr<kube::ObjectPtr> written =
      manager_.cluster().Update(api::Clusters(), cluster, after, {.subresource = "status"}, stop);
  RETURN_IF_ERROR(base::Annotate(kube::IgnoreGone(written.status()),
                                 "setting the remedy actions of cluster ", name));
  if (written.ok() && *written != cluster) {
    base::LogInfo("remedy actions of a cluster have changed",
                  {{"cluster", name}, {"actions", json::Write(after.status()["remedyActions"])}});
  }
  return kube::Action::Done();
}

void RemedyReconciler::ReportAbsentClusters(const kube::ObjectKey& key) {
  const kube::ObjectPtr remedy = manager_.cluster().Find(api::Remedies(), key);
  if (remedy == nullptr) return;
  const std::vector<std::string> absent =
      api::RemedyView(*remedy).AbsentClusters([this](absl::string_view name) {
        return manager_.cluster().Find(api::Clusters(), {"", std::string(name)}) != nullptr;
      });
  if (absent.empty()) return;
  recorder_.Warning(kube::InvolvedObject::Of(*remedy), api::reason::kClusterNotFound,
                    api::message::ClustersAreAbsent(absent));
}

absl::Status RegisterRemedy(const Context& context, int workers) {
  const std::shared_ptr<kube::Informer> clusters = context.InformerOf(api::Clusters());
  const kube::MapFn concerned = [clusters](const kube::Object& remedy) {
    std::vector<kube::Request> requests;
    for (const kube::ObjectPtr& cluster : clusters->store().List()) {
      if (!api::RemedyView(remedy).Concerns(cluster->name())) continue;
      requests.push_back({.key = cluster->key()});
    }
    return requests;
  };
  kube::Controller& controller =
      context.NewController(api::kRemedyController, workers)
          .Watches(clusters, {.when = {.update = OtherConditionsOrActions, .remove = kube::Never}})
          .Watches(api::Remedies(), {.when = {.update = OtherSpec}, .map = concerned})
          .Build(std::make_unique<RemedyReconciler>(context.manager));
  QueueNewSpecs(context, controller,
                {.resource = api::Remedies(),
                 .differs = OtherSpec,
                 .reason = RemedyReconciler::kReportAbsent});
  return absl::OkStatus();
}

}  // namespace controllers
