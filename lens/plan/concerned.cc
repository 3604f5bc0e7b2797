// A binding is left out only if it is placed, waits for nothing, and its placement names clusters
// of which none changes. Whoever brings others along, or is brought along, is simulated with them.

#include "lens/plan/concerned.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/toleration.h"
#include "lens/plan/input.h"

namespace lens::plan {
namespace {

using Names = std::set<std::string>;

// Returns the clusters that change, and those from which something may be evicted anyway.
Names Restless(const std::vector<FleetEdit>& edits, const LiveState& live) {
  Names names;
  for (const FleetEdit& edit : edits) names.insert(edit.cluster);
  for (const kube::Object& object : live.scenery) {
    if (object.gvk() != api::Clusters().gvk) continue;
    const bool evicts = !api::NoExecuteTaints(api::ClusterView(object)).empty();
    if (evicts || object.IsDeleting()) names.insert(std::string(object.name()));
  }
  return names;
}

// Returns whether the affinity names clusters, and none of these.
bool AvoidsAll(const json::Value& affinity, const Names& clusters) {
  const auto named = affinity["clusterNames"].items();
  return !named.empty() && std::none_of(named.begin(), named.end(), [&](const json::Value& name) {
    return clusters.contains(name.ToString());
  });
}

bool PlacementAvoidsAll(const json::Value& placement, const Names& clusters) {
  const auto avoids = [&](const json::Value& affinity) {
    const auto overflows = affinity["overflowAffinities"].items();
    return AvoidsAll(affinity, clusters) &&
           std::all_of(overflows.begin(), overflows.end(),
                       [&](const json::Value& one) { return AvoidsAll(one, clusters); });
  };
  const auto terms = placement["clusterAffinities"].items();
  return terms.empty() ? avoids(placement["clusterAffinity"])
                       : std::all_of(terms.begin(), terms.end(), avoids);
}

// Returns whether the scheduler has placed the binding as it is now.
bool IsPlaced(const kube::Object& binding) {
  const api::BindingView view(binding);
  return kube::IsConditionTrue(view.Conditions(), api::kBindingScheduled) &&
         view.SchedulerObservedGeneration() == binding.generation() &&
         binding.spec()["rescheduleTriggeredAt"].AsString().empty();
}

bool IsConcerned(const kube::Object& binding, const Names& clusters) {
  const api::BindingView view(binding);
  if (view.PermanentId().empty() || binding.IsDeleting() || !IsPlaced(binding)) return true;
  if (view.PropagateDeps() || !view.RequiredBy().empty()) return true;
  if (!view.EvictionTasks().empty()) return true;
  const Names in = view.ExpectedClusters();
  return std::any_of(in.begin(), in.end(),
                     [&](const std::string& name) { return clusters.contains(name); }) ||
         !PlacementAvoidsAll(view.Placement(), clusters);
}

// Moves those of `objects` that are to be left out to the end of `out`.
template <class Predicate>
void MoveOut(std::vector<kube::Object>& objects, const Predicate& leave_out,
             std::vector<kube::ObjectPtr>& out) {
  const auto end = std::stable_partition(objects.begin(), objects.end(),
                                         [&](const kube::Object& one) { return !leave_out(one); });
  for (auto one = end; one != objects.end(); ++one) out.push_back(kube::Share(std::move(*one)));
  objects.erase(end, objects.end());
}

std::string IdOf(const kube::Object& object, const char* label, const char* cluster_label) {
  const absl::string_view id = object.Label(label);
  return std::string(id.empty() ? object.Label(cluster_label) : id);
}

std::string PolicyIdOf(const kube::Object& object) {
  return IdOf(object, api::kPropagationPolicyIdLabel, api::kClusterPropagationPolicyIdLabel);
}

}  // namespace

State LeaveOutUnconcerned(const std::vector<FleetEdit>& edits, LiveState& live) {
  const Names clusters = Restless(edits, live);
  State out;
  MoveOut(
      live.bindings, [&](const kube::Object& one) { return !IsConcerned(one, clusters); },
      out.bindings);
  std::set<ObjectId> templates;
  Names ids, policies;
  for (const kube::ObjectPtr& binding : out.bindings) {
    const api::BindingView view(*binding);
    const api::ObjectReference reference = view.Resource();
    templates.insert({reference.gvk().group, reference.kind, reference.ns, reference.name});
    ids.insert(std::string(view.PermanentId()));
    policies.insert(PolicyIdOf(*binding));
  }
  for (const kube::Object& binding : live.bindings) policies.erase(PolicyIdOf(binding));
  policies.erase("");
  MoveOut(
      live.templates,
      [&](const kube::Object& one) { return templates.contains(ObjectId::Of(one)); },
      out.templates);
  MoveOut(
      live.works,
      [&](const kube::Object& one) {
        return ids.contains(
            IdOf(one, api::kResourceBindingIdLabel, api::kClusterResourceBindingIdLabel));
      },
      out.works);
  std::erase_if(live.scenery, [&](const kube::Object& one) {
    const bool is_policy = one.gvk() == api::PropagationPolicies().gvk ||
                           one.gvk() == api::ClusterPropagationPolicies().gvk;
    return is_policy && policies.contains(PolicyIdOf(one));
  });
  return out;
}

}  // namespace lens::plan
