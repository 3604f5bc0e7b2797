// The graph of a whole control plane is read by lists. Bindings come first: they name the
// templates, their policies and clusters, and those that are attached to others name whom they
// follow (requiredBy). Works say what has become of a template in a cluster. Templates are read
// last, to ask the interpreter what they need; kinds of which many are wanted are listed, the
// others are read one by one.
//
// The graph around one template or policy is read object by object, so that its cost does not grow
// with the control plane: the template with its binding, what it needs, to the end, and, by what
// the bindings record, the templates that need it; a policy's bindings are found by its label. If
// that is too much for single requests, everything is read after all. Both ways fill the same maps,
// from which the graph is built.

#include "lens/graph/live.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/binding_resource.h"
#include "api/binding_scope.h"
#include "api/cluster.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "lens/graph/live_objects.h"
#include "lens/graph/needs.h"
#include "lens/graph/reading.h"
#include "lens/graph/surroundings.h"
#include "lens/why/expected.h"

namespace lens::graph {
namespace {

using plan::ObjectId;

constexpr size_t kListFrom = 20;  // So many objects of a kind are worth a list of all of them.

kube::ObjectKey BindingOf(const kube::Object& work) {
  kube::ObjectKey key = api::scope::Namespaced::BindingOf(work);
  return key.name.empty() ? api::scope::Cluster::BindingOf(work) : key;
}

bool IsEvicting(const api::BindingView& binding, absl::string_view cluster) {
  const std::vector<api::EvictionTask> tasks = binding.EvictionTasks();
  return std::any_of(tasks.begin(), tasks.end(), [&](const api::EvictionTask& task) {
    return task.from_cluster == cluster && !task.KeepsAway();
  });
}

// Returns what has become of the Work; "" when it has been applied and nothing is in its way.
std::string StateOf(const kube::Object& work) {
  const api::WorkView view(work);
  if (work.IsDeleting()) return "being removed";
  if (view.IsDispatchingSuspended()) return "suspended";
  return view.IsApplied() ? "" : "not applied";
}

class LiveGraph {
 public:
  LiveGraph(kube::Client& client, const kube::Discovery& discovery, const LiveQuestion& question,
            const base::StopToken& stop)
      : question_(question),
        reading_(client, discovery, question.ns, stop),
        needs_(reading_, objects_.bindings, question.merge) {}

  absl::StatusOr<Graph> Build() {
    if (reading_.ResourceOf(api::ResourceBindings().gvk).gvk.empty()) {
      return absl::NotFoundError(absl::StrCat(
          "the server has no ResourceBindings (", api::ResourceBindings().gvk.ApiVersion(),
          "): it is not a Karmada control plane, or it does not let you see its kinds"));
    }
    RETURN_IF_ERROR(Read());
    AddOutcome();
    AddTemplates();
    source_.needs = [this](const kube::Object& object) { return needs_.Of(object); };
    source_.resolve = [this](const api::DependentReference& needed) { return Resolve(needed); };
    source_.standing = [this](NodeType type, const ObjectId& id) { return StandingOf(type, id); };
    ASSIGN_OR_RETURN(Graph graph, BuildGraph(source_));
    AddAsked(graph);
    graph.unread = reading_.Unread();
    return graph;
  }

 private:
  absl::Status Read() {
    if (!IsAboutPolicy() && !IsAboutTemplate()) return ReadAll();
    Surroundings around(reading_, needs_, objects_);
    if (IsAboutPolicy()) {
      source_.policies.push_back(asked_.id());
      claims_known_ = around.ReadPolicy(question_.resource, question_.key);
    } else {
      around.ReadTemplate(asked_);
    }
    if (!around.AreTooMany()) return absl::OkStatus();
    // Object by object would be more requests than lists of everything.
    objects_ = {};
    source_.policies.clear();
    claims_known_ = false;
    return ReadAll();
  }

  bool IsAboutPolicy() const {
    return asked_.gvk == api::PropagationPolicies().gvk ||
           asked_.gvk == api::ClusterPropagationPolicies().gvk;
  }
  bool IsAboutTemplate() const {
    return !asked_.gvk.empty() && !api::IsKarmadaGroup(asked_.gvk.group);
  }

  absl::Status ReadAll() {
    RETURN_IF_ERROR(ReadBindings());
    ReadPolicies();
    for (const kube::ObjectPtr& cluster : reading_.List(api::Clusters())) {
      objects_.clusters[std::string(cluster->name())] = cluster;
    }
    objects_.works = reading_.List(api::Works(), WorkFields());
    if (reading_.HasRead(api::Works(), "")) {
      for (const auto& [id, binding] : objects_.bindings) objects_.works_known.insert(id);
    }
    ReadTemplates();
    // It need not have a binding.
    if (IsAboutTemplate()) objects_.templates[asked_.id()] = reading_.Get(asked_.gvk, asked_.key);
    return absl::OkStatus();
  }

