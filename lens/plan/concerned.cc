// A binding is left out only if it is placed, waits for nothing, and its placement selects no
// cluster that changes, neither as it is nor as it will be: as the scheduler looks at a binding
// again only if its affinity selects the cluster that has changed. Whoever brings others along, or
// is brought along, is simulated with them.

#include "lens/plan/concerned.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/toleration.h"
#include "lens/plan/input.h"

namespace lens::plan {
namespace {

using Names = std::set<std::string>;

// The clusters that change, and those from which something may be evicted anyway.
struct Restless {
  Names names;
  // Their states before the changes, after they have joined, and with their new labels. All labels
  // that a question gives a cluster change at the same moment, so that there is no other state.
  std::vector<kube::Object> states;
};

void AddStates(kube::Object cluster, const std::vector<FleetEdit>& edits, Restless& out) {
  out.states.push_back(cluster);
  for (const FleetEdit& edit : edits) {
    if (edit.kind != FleetEdit::Kind::kLabel || edit.cluster != cluster.name()) continue;
    cluster = Edited(cluster, edit, absl::UnixEpoch());
  }
  if (cluster != out.states.back()) out.states.push_back(std::move(cluster));
}

Restless RestlessOf(const std::vector<FleetEdit>& edits, const LiveState& live) {
  Restless out;
  for (const FleetEdit& edit : edits) {
    out.names.insert(edit.cluster);
    if (edit.kind == FleetEdit::Kind::kJoin) AddStates(edit.joining, edits, out);
  }
  for (const kube::Object& object : live.scenery) {
    if (object.gvk() != api::Clusters().gvk) continue;
    const bool evicts = !api::NoExecuteTaints(api::ClusterView(object)).empty();
    if (evicts || object.IsDeleting()) out.names.insert(std::string(object.name()));
    if (out.names.contains(std::string(object.name()))) AddStates(object, edits, out);
  }
  return out;
}

// Returns whether the affinity never selects one of the clusters.
bool AvoidsAll(const json::Value& affinity, const Restless& clusters) {
  const auto selects = api::ClusterAffinity::FromJson(affinity);
  return std::none_of(
      clusters.states.begin(), clusters.states.end(),
      [&](const kube::Object& state) { return selects.Matches(api::ClusterView(state)); });
}

bool PlacementAvoidsAll(const json::Value& placement, const Restless& clusters) {
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

bool IsConcerned(const kube::Object& binding, const Restless& clusters) {
  const api::BindingView view(binding);
  if (view.PermanentId().empty() || binding.IsDeleting() || !IsPlaced(binding)) return true;
  if (view.PropagateDeps() || !view.RequiredBy().empty()) return true;
  if (!view.EvictionTasks().empty()) return true;
  const Names in = view.ExpectedClusters();
  return std::any_of(in.begin(), in.end(),
                     [&](const std::string& name) { return clusters.names.contains(name); }) ||
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
  const Restless clusters = RestlessOf(edits, live);
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
