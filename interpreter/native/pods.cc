// Pod.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/pod_dependencies.h"
#include "interpreter/native/replicas.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

absl::StatusOr<Replicas> PodReplicas(const kube::Object& object, const RequirementRules& rules) {
  Replicas out;
  out.replicas = 1;
  ASSIGN_OR_RETURN(out.requirements, RequirementsOf(object.spec(), rules));
  return out;
}

// Sets a member, or removes it when the observed one is empty.
void CopyOrErase(const json::Value& from, absl::string_view name, json::Value& to) {
  const json::Value& held = from[name];
  if (!held.empty() || !held.AsString().empty()) {
    to.Set(name, held);
  } else if (to.Has(name)) {
    to.Erase(name);
  }
}

const json::Value* FindNamed(absl::Span<const json::Value> list, absl::string_view name) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const json::Value& item) {
    return item["name"].AsString() == name;
  });
  return it == list.end() ? nullptr : &*it;
}

void RetainMounts(const json::Value& observed, json::Value& desired) {
  for (size_t i = 0; i < desired.size(); ++i) {
    const json::Value* match = FindNamed(observed.items(), desired.At(i)["name"].AsString());
    if (match != nullptr) CopyOrErase(*match, "volumeMounts", desired.MutableAt(i));
  }
}

// What the member's admission and scheduler have put into the pod, whose spec cannot change any
// more. Unlike upstream's, the result is not rewritten into a typed Pod's canonical form.
absl::StatusOr<kube::Object> RetainPod(const kube::Object& desired, const kube::Object& observed) {
  for (const kube::Object* pod : {&desired, &observed}) {
    RETURN_IF_ERROR(json::FindObject(pod->root(), {"spec"}).status());
  }
  kube::Object retained = desired;
  json::Value& spec = retained.mutable_root().Mutable("spec");
  for (const char* field : {"nodeName", "serviceAccountName", "volumes"}) {
    CopyOrErase(observed.spec(), field, spec);
  }
  for (const char* containers : {"containers", "initContainers"}) {
    if (spec[containers].is_array()) {
      RetainMounts(observed.spec()[containers], spec.Mutable(containers));
    }
  }
  return retained;
}

// A container state as its typed struct writes it: some members are always there.
json::Value TypedState(const json::Value& state) {
  json::Value out = json::Value::Object();
  if (!state["waiting"].is_null()) out.Set("waiting", state["waiting"]);
  if (const json::Value& held = state["running"]; !held.is_null()) {
    json::Value running = held;
    running.Set("startedAt", held["startedAt"]);
    out.Set("running", std::move(running));
  }
  if (const json::Value& held = state["terminated"]; !held.is_null()) {
    json::Value terminated = held;
    terminated.Set("exitCode", held["exitCode"].AsInt());
    terminated.Set("startedAt", held["startedAt"]);
    terminated.Set("finishedAt", held["finishedAt"]);
    out.Set("terminated", std::move(terminated));
  }
  return out;
}

// Only readiness and state say anything once the containers of several clusters stand in one list.
void AppendContainers(absl::Span<const json::Value> statuses, json::Value& out) {
  for (const json::Value& status : statuses) {
    out.Append(json::Value::Object({{"name", ""},
                                    {"image", ""},
                                    {"imageID", ""},
                                    {"restartCount", 0},
                                    {"lastState", json::Value::Object()},
                                    {"ready", status["ready"].AsBool()},
                                    {"state", TypedState(status["state"])}}));
  }
}

// The phase that tells most about trouble; unknown ones are ignored.
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

absl::StatusOr<kube::Object> AggregatePod(const kube::Object& object, const AggregatedItems& items,
                                          absl::Time) {
  if (items.is_null()) return object;
  PhaseVote vote;
  json::Value containers, init_containers;
  for (const json::Value& item : items.items()) {
    if (item["status"].is_null()) {
      vote.Add("Pending");
      continue;
    }
    Fields status(item["status"], "status");
    vote.Add(status.String("phase"));
    AppendContainers(status.Array("containerStatuses"), containers);
    AppendContainers(status.Array("initContainerStatuses"), init_containers);
    RETURN_IF_ERROR(base::Annotate(status.error(), "cluster ", item["clusterName"].AsString()));
  }
  json::Value status = json::Value::Object();
  if (!vote.winner().empty()) status.Set("phase", vote.winner());
  if (!containers.is_null()) status.Set("containerStatuses", std::move(containers));
  if (!init_containers.is_null()) status.Set("initContainerStatuses", std::move(init_containers));
  if (SameTyped(status, object.status())) return object;
  kube::Object out = object;
  out.Set({"status"}, std::move(status));
  return out;
}

absl::StatusOr<bool> PodHealth(const kube::Object& object) {
  Fields status(object.status(), "status");
  const absl::string_view phase = status.String("phase");
  const auto conditions = status.Array("conditions");
  RETURN_IF_ERROR(status.error());
  if (phase == "Succeeded") return true;
  const auto ready = std::find_if(conditions.begin(), conditions.end(), [](const json::Value& c) {
    return c["type"].AsString() == "Ready";
  });
  return phase == "Running" && ready != conditions.end() && (*ready)["status"].AsString() == "True";
}

absl::StatusOr<json::Value> PodDependencies(const kube::Object& object) {
  return DependenciesIn(object.ns(), ReferencesOf(object.spec()));
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
