// Three parts. What a service means: the clusters that it names, or all. The warnings: requests of
// kReportUnfit are queued when a spec or the fitness of a cluster changes while this process leads,
// and the pass then looks at the present state, so that a cluster that has recovered meanwhile is
// not warned of. The wake-up calls of the loops: services are queued when a cluster begins or ends
// to take part, or gets its execution namespace. Events at the start are not reported (`initial`),
// and nothing is remembered, so that a restart repeats no warning and misses those of the time
// without a leader.

#include "controllers/multi_cluster_service/unfit_clusters.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "api/absent_clusters.h"
#include "api/resources.h"
#include "controllers/context/execution_namespace.h"
#include "controllers/context/new_specs.h"
#include "kube/runtime/handler_registration.h"
#include "works/related.h"

namespace controllers {
namespace {

using api::MultiClusterServiceView;
using api::ServiceRole;

bool OtherSpec(const kube::Object& before, const kube::Object& after) {
  return before.spec() != after.spec();
}

bool OtherFitness(const kube::Object& before, const kube::Object& after) {
  return api::UnfitnessOf(&before) != api::UnfitnessOf(&after) ||
         before.IsDeleting() != after.IsDeleting();
}

// A cluster that has just been joined is given the time to become ready.
bool IsWorthAWarning(const std::optional<api::Unfitness>& unfitness) {
  return unfitness.has_value() && *unfitness != api::Unfitness::kJoining;
}

bool MeansInOne(const kube::Object& service, const std::vector<ServiceRole>& roles,
                absl::string_view cluster) {
  return std::any_of(roles.begin(), roles.end(),
                     [&](ServiceRole role) { return Means(service, role, cluster); });
}

}  // namespace

bool Means(const kube::Object& service, ServiceRole role, absl::string_view cluster) {
  const MultiClusterServiceView view(service);
  return view.IsCrossCluster() && view.Means(role, cluster);
}

std::set<std::string> ClustersOf(kube::ClusterClient& control_plane, const kube::Object& service,
                                 ServiceRole role) {
  std::set<std::string> names = MultiClusterServiceView(service).ClustersIn(role);
  if (!names.empty()) return names;
  for (const kube::ObjectPtr& cluster : control_plane.List(api::Clusters())) {
    names.emplace(cluster->name());
  }
  return names;
}

bool TakesPart(kube::ClusterClient& control_plane, const kube::Object& cluster) {
  return !api::UnfitnessOf(&cluster).has_value() && works::TakesWorks(control_plane, cluster);
}

void ReportUnfitClusters(kube::ClusterClient& control_plane, kube::EventRecorder& recorder,
                         ServiceRole role, const kube::Request& request) {
  const kube::ObjectPtr service = control_plane.Find(api::MultiClusterServices(), request.key);
  if (service == nullptr || service->IsDeleting()) return;
  if (!MultiClusterServiceView(*service).IsCrossCluster()) return;
  for (const std::string& name : ClustersOf(control_plane, *service, role)) {
    if (!request.cluster.empty() && request.cluster != name) continue;
    const kube::ObjectPtr cluster = control_plane.Find(api::Clusters(), {"", name});
    const std::optional<api::Unfitness> unfitness = api::UnfitnessOf(cluster.get());
    if (!IsWorthAWarning(unfitness)) continue;
    recorder.Warning(kube::InvolvedObject::Of(*service), api::reason::ClusterIsUnfit(*unfitness),
                     api::message::ClusterIsUnfit(role, name, *unfitness));
  }
}

void QueueUnfitReports(const Context& context, kube::Controller& controller, ServiceRole role) {
  QueueNewSpecs(
      context, controller,
      {.resource = api::MultiClusterServices(), .differs = OtherSpec, .reason = kReportUnfit});
  const auto report =
      [&manager = context.manager, &queue = controller.queue(), role,
       services = context.InformerOf(api::MultiClusterServices())](const kube::Object& cluster) {
        if (!manager.IsLeader()) return;
        const std::string name(cluster.name());
        for (const kube::ObjectPtr& service : services->store().List()) {
          if (!Means(*service, role, name)) continue;
          queue.Add({.key = service->key(), .cluster = name, .reason = kReportUnfit});
        }
      };
  kube::EventHandler handler;
  handler.on_add = [report](const kube::ObjectPtr& cluster, bool initial) {
    if (!initial && IsWorthAWarning(api::UnfitnessOf(cluster.get()))) report(*cluster);
  };
  handler.on_update = [report](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    const std::optional<api::Unfitness> now = api::UnfitnessOf(after.get());
    if (now != api::UnfitnessOf(before.get()) && IsWorthAWarning(now)) report(*after);
  };
  // A cluster that is gone is unfit in any case.
  handler.on_delete = [report](const kube::ObjectPtr& cluster) { report(*cluster); };
  controller.Keep(std::make_shared<kube::HandlerRegistration>(context.InformerOf(api::Clusters()),
                                                              std::move(handler)));
}

kube::Enqueue OnFitnessOfClusters(const Context& context, RequestsFor requests,
                                  std::vector<ServiceRole> roles) {
  kube::Enqueue enqueue{.when = {.update = OtherFitness}};
  enqueue.map = [services = context.InformerOf(api::MultiClusterServices()),
                 requests = std::move(requests),
                 roles = std::move(roles)](const kube::Object& cluster) {
    std::vector<kube::Request> out;
    for (const kube::ObjectPtr& service : services->store().List()) {
      if (MeansInOne(*service, roles, cluster.name())) requests(*service, out);
    }
    return out;
  };
  return enqueue;
}

void OnNewExecutionNamespace(const Context& context, kube::Controller& controller,
                             RequestsFor requests, std::vector<ServiceRole> roles) {
  OnExecutionNamespace(
      context, controller,
      [&queue = controller.queue(), services = context.InformerOf(api::MultiClusterServices()),
       requests = std::move(requests), roles = std::move(roles)](const std::string& cluster) {
        std::vector<kube::Request> out;
        for (const kube::ObjectPtr& service : services->store().List()) {
          if (MeansInOne(*service, roles, cluster)) requests(*service, out);
        }
        for (const kube::Request& request : out) queue.Add(request);
      });
}

}  // namespace controllers
