// Pod.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/status.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/health_messages.h"
#include "interpreter/native/pod_dependencies.h"
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

// Copies a member, or removes it from `to` when it is empty in `from`.
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

// Checks the types of the members that RetainPod copies, and of those by which it finds their
// places.
absl::Status CheckRetainable(const kube::Object& pod) {
  Fields spec(pod.spec(), "spec");
  spec.String("nodeName");
  spec.String("serviceAccountName");
  spec.Each("volumes", [](Fields&) {});
  for (const char* containers : {"containers", "initContainers"}) {
    spec.Each(containers, [](Fields& container) {
      container.String("name");
      container.Each("volumeMounts", [](Fields&) {});
    });
  }
  return spec.error();
}

// Retains what the member's admission and scheduler have put into the pod, whose spec cannot change
// any more. Unlike upstream's, the result is not rewritten into a typed Pod's canonical form.
absl::StatusOr<kube::Object> RetainPod(const kube::Object& desired, const kube::Object& observed) {
  for (const kube::Object* pod : {&desired, &observed}) {
    RETURN_IF_ERROR(json::FindObject(pod->root(), {"spec"}).status());
    RETURN_IF_ERROR(CheckRetainable(*pod));
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
// clusters are in one list.
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
    AppendContainers(status, "containerStatuses", containers);
    AppendContainers(status, "initContainerStatuses", init_containers);
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
