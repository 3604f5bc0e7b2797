// Pod.

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/health_messages.h"
#include "interpreter/native/pod_dependencies.h"
#include "interpreter/native/pod_retention.h"
#include "interpreter/native/replicas.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

absl::StatusOr<Replicas> PodReplicas(const kube::Object& object, const RequirementRules& rules) {
  Replicas out;
  out.replicas = 1;
  Fields spec(object.spec(), "spec");
  out.requirements = RequirementsOf(spec, rules);
  RETURN_IF_ERROR(spec.error());
  return out;
}

// Returns a member of a state as its typed struct writes it: these times are always present.
json::Value WithTimes(Fields& held, absl::Span<const absl::string_view> times) {
  json::Value out = held.value();
  for (const absl::string_view time : times) {
    if (held.Time(time).empty()) out.Set(time, nullptr);
  }
  return out;
}

// Returns a container state as its typed struct writes it.
json::Value TypedState(Fields& state) {
  json::Value out = json::Value::Object();
  Fields waiting = state.In("waiting");
  if (!waiting.IsNull()) out.Set("waiting", waiting.value());
  Fields running = state.In("running");
  if (!running.IsNull()) out.Set("running", WithTimes(running, {"startedAt"}));
  Fields terminated = state.In("terminated");
  if (!terminated.IsNull()) {
    json::Value held = WithTimes(terminated, {"startedAt", "finishedAt"});
    held.Set("exitCode", terminated.Int("exitCode"));
    out.Set("terminated", std::move(held));
  }
  return out;
}

// Copies only readiness and state: the other members mean nothing once the containers of several
// clusters are in one list. None has a name, as upstream's.
void AppendContainers(Fields& status, absl::string_view list, json::Value& out) {
  status.Each(list, [&](Fields& container) {
    Fields state = container.In("state");
    out.Append(json::Value::Object({{"name", ""},
                                    {"image", ""},
                                    {"imageID", ""},
                                    {"restartCount", 0},
                                    {"lastState", json::Value::Object()},
                                    {"ready", container.Bool("ready")},
                                    {"state", TypedState(state)}}));
  });
}

constexpr absl::string_view kContainerLists[] = {"containerStatuses", "initContainerStatuses"};

// The names that a container may have in an aggregated list, besides "".
struct ContainerNames {
  std::string own;
  std::string with_cluster;
};

// Returns an older aggregated status as it would be made now, without names and without what the
// API server adds: they are not a reason to write it again.
json::Value Comparable(json::Value status) {
  status.Erase("qosClass");
  status.Erase("observedGeneration");
  for (const absl::string_view list : kContainerLists) {
    for (size_t i = 0; i < status[list].size(); ++i) {
      status.Mutable(list).MutableAt(i).Set("name", "");
    }
  }
  return status;
}

// Names each container that is not terminated otherwise than those that were terminated in
// `before`: API servers take containers of one name for one, and let none of these return from its
// end.
void NameApart(const json::Value& before, const std::vector<ContainerNames>& names,
               json::Value& containers) {
  std::set<std::string> ended;
  for (const json::Value& container : before.items()) {
    if (!container["state"]["terminated"].is_null()) ended.insert(container["name"].ToString());
  }
  if (ended.empty()) return;
  for (size_t i = 0; i < containers.size(); ++i) {
    if (!containers.At(i)["state"]["terminated"].is_null()) continue;
    std::string name;
    if (ended.count(name) > 0) name = names[i].own;
    if (ended.count(name) > 0) name = names[i].with_cluster;
    containers.MutableAt(i).Set("name", name);
  }
}

// Picks the worst phase; unknown phases are ignored.
class PhaseVote {
 public:
  void Add(absl::string_view phase) {
    const auto* const known = std::find(std::begin(kPhases), std::end(kPhases), phase);
    best_ = std::min(best_, known);
  }
  absl::string_view winner() const { return best_ == std::end(kPhases) ? "" : *best_; }

 private:
  static constexpr absl::string_view kPhases[] = {"Failed", "Pending", "Running", "Succeeded"};
  const absl::string_view* best_ = std::end(kPhases);
};

// The containers of all items, in one list.
struct PodContainers {
  json::Value statuses;
  std::vector<ContainerNames> names;

  void Add(Fields& status, absl::string_view list, absl::string_view cluster) {
    AppendContainers(status, list, statuses);
    status.Each(list, [&](Fields& container) {
      const absl::string_view own = container.String("name");
      names.push_back({std::string(own), absl::StrCat(cluster, "/", own)});
    });
  }
};

absl::StatusOr<kube::Object> AggregatePod(const kube::Object& object, const AggregatedItems& items,
                                          absl::Time) {
  if (items.is_null()) return object;
  PhaseVote vote;
  std::array<PodContainers, std::size(kContainerLists)> containers;
  for (const json::Value& item : items.items()) {
    if (item["status"].is_null()) {
      vote.Add("Pending");
      continue;
    }
    Fields status(item["status"], "status");
    vote.Add(status.String("phase"));
    for (size_t i = 0; i < containers.size(); ++i) {
      containers[i].Add(status, kContainerLists[i], item["clusterName"].AsString());
    }
    RETURN_IF_ERROR(base::Annotate(status.error(), "cluster ", item["clusterName"].AsString()));
  }
  json::Value status = json::Value::Object();
  if (!vote.winner().empty()) status.Set("phase", vote.winner());
  for (size_t i = 0; i < containers.size(); ++i) {
    if (!containers[i].statuses.is_null()) status.Set(kContainerLists[i], containers[i].statuses);
  }
  if (SameTyped(status, Comparable(object.status()))) return object;
  for (size_t i = 0; i < containers.size(); ++i) {
    if (containers[i].statuses.is_null()) continue;
    NameApart(object.status()[kContainerLists[i]], containers[i].names,
              status.Mutable(kContainerLists[i]));
  }
  kube::Object out = object;
  out.Set({"status"}, std::move(status));
  return out;
}

absl::StatusOr<Health> PodHealth(const kube::Object& object) {
  Fields status(object.status(), "status");
  const absl::string_view phase = status.String("phase");
  std::optional<bool> ready;  // The status of the first condition of type Ready.
  status.Each("conditions", [&](Fields& condition) {
    const bool is_true = condition.String("status") == "True";
    if (condition.String("type") == "Ready" && !ready.has_value()) ready = is_true;
  });
  RETURN_IF_ERROR(status.error());
  if (phase == "Succeeded" || (phase == "Running" && ready.value_or(false))) return true;
  return Health(false, WhyPodIsNotReady(object));
}

absl::StatusOr<json::Value> PodDependencies(const kube::Object& object) {
  Fields spec(object.spec(), "spec");
  const PodReferences references = ReferencesOf(spec);
  RETURN_IF_ERROR(spec.error());
  return DependenciesIn(object.ns(), references);
}

}  // namespace

void RegisterPods(HandlerTable& table) {
  table.Add({"", "v1", "Pod"}, {.get_replicas = PodReplicas,
                                .retain = RetainPod,
                                .aggregate_status = AggregatePod,
                                .get_dependencies = PodDependencies,
                                .interpret_health = PodHealth});
}

}  // namespace interpreter::native
