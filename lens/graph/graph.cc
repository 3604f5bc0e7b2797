// The builder adds the placements of all templates with their policies and clusters first, then
// follows what each template needs, then what bindings record as required. Nodes are found by type
// and name, so the standing that the first mention gives a node stays. Asking what an object needs
// runs the interpreter once for each object, which also ends cycles. PartAround keeps what leads to
// the wanted nodes and what they lead to, plus the clusters of all of these, but not the other
// templates of those clusters. Sizes are those of one control plane, so that plain searches over
// all edges do.

#include "lens/graph/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "lens/plan/input.h"

namespace lens::graph {
namespace {

using plan::ObjectId;
using plan::TemplateOutcome;

std::string Replicas(const plan::ClusterShare& share) {
  if (!share.replicas.has_value()) return "";
  return absl::StrCat(*share.replicas, *share.replicas == 1 ? " replica" : " replicas");
}

// Returns the binding of a template as requiredBy names it: "shop/web-deployment".
std::string BindingOf(const ObjectId& id) {
  return kube::ObjectKey{id.ns, api::BindingName(id.kind, id.name)}.ToString();
}

class Builder {
 public:
  explicit Builder(const Source& source) : source_(source) {}

  absl::StatusOr<Graph> Build() {
    for (const auto& [id, outcome] : source_.outcome) AddPlaced(id, outcome);
    for (const ObjectId& policy : source_.policies) NodeOf(NodeType::kPolicy, policy);
    for (const kube::Object& object : source_.templates) RETURN_IF_ERROR(AddNeeds(object));
    AddRequired();
    return std::move(graph_);
  }

 private:
  size_t NodeOf(NodeType type, const std::string& name, Standing standing) {
    const auto [entry, fresh] = index_.try_emplace({type, name}, graph_.nodes.size());
    if (fresh) graph_.nodes.push_back({type, name, std::move(standing)});
    return entry->second;
  }

  size_t NodeOf(NodeType type, const ObjectId& id) {
    const std::string name = type == NodeType::kCluster ? id.name : id.ToString();
    const bool known = index_.contains({type, name});
    return NodeOf(type, name, known ? Standing() : StandingOf(type, id));
  }

  Standing StandingOf(NodeType type, const ObjectId& id) const {
    return source_.standing ? source_.standing(type, id) : Standing();
  }

  void AddPlaced(const ObjectId& id, const TemplateOutcome& outcome) {
    const size_t self = NodeOf(NodeType::kTemplate, id);
    if (!outcome.policy_kind.empty()) {
      const ObjectId policy{api::PropagationPolicies().gvk.group, outcome.policy_kind,
                            outcome.policy.ns, outcome.policy.name};
      graph_.edges.push_back({NodeOf(NodeType::kPolicy, policy), self, EdgeType::kClaims});
    }
    for (const auto& [name, share] : outcome.clusters) {
      const kube::Gvk& gvk = api::Clusters().gvk;
      const size_t cluster = NodeOf(NodeType::kCluster, {gvk.group, gvk.kind, "", name});
      graph_.edges.push_back({self, cluster, EdgeType::kPlaced, PlacedLabel(id, name, share)});
    }
  }

  std::string PlacedLabel(const ObjectId& id, const std::string& cluster,
                          const plan::ClusterShare& share) const {
    const std::string replicas = Replicas(share);
    const auto arrival = source_.arrivals.find({id, cluster});
    if (arrival == source_.arrivals.end()) return replicas;
    return absl::StrCat(replicas, replicas.empty() ? "" : ", ", arrival->second);
  }

  // Adds what the object needs, and what that needs in turn.
  absl::Status AddNeeds(const kube::Object& object) {
    const ObjectId id = ObjectId::Of(object);
    if (!asked_.insert(id).second) return absl::OkStatus();
    const size_t self = NodeOf(NodeType::kTemplate, id);
    const auto needs = source_.needs(object);
    if (!needs.ok()) return base::Annotate(needs.status(), "asking what ", id.ToString(), " needs");
    for (const api::DependentReference& reference : *needs) {
      const Resolved resolved = source_.resolve(reference);
      if (resolved.found.empty()) {
        const ObjectId other{reference.gvk().group, reference.kind, reference.ns, reference.name};
        Standing standing = StandingOf(NodeType::kTemplate, other);
        // What could not be read may exist; only an answer of the server makes it missing.
        standing.presence = resolved.known ? Presence::kMissing : Presence::kUnknown;
        AddNeed(self, NodeOf(NodeType::kTemplate, reference.Describe(), std::move(standing)),
                Follows(other, id));
      }
      for (const kube::Object& needed : resolved.found) {
        const ObjectId other = ObjectId::Of(needed);
        AddNeed(self, NodeOf(NodeType::kTemplate, other), Follows(other, id));
        RETURN_IF_ERROR(AddNeeds(needed));
      }
    }
    return absl::OkStatus();
  }

