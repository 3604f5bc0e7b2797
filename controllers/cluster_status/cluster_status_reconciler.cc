// A round for a cluster takes these steps: the connection follows the Cluster and its Secret; the
// probe asks /readyz, and /healthz where there is none; the threshold holds a flip of the Ready
// condition back until it has lasted; a cluster that is ready in both views is asked for its
// version and its kinds, and its nodes and pods are summed up; one patch writes what differs. The
// next round is due after update_frequency, sooner when the Cluster's spec or its Secret changes or
// definitions reach it. When such a change repairs the connection, a success counts at once.
//
// Every failed probe is recorded as an event on the Cluster, also while the condition does not show
// it yet; the sink drops an event that repeats the one before within ten minutes while the Cluster
// stays as it is. A condition that becomes True is an event, too. So is, at most once in ten
// minutes, a success that ends a failure which the condition never showed.
//
// A failed probe changes the Ready condition alone. A part that cannot be collected stays as it
// was, and so do the kinds of an API group that cannot be read, which the condition
// CompleteAPIEnablements reports; the cluster is reported as ready all the same. A write that fails
// is repeated with back-off. A cluster waits for the finalizer of the cluster loop before its first
// round. The age of a flip and the totals are remembered; after a restart the first observation
// counts as it is, and the totals are there with the first list.

#include "controllers/cluster_status/cluster_status_reconciler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/condition.h"
#include "api/keys.h"
#include "api/known_fields.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "controllers/cluster_status/member_probe.h"
#include "controllers/cluster_status/new_definitions.h"
#include "controllers/cluster_status/register.h"
#include "controllers/cluster_status/resource_totals.h"
#include "controllers/context/member_secrets.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/quantity.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

// A member answers /version with some hundred bytes.
constexpr size_t kMostOfVersion = 64 << 10;

kube::Condition Ready(bool ready, const char* reason, std::string message) {
  return api::ConditionOf(api::kClusterReady, ready, reason, std::move(message));
}

using DiscoveryOr = absl::StatusOr<std::shared_ptr<const kube::Discovery>>;

kube::Condition CompleteApis(const DiscoveryOr& discovery, size_t groups) {
  const char* type = api::kCompleteApiEnablements;
  if (!discovery.ok() || groups == 0) {
    return api::ConditionOf(type, false, api::reason::kEmpty, api::message::kApiEnablementsEmpty);
  }
  if (!(*discovery)->failed_groups.empty()) {
    return api::ConditionOf(type, false, api::reason::kPartial,
                            api::message::ApiEnablementsPartial(static_cast<int>(groups)));
  }
  return api::ConditionOf(type, true, api::reason::kComplete,
                          api::message::kApiEnablementsComplete);
}

void SetStatusCondition(json::Value& status, const kube::Condition& condition, absl::Time now) {
  json::Value conditions = status["conditions"];
  kube::SetCondition(conditions, condition, now);
  status.Set("conditions", std::move(conditions));
}

const api::KnownField& StatusField() {
  static const auto& field =
      *new api::KnownField{"status",
                           {{"kubernetesVersion"},
                            {"conditions"},
                            {"apiEnablements",
                             {{"groupVersion"}, {"resources", {{"name"}, {"kind"}}, {"name"}}},
                             {"groupVersion"}},
                            {"nodeSummary", {{"totalNum"}, {"readyNum"}}},
                            {"resourceSummary",
                             {{"allocatable"},
                              {"allocating"},
                              {"allocated"},
                              {"allocatableModelings", {{"grade"}, {"count"}}, {"grade"}}}},
                            {"remedyActions"}}};
  return field;
}

double Amount(const json::Value& list, absl::string_view name) {
  const absl::StatusOr<kube::Quantity> q = kube::Quantity::Parse(list[name].AsString("0"));
  return q.ok() ? q->AsApproximateFloat() : 0;
}

}  // namespace

ClusterStatusReconciler::ClusterStatusReconciler(ClusterStatusDeps deps,
                                                 const ClusterStatusOptions& options)
    : deps_(deps),
      options_(options),
      recorder_(deps.manager.events(), api::kClusterStatusController, outcomes()),
      totals_(deps.inventory),
      threshold_(options.success_threshold, options.failure_threshold) {}

