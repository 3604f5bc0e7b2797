// A registry has a condition for all (Synced), one for each cluster (<cluster>/Synced), and some
// for what it names. What it names is looked at first, since Synced repeats it; then the clusters,
// each with what is to be done there; Synced itself says the rest. Only our karmada-search writes
// conditions: upstream's has none, and a registry without any says nothing else.

#include "lens/why/own_registries.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/programs.h"
#include "api/resource_registry.h"
#include "kube/meta/object.h"
#include "lens/why/lost_cluster.h"
#include "lens/why/own_objects.h"

namespace lens::why {
namespace {

constexpr absl::string_view kOfCluster = "/Synced";

const json::Value& ConditionsOf(const Chain& chain) { return chain.object->status()["conditions"]; }

bool IsAbout(const Chain& chain) { return IsRegistry(chain) && chain.object != nullptr; }

Finding Reported(const Chain& chain, const json::Value& condition, Grade grade,
                 std::string advice) {
  return {Step::kTemplate, grade,
          absl::StrCat(chain.Name(), " reports ", ConditionText(condition, /*with_message=*/true),
                       Since(condition)),
          std::move(advice)};
}

// What to do about what a registry names, by the type of the condition.
struct Named {
  const char* type;
  const char* advice;
};
constexpr Named kNamed[] = {
    {api::kRegistryClustersResolved,
     "write names of clusters that there are in spec.targetCluster, or join them"},
    {api::kRegistryKindsResolved,
     "name kinds in spec.resourceSelectors that a cluster serves, as kubectl api-resources shows "
     "them there"},
    {api::kRegistryMirrored, "mend what the condition says of the OpenSearch that it names"}};

// What Synced says of the registry as a whole, by its reason.
struct OfAll {
  const char* reason;
  const char* advice;
};
constexpr OfAll kOfAll[] = {
    {"InvalidTargetCluster", "correct spec.targetCluster as the message says"},
    {"NoResourceSelected", "name kinds in spec.resourceSelectors"},
    {"NoClusterMatches", "let spec.targetCluster match a cluster: kubectl get clusters"}};

bool IsFalse(const json::Value& condition) { return condition["status"].AsString() == "False"; }

}  // namespace

bool IsRegistry(const Chain& chain) {
  return chain.asked.gvk == api::ResourceRegistryResource().gvk;
}

Findings RegistryIsNotLookedAt(const Chain& chain) {
  if (!IsAbout(chain) || !ConditionsOf(chain).empty()) return {};
  return {{Step::kTemplate, Grade::kWaiting,
           absl::StrCat(chain.Name(), " has no conditions, so ", api::kSearch,
                        " has not looked at it yet"),
           absl::StrCat("see whether ", api::kSearch,
                        " of this project runs, since upstream's writes no conditions")}};
}

Findings RegistryNamesWhatIsNotThere(const Chain& chain) {
  if (!IsAbout(chain)) return {};
  Findings findings;
  for (const Named& named : kNamed) {
    const json::Value* const condition = kube::FindCondition(ConditionsOf(chain), named.type);
    if (condition == nullptr || !IsFalse(*condition)) continue;
    findings.push_back(Reported(chain, *condition, Grade::kStuck, named.advice));
  }
  const json::Value* const synced = kube::FindCondition(ConditionsOf(chain), api::kRegistrySynced);
  for (const OfAll& whole : kOfAll) {
    if (synced == nullptr || (*synced)["reason"].AsString() != whole.reason) continue;
    findings.push_back(Reported(chain, *synced, Grade::kStuck, whole.advice));
  }
  return findings;
}

Findings RegistryLacksClusters(const Chain& chain) {
  if (!IsAbout(chain)) return {};
  Findings findings;
  for (const json::Value& condition : ConditionsOf(chain).items()) {
    absl::string_view cluster = condition["type"].AsString();
    if (!absl::ConsumeSuffix(&cluster, kOfCluster) || !IsFalse(condition)) continue;
    const absl::string_view reason = condition["reason"].AsString();
    const bool is_reading = reason == "Syncing";
    std::string advice =
        is_reading ? kWaitAMoment
        : reason == "ClusterNotReady"
            ? absl::StrCat("ask why: karmada-lens why cluster/", cluster)
            : "mend what the last error says; the member is read with the Secret of its Cluster";
    findings.push_back(Reported(chain, condition, is_reading ? Grade::kWaiting : Grade::kStuck,
                                std::move(advice)));
  }
  return findings;
}

std::string RegistryState(const Chain& chain) {
  const json::Value* const synced = kube::FindCondition(ConditionsOf(chain), api::kRegistrySynced);
  if (synced == nullptr) return absl::StrCat(chain.Name(), " has no condition Synced");
  return absl::StrCat(chain.Name(), ": ", (*synced)["message"].AsString());
}

}  // namespace lens::why