  absl::Status ReadBindings() {
    for (const kube::Resource& resource :
         {api::ResourceBindings(), api::ClusterResourceBindings()}) {
      for (const kube::ObjectPtr& read :
           reading_.List(resource, {"metadata", "spec", "status.conditions"})) {
        // A binding that is refused does not take the place of the one that stands for the object.
        if (!api::MayStandForResource(*read)) continue;
        objects_.bindings[Target::Of(*read).id()] = read;
      }
    }
    const bool any = reading_.HasRead(api::ResourceBindings(), question_.ns) ||
                     reading_.HasRead(api::ClusterResourceBindings(), "");
    if (any || !asked_.gvk.empty()) return absl::OkStatus();
    // Without bindings and an object to begin with there is nothing to show.
    return absl::PermissionDeniedError(
        absl::StrCat("the bindings could not be read: ", reading_.Unread()[0]));
  }

  void ReadPolicies() {
    for (const kube::Resource& resource :
         {api::PropagationPolicies(), api::ClusterPropagationPolicies()}) {
      for (const kube::ObjectPtr& policy : reading_.List(resource)) {
        objects_.policies[ObjectId::Of(*policy)] = policy;
        source_.policies.push_back(ObjectId::Of(*policy));
      }
    }
  }

  void ReadTemplates() {
    std::map<kube::Gvk, std::vector<kube::ObjectKey>> wanted;
    for (const auto& [id, binding] : objects_.bindings) {
      const Target target = Target::Of(*binding);
      wanted[target.gvk].push_back(target.key);
    }
    for (const auto& [gvk, keys] : wanted) {
      const kube::Resource resource = reading_.ResourceOf(gvk);
      if (!resource.gvk.empty() && keys.size() >= kListFrom && gvk != api::Secrets().gvk) {
        std::vector<std::string> fields;
        if (!needs_.AreAskedOf(gvk)) fields = {"metadata"};
        reading_.Prefetch(resource, fields);
      }
      for (const kube::ObjectKey& key : keys) {
        objects_.templates[Target{gvk, key}.id()] = reading_.Get(gvk, key);
      }
    }
  }

  // Records what bindings and Works say, also of clusters that are not targets any more.
  void AddOutcome() {
    plan::State state;
    std::map<kube::ObjectKey, ObjectId> by_binding;
    for (const auto& [id, read] : objects_.bindings) {
      by_binding[read->key()] = id;
      kube::Object binding = *read;
      // One that is being deleted still has its Works.
      binding.Erase({"metadata", "deletionTimestamp"});
      state.bindings.push_back(kube::Share(std::move(binding)));
    }
    source_.outcome = plan::OutcomeOf(state);
    for (const auto& [id, outcome] : source_.outcome) {
      claiming_.insert({api::PropagationPolicies().gvk.group, outcome.policy_kind,
                        outcome.policy.ns, outcome.policy.name});
    }
    std::set<std::pair<ObjectId, std::string>> with_work;
    for (const kube::ObjectPtr& work : objects_.works) {
      const auto found = by_binding.find(BindingOf(*work));
      const auto cluster = api::ClusterOfExecutionNamespace(work->ns());
      if (found == by_binding.end() || !cluster.ok()) continue;
      with_work.emplace(found->second, *cluster);
      AddWork(*work, found->second, *cluster);
    }
    for (const auto& [id, outcome] : source_.outcome) {
      if (!objects_.works_known.contains(id)) continue;
      for (const auto& [cluster, share] : outcome.clusters) {
        if (!with_work.contains({id, cluster})) source_.arrivals[{id, cluster}] = "no Work yet";
      }
    }
  }

  void AddWork(const kube::Object& work, const ObjectId& id, const std::string& cluster) {
    const api::BindingView binding(*objects_.bindings[id]);
    auto& clusters = source_.outcome[id].clusters;
    std::string state = StateOf(work);
    if (clusters.try_emplace(cluster).second) {
      state = StateOfLeftOver(work, binding, cluster);
    }
    if (!state.empty()) source_.arrivals[{id, cluster}] = state;
  }

