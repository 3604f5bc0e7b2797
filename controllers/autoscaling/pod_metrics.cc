// Pure functions in the order in which a calculation uses them: samples are matched to pods, pods
// are put into groups (ready, unready, missing), and what they request is added up. Measurements
// and requests are in thousandths throughout, and sums saturate, because numbers of members are not
// to be trusted. The rules are those of upstream's replica_calculator.go (groupPods,
// calculatePodRequests); names that several clusters have are the only addition.

#include "controllers/autoscaling/pod_metrics.h"

#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/meta/quantity.h"

namespace autoscaling {
namespace {

using Measurements = std::vector<std::optional<Measurement>>;
using Positions = std::vector<size_t>;

constexpr char kReady[] = "Ready";

absl::string_view PhaseOf(const kube::Object& pod) { return pod.status()["phase"].AsString(); }

std::optional<absl::Time> TimeOf(const json::Value& value) {
  const absl::StatusOr<absl::Time> time = kube::ParseTime(value.AsString());
  if (!time.ok()) return std::nullopt;
  return *time;
}

// Returns whether the pod's CPU use is still that of its start (upstream's groupPods, for CPU).
bool IsStarting(const kube::Object& pod, const Measurement& measured, const Initialization& init) {
  const json::Value* ready = kube::FindCondition(pod.status()["conditions"], kReady);
  const std::optional<absl::Time> started = TimeOf(pod.status()["startTime"]);
  if (ready == nullptr || !started.has_value()) return true;
  const bool is_unready = (*ready)["status"].AsString() == "False";
  const absl::Time since = TimeOf((*ready)["lastTransitionTime"]).value_or(absl::InfinitePast());
  if (*started + init.cpu_period > init.now) {
    // The measurement has to be of the time since the pod became ready.
    return is_unready || measured.at < since + measured.window;
  }
  // A pod that became unready soon after its start has never been ready.
  return is_unready && *started + init.readiness_delay > since;
}

// The samples of one name that name no cluster, for the pods of that name.
void Distribute(absl::Span<const Sample* const> samples, const Positions& pods, bool adds_up,
                Measurements& out) {
  if (!adds_up || samples.size() >= pods.size()) {
    for (size_t i = 0; i < samples.size() && i < pods.size(); ++i) {
      out[pods[i]] = samples[i]->value;
    }
    return;
  }
  Measurement part = samples[0]->value;
  for (const Sample* more : samples.subspan(1)) {
    part.milli = SaturatedSum(part.milli, more->value.milli);
  }
  part.milli /= static_cast<int64_t>(pods.size());
  for (const size_t position : pods) out[position] = part;
}

}  // namespace

int64_t SaturatedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

std::vector<std::string> PodFields() {
  return {"metadata.labels",
          "metadata.deletionTimestamp",
          "spec.containers.*.name",
          "spec.containers.*.resources",
          "status.phase",
          "status.startTime",
          "status.conditions.*.type",
          "status.conditions.*.status",
          "status.conditions.*.lastTransitionTime"};
}

Measurements MatchSamples(absl::Span<const Pod> pods, const Samples& samples, absl::Time now) {
  std::map<absl::string_view, Positions> by_name;
  for (size_t i = 0; i < pods.size(); ++i) by_name[pods[i].object->name()].push_back(i);
  Measurements out(pods.size());
  std::map<absl::string_view, std::vector<const Sample*>> anywhere;
  for (const Sample& sample : samples.items) {
    const auto found = by_name.find(sample.pod);
    if (found == by_name.end() || sample.value.at < now - kStale) continue;
    if (sample.cluster.empty()) {
      anywhere[sample.pod].push_back(&sample);
      continue;
    }
    // Names are unique in a cluster and namespace, so this is one pod at most.
    for (const size_t position : found->second) {
      if (pods[position].cluster == sample.cluster) out[position] = sample.value;
    }
  }
  for (const auto& [name, found] : anywhere) {
    Positions open;
    for (const size_t position : by_name[name]) {
      if (!out[position].has_value()) open.push_back(position);
    }
    Distribute(found, open, samples.adds_up_equal_names, out);
  }
  return out;
}

PodGroups GroupPods(absl::Span<const Pod> pods,
                    absl::Span<const std::optional<Measurement>> measured,
                    const Initialization& init) {
  PodGroups groups;
  for (size_t i = 0; i < pods.size(); ++i) {
    const kube::Object& pod = *pods[i].object;
    if (pod.IsDeleting() || PhaseOf(pod) == "Failed") continue;
    if (PhaseOf(pod) == "Pending") {
      groups.unready.push_back(i);
    } else if (!measured[i].has_value()) {
      groups.missing.push_back(i);
    } else if (init.is_cpu && IsStarting(pod, *measured[i], init)) {
      groups.unready.push_back(i);
    } else {
      groups.ready.push_back(i);
    }
  }
  return groups;
}

absl::StatusOr<std::vector<int64_t>> PodRequests(absl::Span<const Pod> pods,
                                                 absl::string_view container,
                                                 absl::string_view resource) {
  std::vector<int64_t> requests;
  for (const Pod& pod : pods) {
    int64_t sum = 0;
    for (const json::Value& item : pod.object->spec()["containers"].items()) {
      if (!container.empty() && item["name"].AsString() != container) continue;
      const json::Value& value = item["resources"]["requests"][resource];
      const auto request = kube::Quantity::FromJson(value);
      if (value.is_null() || !request.ok()) {
        return absl::FailedPreconditionError(absl::StrCat("missing request for ", resource,
                                                          " in container ", item["name"].AsString(),
                                                          " of Pod ", pod.object->name()));
      }
      sum = SaturatedSum(sum, request->MilliValue());
    }
    requests.push_back(sum);
  }
  return requests;
}

int64_t CountReady(absl::Span<const Pod> pods) {
  int64_t count = 0;
  for (const Pod& pod : pods) {
    const json::Value& status = pod.object->status();
    if (PhaseOf(*pod.object) == "Running" && kube::IsConditionTrue(status["conditions"], kReady)) {
      ++count;
    }
  }
  return count;
}

}  // namespace autoscaling