absl::StatusOr<kube::Action> ClusterStatusReconciler::Reconcile(const kube::Request& request,
                                                                const base::StopToken& stop) {
  const std::string& name = request.key.name;
  const kube::ObjectPtr cluster = deps_.manager.cluster().Find(api::Clusters(), request.key);
  if (cluster == nullptr) {
    Forget(name);
    return kube::Action::Gone();
  }
  const api::ClusterView view(*cluster);
  if (!deps_.served.Have(*cluster)) {
    Forget(name);  // This loop may have reported its status until now.
    return kube::Action::Gone();
  }
  // The cluster loop has to accept the cluster first; it sets the finalizer, and that change queues
  // the cluster again.
  if (!cluster->HasFinalizer(api::kClusterFinalizer)) return kube::Action::Done();

  const base::SteadyTime start = deps_.manager.clock().SteadyNow();
  const kube::ObjectPtr secret = deps_.manager.cluster().Find(api::Secrets(), view.SecretRef());
  std::string configuration = ConfigurationOf(view, secret.get());  // Read before the probe does.
  ReadyThreshold::Observation seen = Probe(view, stop);
  if (stop.stop_requested()) return absl::CancelledError("stopping");
  seen.configuration = std::move(configuration);
  const kube::Condition& observed = seen.ready;
  const kube::Condition ready = threshold_.Adjust(
      name, seen, kube::FindCondition(view.Conditions(), api::kClusterReady), start);
  json::Value status = cluster->status();
  SetStatusCondition(status, ready, deps_.manager.clock().Now());
  // Not while the threshold holds a flip back: a member that has just failed or recovered answers
  // slowly.
  if (observed.status == "True" && ready.status == "True") {
    ASSIGN_OR_RETURN(status, Collect(*cluster, std::move(status), stop));
  }
  kube::Object after = *cluster;
  after.Set({"status"}, api::WithUnknown(std::move(status), cluster->status(), StatusField()));
  kube::UpdateOptions options;
  options.subresource = "status";
  ASSIGN_OR_RETURN(const kube::ObjectPtr now,
                   deps_.manager.cluster().Update(api::Clusters(), cluster, after, options, stop));
  Report(*cluster, *now, observed);
  ExportMetrics(*now);
  deps_.manager.registry()
      .GetHistogram("cluster_sync_status_duration_seconds",
                    "Duration of syncing the status of a member cluster.",
                    metrics::DefaultBuckets(), {{"member_cluster", name}})
      .Observe(absl::ToDoubleSeconds(deps_.manager.clock().SteadyNow() - start));
  return kube::Action::After(options_.update_frequency);
}

void ClusterStatusReconciler::Forget(const std::string& cluster) {
  threshold_.Forget(cluster);
  brief_outages_.Forget(cluster);
  totals_.Forget(cluster);
  // As in upstream's CleanupMetricsForCluster, counters of writes to the cluster stay.
  deps_.manager.registry().RemoveSeries("member_cluster", cluster, "cluster_");
}

ReadyThreshold::Observation ClusterStatusReconciler::Probe(const api::ClusterView& cluster,
                                                           const base::StopToken& stop) {
  const std::string name(cluster.name());
  const absl::Status refreshed = deps_.members.Refresh(name);
  const absl::StatusOr<std::shared_ptr<kube::MemberCluster>> member =
      refreshed.ok() ? deps_.members.Get(name) : refreshed;
  if (!member.ok()) {
    return {.ready = Ready(false, api::reason::kStatusCollectionFailed,
                           api::message::ClusterClientFailed(member.status()))};
  }
  const ProbeResult result = ProbeMember((*member)->client().raw(), cluster.SecretRef(), stop);
  switch (result.health) {
    case ProbeResult::Health::kHealthy:
      return {.ready = Ready(true, api::reason::kClusterReady, api::message::kClusterReady)};
    case ProbeResult::Health::kNotHealthy:
      return {.ready = Ready(false, api::reason::kClusterNotReady, api::message::kClusterNotReady)};
    case ProbeResult::Health::kNotReachable:
      break;
  }
  LogUnreachable(name, result.error);
  return {
      .ready = Ready(false, api::reason::kClusterNotReachable, api::message::kClusterNotReachable),
      .cause = result.cause};
}

