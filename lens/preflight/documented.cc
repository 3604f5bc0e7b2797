#include "lens/preflight/documented.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace lens::preflight {
namespace {

struct Section {
  absl::string_view group;     // The first part of the API group's name.
  absl::string_view resource;  // A part of the resource's name; "" for all of the group.
  absl::string_view anchor;
};
// The first one that fits counts.
constexpr Section kSections[] = {
    {"policy", "overridepolicies", "overrides"},
    {"policy", "clustertaintpolicies", "clusters-and-evictions"},
    {"policy", "", "policies-and-templates"},
    {"apps", "", "policies-and-templates"},
    {"autoscaling", "", "policies-and-templates"},
    {"remedy", "", "policies-and-templates"},
    {"cluster", "", "clusters-and-evictions"},
    {"config", "", "interpreter"},
    {"networking", "", "services-across-clusters"},
    {"multicluster", "", "services-across-clusters"},
    {"work", "", "works-and-members"},
};

bool IsObserved(const kube::Object& object) {
  return object.status()["observedGeneration"] == object.generation();
}

// Upstream writes the counters of a template only.
bool IsBehind(const kube::Object& stateful_set) {
  return stateful_set.status()["replicas"].AsInt() > 0 && !IsObserved(stateful_set);
}

// Nothing but Karmada observes the generation of a template.
bool LacksConditions(const kube::Object& deployment) {
  const json::Value& conditions = deployment.status()["conditions"];
  return IsObserved(deployment) && kube::FindCondition(conditions, "Available") == nullptr &&
         kube::FindCondition(conditions, "Progressing") == nullptr;
}

constexpr absl::string_view kReleased =
    "a template whose edit ends the match with its policy is released at once, and the next policy "
    "that matches takes it";
constexpr absl::string_view kReleasedRow = "a template whose edit ends the match with its policy |";
constexpr VisibleDifference kVisible[] = {
    {"propagationpolicies", kReleased, kReleasedRow},
    {"clusterpropagationpolicies", kReleased, kReleasedRow},
    {"clusters", "a member that takes longer than 5 s to answer /readyz is not reachable",
     "the probe of a member's health |"},
    {"cronfederatedhpas",
     "a rule whose time passes while nobody leads is executed if it is late by five minutes at "
     "most, and is an event ExecutionMissed otherwise",
     "a rule of a CronFederatedHPA whose time passes while nobody leads"},
    {"federatedhpas", "metrics of clusters that are not ready do not count in averages",
     "metrics of pods that are not those of the target, as of clusters that are not ready |"},
    {"flinkdeployments.flink.apache.org",
     "memory is read as Flink reads it: 100m is 100 MiB, and upstream a tenth of a byte, so that "
     "quotas and the scheduler count more",
     "FlinkDeployment memory |", "shipped-customizations"},
    // What a take-over writes because it repairs what upstream leaves: once for each object at
    // most.
    {"statefulsets.apps",
     "at the take-over status.observedGeneration is written, once, of those that are healthy in "
     "clusters: upstream leaves it behind, and rollouts never end",
     "`observedGeneration` of a StatefulSet |", "interpreter", IsBehind},
    {"jobs.batch",
     "at the take-over the status is written, once, of those that have ended in their clusters and "
     "whose end the API server has refused from upstream",
     "a Job that failed in a cluster |", "interpreter"},
    {"deployments.apps",
     "at the take-over the conditions Available and Progressing are written, once: upstream sums "
     "up "
     "none, and tools wait for them",
     "conditions of a Deployment |", "interpreter", LacksConditions},
};

}  // namespace

absl::Span<const VisibleDifference> VisibleDifferences() { return kVisible; }

const VisibleDifference* VisibleDifferenceOf(const config::KindSupport& kind) {
  for (const VisibleDifference& difference : kVisible) {
    if (difference.resource == kind.resource) return &difference;
  }
  return nullptr;
}

const VisibleDifference* VisibleDifferenceOf(const kube::Resource& templates) {
  const std::string name = absl::StrCat(templates.plural, ".", templates.gvk.group);
  for (const VisibleDifference& difference : kVisible) {
    if (difference.resource == name) return &difference;
  }
  return nullptr;
}

std::string DifferencesOf(const config::KindSupport& kind) {
  if (kind.state == config::State::kOutside) return "";
  const absl::string_view group = kind.group.substr(0, kind.group.find('.'));
  for (const Section& section : kSections) {
    if (section.group != group || !absl::StrContains(kind.resource, section.resource)) continue;
    return absl::StrCat("docs/differences.md#", section.anchor);
  }
  return "";
}

}  // namespace lens::preflight