  // Of a cluster that is not a target any more.
  std::string StateOfLeftOver(const kube::Object& work, const api::BindingView& binding,
                              const std::string& cluster) const {
    if (IsEvicting(binding, cluster)) return "being evicted";
    // That the Cluster is leaving is not read: then its Work is soon being deleted.
    const kube::Object member = kube::Object::Make(api::Clusters().gvk, {"", cluster});
    const bool stays = !work.IsDeleting() && why::StaysSuspended(binding, cluster, &member);
    return stays ? "suspended, not chosen any more" : "being removed";
  }

  void AddTemplates() {
    for (const auto& [id, answer] : objects_.templates) {
      for (const kube::ObjectPtr& object : answer.objects) source_.templates.push_back(*object);
      Keep(id, answer);
    }
    for (const auto& [id, answer] : objects_.others) Keep(id, answer);
  }

  void Keep(const ObjectId& id, const Reading::Answer& answer) {
    Standing standing;
    if (answer.objects.empty()) {
      standing.presence = answer.known ? Presence::kMissing : Presence::kUnknown;
    } else if (answer.objects[0]->IsDeleting()) {
      standing.remark = "being deleted";
    }
    templates_[id] = standing;
  }

  Resolved Resolve(const api::DependentReference& needed) {
    const Reading::Answer& answer = needs_.Find(needed);
    Resolved resolved{.found = {}, .known = answer.known};
    for (const kube::ObjectPtr& object : answer.objects) {
      Keep(ObjectId::Of(*object), {.objects = {object}});
      resolved.found.push_back(*object);
    }
    return resolved;
  }

  Standing StandingOf(NodeType type, const ObjectId& id) const {
    if (type == NodeType::kPolicy) return StandingOfPolicy(id);
    if (type == NodeType::kCluster) return StandingOfCluster(id.name);
    const auto found = templates_.find(id);
    Standing standing = found == templates_.end() ? Standing() : found->second;
    const api::BindingAddress at = api::BindingOf(id.kind, {id.ns, id.name});
    standing.clusters_known =
        objects_.bindings.contains(id) || reading_.IsKnown(at.resource, at.key);
    return standing;
  }

  // Returns whether it is known of which templates the policy's claims are.
  bool AreClaimsKnown(const ObjectId& policy) const {
    if (claims_known_ && policy == asked_.id()) return true;
    return reading_.HasRead(api::ResourceBindings(), policy.ns) &&
           (!policy.ns.empty() || reading_.HasRead(api::ClusterResourceBindings(), ""));
  }

  Standing StandingOfPolicy(const ObjectId& id) const {
    const auto found = objects_.policies.find(id);
    if (found == objects_.policies.end()) {
      const kube::Resource& resource =
          id.ns.empty() ? api::ClusterPropagationPolicies() : api::PropagationPolicies();
      const bool known = reading_.IsKnown(resource, {id.ns, id.name});
      return {known ? Presence::kMissing : Presence::kUnknown};
    }
    if (found->second->IsDeleting()) return {Presence::kThere, "being deleted"};
    const bool idle = AreClaimsKnown(id) && !claiming_.contains(id);
    return {Presence::kThere, idle ? "claims nothing" : ""};
  }

  Standing StandingOfCluster(const std::string& name) const {
    const auto found = objects_.clusters.find(name);
    if (found == objects_.clusters.end()) {
      const bool known = reading_.IsKnown(api::Clusters(), {"", name});
      return {known ? Presence::kMissing : Presence::kUnknown};
    }
    if (found->second->IsDeleting()) return {Presence::kThere, "leaving"};
    return {Presence::kThere, api::ClusterView(*found->second).IsReady() ? "" : "not ready"};
  }

  // Nothing follows from an object that was asked about and could not be read.
  void AddAsked(Graph& graph) const {
    const ObjectId id = asked_.id();
    const auto found = templates_.find(id);
    if (found == templates_.end() || found->second.presence != Presence::kUnknown) return;
    const bool known = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                   [&](const Node& node) { return node.name == id.ToString(); });
    if (!known) graph.nodes.push_back({NodeType::kTemplate, id.ToString(), found->second});
  }

  const LiveQuestion& question_;
  const Target asked_{question_.resource.gvk, question_.key};  // Empty when there is none.
  Reading reading_;
  LiveObjects objects_;
  Needs needs_;
  Source source_;
  std::set<ObjectId> claiming_;  // Policies that have claimed something.
  std::map<ObjectId, Standing> templates_;
  bool claims_known_ = false;  // Whether all claims of the policy asked about have been read.
};

}  // namespace

absl::StatusOr<Graph> GraphOfLive(kube::Client& client, const kube::Discovery& discovery,
                                  const LiveQuestion& question, const base::StopToken& stop) {
  return LiveGraph(client, discovery, question, stop).Build();
}

}  // namespace lens::graph