void ClusterStatusReconciler::LogUnreachable(const std::string& cluster, const absl::Status& why) {
  if (absl::IsCancelled(why)) return;
  const auto verdict = unreachable_.Note(absl::StrCat(cluster, " ", why.ToString()),
                                         deps_.manager.clock().SteadyNow());
  if (!verdict.log) return;
  const std::string more = verdict.More();
  base::LogWarning(absl::StrCat("a cluster is not reachable", more.empty() ? "" : ", ", more),
                   {{"cluster", cluster}, {"error", why}});
}

void ClusterStatusReconciler::Report(const kube::Object& before, const kube::Object& now,
                                     const kube::Condition& observed) {
  const bool is_well = observed.status == "True";
  const api::ClusterView view(now);
  // A recovery is reported when the condition shows it.
  if (is_well && !view.IsReady()) return;
  kube::EventRecorder::Text failure{observed.reason, observed.message};
  const json::Value* shown = kube::FindCondition(view.Conditions(), api::kClusterReady);
  // The condition's message does not go back and forth.
  if (!view.IsReady() && shown != nullptr) {
    failure = {(*shown)["reason"].AsString(), (*shown)["message"].ToString()};
  }
  const std::string name(now.name());
  const std::string cause = threshold_.CauseToTell(name);
  if (!cause.empty() && failure.reason == observed.reason) {
    absl::StrAppend(&failure.message, ": ", cause);
  }
  const absl::string_view was = api::ClusterView(before).ReadyStatus();
  if (!is_well) {
    brief_outages_.Began(name);
  } else if (was != "True") {
    brief_outages_.Forget(name);  // The condition shows the end of this one.
  } else if (!brief_outages_.EndIsNews(name, deps_.manager.clock().SteadyNow())) {
    recorder_.Forget({now.key()});
    return;
  }
  const absl::Status result =
      is_well ? absl::OkStatus() : absl::FailedPreconditionError(failure.message);
  recorder_.Outcome({.of = {now.key()},
                     .about = {kube::InvolvedObject::Of(now)},
                     .success = {api::reason::kClusterReady, api::message::kClusterReady},
                     .failure = std::move(failure),
                     .changed = !was.empty() && was != "True"},
                    result);
}

absl::StatusOr<json::Value> ClusterStatusReconciler::Collect(const kube::Object& cluster,
                                                             json::Value status,
                                                             const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::shared_ptr<kube::MemberCluster> member,
                   deps_.members.Get(std::string(cluster.name())));
  // Nodes and pods are listed while the other data is collected.
  if (options_.collect_resources) {
    RETURN_IF_ERROR(totals_.Follow(std::string(cluster.name())).status());
  }
  kube::Client& client = member->client().raw();
  const absl::StatusOr<kube::HttpResponse> version = client.GetRaw(
      kube::HttpRequest{.path = "/version", .max_answer_bytes = kMostOfVersion}, stop);
  if (version.ok() && version->code == 200) {
    const absl::StatusOr<json::Value> parsed = json::Parse(version->body);
    // The control plane refuses the whole status if this is not a string.
    if (parsed.ok() && (*parsed)["gitVersion"].is_string()) {
      status.Set("kubernetesVersion", (*parsed)["gitVersion"]);
    }
  }
  // Groups that cannot be read keep the kinds that they had (enablements_).
  const DiscoveryOr discovery = member->client().mapper().Discover(stop);
  if (absl::IsCancelled(discovery.status())) return discovery.status();
  json::Value enablements =
      discovery.ok() ? enablements_.Of(*discovery, status["apiEnablements"]) : json::Value::Array();
  const size_t groups = enablements.size();
  if (discovery.ok()) status.Set("apiEnablements", std::move(enablements));
  SetStatusCondition(status, CompleteApis(discovery, groups), deps_.manager.clock().Now());
  if (options_.collect_resources) {
    const absl::Status added = AddResources(cluster, status, stop);
    if (absl::IsCancelled(added)) return added;
    // The previous summary stays; that the cluster is ready must be reported all the same.
    if (!added.ok()) {
      base::LogWarning("cannot sum up the resources of a cluster",
                       {{"cluster", cluster.name()}, {"error", added}});
    }
  }
  return status;
}

absl::StatusOr<InventoryTotals::Followed> ClusterStatusReconciler::FollowInventory(
    const std::string& cluster, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(InventoryTotals::Followed followed, totals_.Follow(cluster));
  for (const auto* informer : {&followed.nodes, &followed.pods}) {
    RETURN_IF_ERROR(deps_.inventory.Await(cluster, **informer, deps_.manager.clock(), stop));
  }
  return followed;
}