  // Adds an edge from each template whose binding another one's requiredBy names.
  void AddRequired() {
    std::map<std::string, ObjectId> by_binding;
    for (const auto& [id, outcome] : source_.outcome) by_binding[BindingOf(id)] = id;
    for (const auto& [id, outcome] : source_.outcome) {
      for (const std::string& binding : outcome.required_by) {
        const auto by = by_binding.find(binding);
        if (by == by_binding.end()) continue;
        AddNeed(NodeOf(NodeType::kTemplate, by->second), NodeOf(NodeType::kTemplate, id), true);
      }
    }
  }

  void AddNeed(size_t from, size_t to, bool follows) {
    if (!needs_.emplace(from, to).second) return;
    // Where it is unknown which clusters the object goes to, it is not claimed that it stays
    // behind.
    const bool is_known = graph_.nodes[to].standing.clusters_known;
    const bool is_missing = graph_.nodes[to].standing.presence == Presence::kMissing;
    graph_.edges.push_back({from, to, EdgeType::kNeeds, "", follows || (!is_known && !is_missing)});
  }

  // Returns whether the needed object follows the other one into its clusters.
  bool Follows(const ObjectId& needed, const ObjectId& by) const {
    const auto found = source_.outcome.find(needed);
    if (found == source_.outcome.end()) return false;
    const std::vector<std::string>& required_by = found->second.required_by;
    return std::find(required_by.begin(), required_by.end(), BindingOf(by)) != required_by.end();
  }

  const Source& source_;
  Graph graph_;
  std::map<std::pair<NodeType, std::string>, size_t> index_;
  std::set<std::pair<size_t, size_t>> needs_;
  std::set<ObjectId> asked_;
};

// Adds to `kept` every node that is reached from it along the edges, or against them.
void Reach(const Graph& graph, bool forward, std::set<size_t>& kept) {
  std::vector<size_t> open(kept.begin(), kept.end());
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    for (const Edge& edge : graph.edges) {
      const size_t from = forward ? edge.from : edge.to, to = forward ? edge.to : edge.from;
      if (from == node && kept.insert(to).second) open.push_back(to);
    }
  }
}

}  // namespace

absl::string_view NameOf(NodeType type) {
  switch (type) {
    case NodeType::kPolicy:
      return "policy";
    case NodeType::kTemplate:
      return "template";
    case NodeType::kCluster:
      break;
  }
  return "cluster";
}

absl::string_view NameOf(EdgeType type) {
  switch (type) {
    case EdgeType::kClaims:
      return "claims";
    case EdgeType::kNeeds:
      return "needs";
    case EdgeType::kPlaced:
      break;
  }
  return "placed";
}

std::string RemarkOf(const Node& node) {
  switch (node.standing.presence) {
    case Presence::kMissing:
      return "does not exist";
    case Presence::kUnknown:
      return "could not be read";
    case Presence::kThere:
      break;
  }
  const bool is_known = node.standing.clusters_known || !node.standing.remark.empty();
  return is_known ? node.standing.remark : "its binding could not be read";
}

std::vector<const Edge*> Graph::From(size_t node) const {
  std::vector<const Edge*> out;
  for (const Edge& edge : edges) {
    if (edge.from == node) out.push_back(&edge);
  }
  return out;
}

bool Graph::HasIncoming(size_t node, EdgeType type) const {
  return std::any_of(edges.begin(), edges.end(),
                     [&](const Edge& edge) { return edge.to == node && edge.type == type; });
}

absl::StatusOr<Graph> BuildGraph(const Source& source) { return Builder(source).Build(); }

Graph PartAround(const Graph& graph, const std::function<bool(const Node&)>& wanted) {
  std::set<size_t> centre;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (wanted(graph.nodes[i])) centre.insert(i);
  }
  std::set<size_t> before = centre, after = centre;
  Reach(graph, /*forward=*/false, before);
  Reach(graph, /*forward=*/true, after);
  before.merge(after);
  for (const Edge& edge : graph.edges) {
    if (edge.type == EdgeType::kPlaced && before.contains(edge.from)) before.insert(edge.to);
  }
  Graph part;
  part.unread = graph.unread;
  std::map<size_t, size_t> index;
  for (const size_t i : before) {
    index[i] = part.nodes.size();
    part.nodes.push_back(graph.nodes[i]);
  }
  for (Edge edge : graph.edges) {
    if (!index.contains(edge.from) || !index.contains(edge.to)) continue;
    edge.from = index[edge.from];
    edge.to = index[edge.to];
    part.edges.push_back(std::move(edge));
  }
  return part;
}

}  // namespace lens::graph
