// What a control plane has decided about templates: policy, clusters, replicas, manifests,
// dependencies. Read from bindings and Works, simulated or live.
#ifndef LENS_PLAN_OUTCOME_H_
#define LENS_PLAN_OUTCOME_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/dependencies.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "lens/plan/input.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

// What one cluster gets of a template.
struct ClusterShare {
  std::optional<int64_t> replicas;     // nullopt for templates without replicas.
  kube::Object manifest;               // Without Karmada's own metadata; empty without a Work.
  std::vector<std::string> overrides;  // "OverridePolicy shop/small", in their order.
  bool suspended = false;              // True if the cluster gets no changes.
  bool preserved = false;              // True if the cluster keeps its object without a Work.
};

struct TemplateOutcome {
  std::string api_version;
  kube::Object object;      // The template without Karmada's own metadata; empty if unknown.
  std::string policy_kind;  // "PropagationPolicy" and so on; "" without a policy.
  kube::ObjectKey policy;
  std::map<std::string, ClusterShare> clusters;
  std::string held_back;      // Why its present state reaches no cluster; "" if nothing holds it.
  std::string not_scheduled;  // Why the scheduler placed it nowhere; "" if it did not refuse.
  std::string not_scheduled_reason;  // The reason of the same condition, such as "NoClusterFit".
  std::set<std::string> targets;     // The clusters that are meant to have it.
  std::string scheduler;             // The name of the scheduler that has to place it; may be "".
  bool is_scheduling_suspended = false;
  json::Value requests;  // What one replica asks for, by resource.
  bool propagates_dependencies = false;
  std::vector<api::DependentReference> dependencies;
  std::vector<std::string> required_by;  // The bindings that it follows, "shop/web-deployment".
};

using Outcome = std::map<ObjectId, TemplateOutcome>;

// The objects that an outcome is read from.
struct State {
  std::vector<kube::ObjectPtr> bindings;  // Of both scopes.
  std::vector<kube::ObjectPtr> works;
  std::vector<kube::ObjectPtr> templates;
};

// Reads bindings, Works and templates of a simulated control plane.
absl::StatusOr<State> StateOf(sandbox::Backend& backend);

// Bindings that are being deleted, and their Works, are left out.
Outcome OutcomeOf(const State& state);

// Returns whether a label or annotation is Karmada's own: "work.karmada.io/name".
bool IsKarmadaKey(absl::string_view key);

// Returns whether the reference names or selects an object of the control plane.
bool Exists(sandbox::Backend& backend, const api::DependentReference& reference);

// The annotation in which `kubectl apply` records what it has set.
inline constexpr char kLastAppliedAnnotation[] = "kubectl.kubernetes.io/last-applied-configuration";

// Returns the object without status, without what a server assigns, without labels and annotations
// of Karmada's domain, and without kLastAppliedAnnotation.
kube::Object Cleaned(kube::Object object);

}  // namespace lens::plan

#endif  // LENS_PLAN_OUTCOME_H_