absl::Status ClusterStatusReconciler::AddResources(const kube::Object& cluster, json::Value& status,
                                                   const base::StopToken& stop) {
  const std::string name(cluster.name());
  absl::StatusOr<InventoryTotals::Followed> followed = FollowInventory(name, stop);
  // Another loop reads other fields of the pods from now on.
  if (absl::IsAborted(followed.status())) followed = FollowInventory(name, stop);
  ASSIGN_OR_RETURN(const InventoryTotals::Followed inventory, std::move(followed));
  status.Set("nodeSummary", inventory.totals->NodeSummary());
  status.Set("resourceSummary",
             inventory.totals->ResourceSummary(options_.resource_models
                                                   ? cluster.Get({"spec", "resourceModels"})
                                                   : json::Value()));
  return absl::OkStatus();
}

void ClusterStatusReconciler::ExportMetrics(const kube::Object& cluster) {
  const metrics::Labels labels = {{"member_cluster", std::string(cluster.name())}};
  const auto set = [&](const char* name, const char* help, double value) {
    deps_.manager.registry().GetGauge(name, help, labels).Set(value);
  };
  const json::Value& status = cluster.status();
  const json::Value& allocatable = status.Get({"resourceSummary", "allocatable"});
  const json::Value& allocated = status.Get({"resourceSummary", "allocated"});
  set("cluster_ready_state", "State of the cluster (1 if ready, 0 otherwise).",
      api::ClusterView(cluster).IsReady() ? 1 : 0);
  set("cluster_node_number", "Number of nodes in the cluster.",
      status.Get({"nodeSummary", "totalNum"}).AsDouble());
  set("cluster_ready_node_number", "Number of ready nodes in the cluster.",
      status.Get({"nodeSummary", "readyNum"}).AsDouble());
  set("cluster_memory_allocatable_bytes", "Allocatable memory of the cluster in bytes.",
      Amount(allocatable, "memory"));
  set("cluster_cpu_allocatable_number", "Allocatable CPU cores of the cluster.",
      Amount(allocatable, "cpu"));
  set("cluster_pod_allocatable_number", "Allocatable pods of the cluster.",
      Amount(allocatable, "pods"));
  set("cluster_memory_allocated_bytes", "Allocated memory of the cluster in bytes.",
      Amount(allocated, "memory"));
  set("cluster_cpu_allocated_number", "Allocated CPU cores of the cluster.",
      Amount(allocated, "cpu"));
  set("cluster_pod_allocated_number", "Allocated pods of the cluster.", Amount(allocated, "pods"));
}

bool IsNewsForStatus(const kube::Object& before, const kube::Object& after) {
  return kube::GenerationChanged(before, after) || (after.HasFinalizer(api::kClusterFinalizer) &&
                                                    !before.HasFinalizer(api::kClusterFinalizer));
}

absl::Status RegisterClusterStatus(const Context& context, int workers) {
  const config::ClusterMonitoring& flags = context.options.clusters;
  const ClusterStatusOptions options = {
      .update_frequency = flags.status_update_frequency,
      .success_threshold = flags.success_threshold,
      .failure_threshold = flags.failure_threshold,
      .collect_resources = flags.resource_modeling,
      .resource_models =
          context.options.gates.Enabled(config::Gate::kCustomizedClusterResourceModeling),
  };
  if (options.collect_resources) {
    context.inventory.Reads(api::Nodes(), NodeFields());
    context.inventory.Reads(api::Pods(), PodFields());
  }
  kube::ControllerBuilder builder = context.NewController(api::kClusterStatusController, workers);
  WatchesMemberSecrets(builder, context)
      .Watches(api::Clusters(), {.when = {.update = IsNewsForStatus}})
      .Watches(api::Works(), AfterNewDefinitions())
      // With lanes, a member that does not answer delays only itself.
      .WithLanes([](const kube::Request& request) { return request.key.name; })
      .Build(std::make_unique<ClusterStatusReconciler>(
          ClusterStatusDeps{context.manager, context.members, context.inventory, context.served},
          options));
  return absl::OkStatus();
}

}  // namespace controllers
