// Everything is found from the object asked about: its binding by the name that bindings have, the
// policy by the claim on the binding, Works by the label with the binding's id, what the template
// needs by its references, and who needs it by requiredBy in its binding. A policy's bindings have
// a label with its id.

#include "lens/graph/surroundings.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "api/binding_address.h"
#include "api/binding_scope.h"
#include "api/dependencies.h"
#include "api/names.h"
#include "api/policy_scope.h"
#include "api/resources.h"

namespace lens::graph {
namespace {

using plan::ObjectId;

}  // namespace

void Surroundings::ReadTemplate(const Target& asked) {
  AddNeeded(asked);
  const auto binding = objects_.bindings.find(asked.id());
  if (binding == objects_.bindings.end()) {
    // No binding records who requires it, so the bindings of its namespace are asked what they
    // need.
    AddNeedingByRecord(asked);
  } else {
    AddPolicyOf(*binding->second);
    AddNeeding(binding->second);
  }
  AddPlaces();
}

bool Surroundings::ReadPolicy(const kube::Resource& resource, const kube::ObjectKey& key) {
  const Reading::Answer policy = reading_.Get(resource, key);
  if (policy.objects.empty()) return policy.known;
  objects_.policies[ObjectId::Of(*policy.objects[0])] = policy.objects[0];
  const char* label = resource.namespaced ? api::policy_scope::Namespaced::kIdLabel
                                          : api::policy_scope::Cluster::kIdLabel;
  const std::string id(policy.objects[0]->Label(label));
  if (id.empty()) return true;  // It has claimed nothing yet.
  std::vector<kube::Resource> scopes = {api::ResourceBindings()};
  if (!resource.namespaced) scopes.push_back(api::ClusterResourceBindings());
  bool known = true;
  for (const kube::Resource& scope : scopes) {
    const Reading::Answer claimed =
        reading_.ListLabelled(scope, key.ns, {label, id}, {"spec.resource"});
    known = known && claimed.known;
    are_too_many_ = are_too_many_ || claimed.objects.size() > kMostTemplates;
    for (const kube::ObjectPtr& binding : claimed.objects) AddNeeded(Target::Of(*binding));
  }
  AddPlaces();
  return known;
}

// Adds a template, what it needs, what that needs, and so on, and the bindings of all these.
void Surroundings::AddNeeded(const Target& first) {
  std::vector<Target> open = {first};
  while (!open.empty() && !AreTooMany()) {
    const Target target = open.back();
    open.pop_back();
    // Also what ends a cycle of needs.
    if (objects_.templates.contains(target.id())) continue;
    AddBindingOf(target);
    const Reading::Answer answer = reading_.Get(target.gvk, target.key);
    objects_.templates[target.id()] = answer;
    for (const kube::ObjectPtr& object : answer.objects) {
      for (const api::DependentReference& reference : needs_.Of(*object)) {
        const std::vector<kube::ObjectPtr>& found = needs_.Find(reference).objects;
        for (const kube::ObjectPtr& one : found) open.push_back({one->gvk(), one->key()});
        const bool is_missing = found.empty() && !reference.name.empty();
        // A template that was deleted may have left its binding.
        if (is_missing) AddBindingOf({reference.gvk(), {reference.ns, reference.name}});
      }
    }
  }
}

// Adds the templates that need the one of the binding, by what the bindings record.
void Surroundings::AddNeeding(const kube::ObjectPtr& first) {
  std::vector<kube::ObjectPtr> open = {first};
  while (!open.empty() && !AreTooMany()) {
    const kube::ObjectPtr binding = open.back();
    open.pop_back();
    const std::vector<api::BindingSnapshot> required_by = api::BindingView(*binding).RequiredBy();
    are_too_many_ = are_too_many_ || required_by.size() > kMostTemplates;
    for (const api::BindingSnapshot& by : required_by) {
      if (AreTooMany()) return;
      const kube::Resource& resource =
          by.ns.empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
      for (const kube::ObjectPtr& other : reading_.Get(resource, {by.ns, by.name}).objects) {
        const Target target = Target::Of(*other);
        if (!objects_.bindings.emplace(target.id(), other).second) continue;
        objects_.others[target.id()] = reading_.Get(target.gvk, target.key);
        AddPolicyOf(*other);
        open.push_back(other);
      }
    }
  }
}

// Nobody takes the asked object along; who needs it all the same is in its namespace.
void Surroundings::AddNeedingByRecord(const Target& asked) {
  if (asked.key.ns.empty()) return;
  const kube::Object object = kube::Object::Make(asked.gvk, asked.key);
  for (const kube::ObjectPtr& listed :
       reading_.ListIn(api::ResourceBindings(), asked.key.ns).objects) {
    const std::vector<api::DependentReference> needs = api::RecordedDependencies(*listed);
    const bool needed = std::any_of(needs.begin(), needs.end(), [&](const auto& reference) {
      return !reference.name.empty() && reference.Matches(object);
    });
    if (!needed) continue;
    const Reading::Answer whole = reading_.Get(api::ResourceBindings(), listed->key());
    for (const kube::ObjectPtr& binding : whole.objects) {
      AddNeeded(Target::Of(*binding));
      AddPolicyOf(*binding);
      AddNeeding(binding);
    }
  }
}

void Surroundings::AddBindingOf(const Target& target) {
  const api::BindingAddress at = api::BindingOf(target.gvk.kind, target.key);
  for (const kube::ObjectPtr& binding : reading_.Get(at.resource, at.key).objects) {
    // Objects of two kinds may want the same name for their bindings; one of them has it.
    if (Target::Of(*binding).id() == target.id()) objects_.bindings[target.id()] = binding;
  }
}

void Surroundings::AddPolicyOf(const kube::Object& binding) {
  kube::Resource resource = api::PropagationPolicies();
  kube::ObjectKey key = api::policy_scope::Namespaced::ClaimOn(binding);
  if (key.name.empty()) {
    resource = api::ClusterPropagationPolicies();
    key = api::policy_scope::Cluster::ClaimOn(binding);
  }
  if (key.name.empty()) return;
  for (const kube::ObjectPtr& policy : reading_.Get(resource, key).objects) {
    objects_.policies[ObjectId::Of(*policy)] = policy;
  }
}

void Surroundings::AddPlaces() {
  if (AreTooMany()) return;
  for (const auto& [id, binding] : objects_.bindings) {
    AddWorksOf(id, *binding);
    for (const api::TargetCluster& target : api::BindingView(*binding).DispatchTargets()) {
      AddCluster(target.name);
    }
  }
  for (const kube::ObjectPtr& work : objects_.works) {
    const auto cluster = api::ClusterOfExecutionNamespace(work->ns());
    if (cluster.ok()) AddCluster(*cluster);
  }
}

void Surroundings::AddWorksOf(const ObjectId& id, const kube::Object& binding) {
  const api::BindingView view(binding);
  const char* label =
      binding.ns().empty() ? api::scope::Cluster::kIdLabel : api::scope::Namespaced::kIdLabel;
  const std::string permanent_id(view.PermanentId());
  std::vector<Reading::Answer> answers;
  // By the label one request finds the Works in all namespaces, also those in clusters that are no
  // longer targets.
  if (!permanent_id.empty()) {
    answers.push_back(reading_.ListLabelled(api::Works(), "", {label, permanent_id}, WorkFields()));
  } else {
    const std::string name = api::WorkName(id.kind, id.name, id.ns);
    for (const std::string& cluster : view.ExpectedClusters()) {
      answers.push_back(reading_.Get(api::Works(), {api::ExecutionNamespace(cluster), name}));
    }
  }
  bool known = true;
  for (const Reading::Answer& answer : answers) {
    known = known && answer.known;
    objects_.works.insert(objects_.works.end(), answer.objects.begin(), answer.objects.end());
  }
  if (known) objects_.works_known.insert(id);
}

void Surroundings::AddCluster(const std::string& name) {
  for (const kube::ObjectPtr& cluster : reading_.Get(api::Clusters(), {"", name}).objects) {
    objects_.clusters[name] = cluster;
  }
}

}  // namespace lens::graph
