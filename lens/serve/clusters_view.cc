// Clusters with what is in them: templates that are meant for each by the bindings, those that are
// being evicted, and, by the last reading of the fleet, those that are not fine there. Counts are
// null where not all that is counted could be read. What a deletion waits for, and what a cluster
// lacks, says `why` about it.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/meta/quantity.h"
#include "lens/serve/lists.h"
#include "lens/serve/shown.h"
#include "lens/serve/views.h"

namespace lens::serve {
namespace {

struct Count {
  int64_t templates = 0, evicting = 0;
};
using Counts = std::map<std::string, Count>;

// Returns nullopt when not all bindings could be read.
std::optional<Counts> CountByCluster(ListsOfView& lists) {
  Counts counts;
  bool is_whole = true;
  const auto add = [&](const kube::Object& object) {
    const api::BindingView binding(object);
    for (const api::TargetCluster& target : binding.DispatchTargets()) {
      ++counts[target.name].templates;
    }
    for (const api::EvictionTask& task : binding.EvictionTasks()) {
      ++counts[task.from_cluster].evicting;
    }
    return true;
  };
  for (const auto* kind : {&api::ResourceBindings(), &api::ClusterResourceBindings()}) {
    const bool all_read = lists.Each(
        *kind, {"spec.clusters", "spec.requiredBy", "spec.gracefulEvictionTasks"}, "", add);
    is_whole = is_whole && all_read;
  }
  return is_whole ? std::optional(std::move(counts)) : std::nullopt;
}

Count CountAt(const std::optional<Counts>& counts, const std::string& name) {
  if (!counts.has_value()) return {};
  const auto found = counts->find(name);
  return found == counts->end() ? Count() : found->second;
}

json::Value TaintsOf(const api::ClusterView& cluster) {
  json::Value taints = json::Value::Array();
  for (const api::Taint& taint : cluster.Taints()) {
    taints.Append(json::Value::Object(
        {{"key", taint.key},
         {"value", taint.value},
         {"effect", taint.effect},
         {"since", taint.time_added.empty() ? json::Value() : json::Value(taint.time_added)}}));
  }
  return taints;
}

double AsNumber(const json::Value& quantity) {
  const auto parsed = kube::Quantity::FromJson(quantity);
  return parsed.ok() ? parsed->AsApproximateFloat() : 0;
}

// Returns {cpu: {allocatable, allocated, share}, ...} of what both are known of.
json::Value RoomOf(const json::Value& summary) {
  json::Value room = json::Value::Object();
  for (const absl::string_view name : {"cpu", "memory", "pods"}) {
    const json::Value& allocatable = summary["allocatable"][name];
    if (allocatable.is_null()) continue;
    const json::Value& allocated = summary["allocated"][name];
    const double all = AsNumber(allocatable);
    room.Set(name, json::Value::Object({{"allocatable", allocatable},
                                        {"allocated", allocated},
                                        {"share", all > 0 ? json::Value(AsNumber(allocated) / all)
                                                          : json::Value()}}));
  }
  return room;
}

json::Value ClusterJson(const kube::Object& object) {
  const api::ClusterView cluster(object);
  const json::Value* ready = kube::FindCondition(cluster.Conditions(), api::kClusterReady);
  const json::Value none;
  const json::Value& condition = ready == nullptr ? none : *ready;
  json::Value zones = json::Value::Array();
  for (const std::string& zone : cluster.Zones()) zones.Append(zone);
  json::Value json = SubjectOf(api::Clusters().gvk, object.key());
  json.Set("ready", cluster.ReadyStatus());
  json.Set("since", condition["lastTransitionTime"]);
  json.Set("reason", condition["reason"].AsString());
  json.Set("message", Shortened(condition["message"].AsString()));
  json.Set("mode", object.spec()["syncMode"].AsString());
  json.Set("version", object.status()["kubernetesVersion"].AsString());
  json.Set("provider", cluster.Provider());
  json.Set("region", cluster.Region());
  json.Set("zones", std::move(zones));
  json.Set("labels", object.labels().is_null() ? json::Value::Object() : object.labels());
  json.Set("taints", TaintsOf(cluster));
  json.Set("nodes", object.status()["nodeSummary"]);
  json.Set("room", RoomOf(object.status()["resourceSummary"]));
  json.Set("joined", object.metadata()["creationTimestamp"]);
  json.Set("leavingSince", object.metadata()["deletionTimestamp"]);
  return json;
}

}  // namespace

absl::StatusOr<json::Value> ClustersView(const Asked& asked) {
  ListsOfView lists(asked.viewer.client(), asked.stop);
  const why::Objects clusters = lists.All(
      api::Clusters(),
      {"metadata", "spec", "status.conditions", "status.kubernetesVersion", "status.nodeSummary",
       "status.resourceSummary.allocatable", "status.resourceSummary.allocated"});
  RETURN_IF_ERROR(lists.Check());
  const std::optional<Counts> counts = CountByCluster(lists);
  const NotFine not_fine = asked.viewer.fleet().CountsAt(base::RealClock().SteadyNow());
  json::Value items = json::Value::Array();
  int64_t ready = 0;
  for (const kube::ObjectPtr& cluster : clusters) {
    const std::string name(cluster->name());
    if (api::ClusterView(*cluster).IsReady()) ++ready;
    json::Value item = ClusterJson(*cluster);
    const Count count = CountAt(counts, name);
    item.Set("templates", counts.has_value() ? json::Value(count.templates) : json::Value());
    item.Set("evicting", counts.has_value() ? json::Value(count.evicting) : json::Value());
    item.Set("notFine", not_fine.InCluster(name));
    items.Append(std::move(item));
  }
  return json::Value::Object({{"clusters", std::move(items)},
                              {"ready", ready},
                              {"knowsNotFine", not_fine.is_known},
                              {"notFineReadAt", not_fine.ReadAt()},
                              {"unread", lists.Unread()},
                              {"readAt", kube::FormatTime(absl::Now())}});
}

}  // namespace lens::serve
