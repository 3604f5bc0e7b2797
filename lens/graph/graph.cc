#include "lens/graph/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/names.h"
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

class Builder {
 public:
  explicit Builder(const Source& source) : source_(source) {}

  absl::StatusOr<Graph> Build() {
    for (const auto& [id, outcome] : source_.outcome) AddPlaced(id, outcome);
    for (const kube::Object& object : source_.templates) RETURN_IF_ERROR(AddNeeds(object));
    return std::move(graph_);
  }

 private:
  size_t NodeOf(NodeType type, const std::string& name, bool exists = true) {
    const auto [entry, fresh] = index_.try_emplace({type, name}, graph_.nodes.size());
    if (fresh) graph_.nodes.push_back({type, name, exists});
    return entry->second;
  }

  void AddPlaced(const ObjectId& id, const TemplateOutcome& outcome) {
    const size_t self = NodeOf(NodeType::kTemplate, id.ToString());
    if (!outcome.policy_kind.empty()) {
      const size_t policy = NodeOf(
          NodeType::kPolicy, absl::StrCat(outcome.policy_kind, " ", outcome.policy.ToString()));
      graph_.edges.push_back({policy, self, EdgeType::kClaims});
    }
    for (const auto& [cluster, share] : outcome.clusters) {
      graph_.edges.push_back(
          {self, NodeOf(NodeType::kCluster, cluster), EdgeType::kPlaced, Replicas(share)});
    }
  }

  // Adds what the object needs, and what that needs in turn.
  absl::Status AddNeeds(const kube::Object& object) {
    const ObjectId id = ObjectId::Of(object);
    if (!asked_.insert(id).second) return absl::OkStatus();
    const size_t self = NodeOf(NodeType::kTemplate, id.ToString());
    const absl::StatusOr<json::Value> needs = source_.needs(object);
    if (!needs.ok()) return base::Annotate(needs.status(), "asking what ", id.ToString(), " needs");
    for (const api::DependentReference& reference : api::DependenciesFromJson(*needs)) {
      const std::vector<kube::Object> found = source_.resolve(reference);
      if (found.empty()) {
        AddEdge(self, NodeOf(NodeType::kTemplate, reference.Describe(), /*exists=*/false), false);
      }
      for (const kube::Object& needed : found) {
        const ObjectId other = ObjectId::Of(needed);
        AddEdge(self, NodeOf(NodeType::kTemplate, other.ToString()), Follows(other, id));
        RETURN_IF_ERROR(AddNeeds(needed));
      }
    }
    return absl::OkStatus();
  }

  void AddEdge(size_t from, size_t to, bool follows) {
    graph_.edges.push_back({from, to, EdgeType::kNeeds, "", follows});
  }

  // Returns whether the needed object goes where the other one goes.
  bool Follows(const ObjectId& needed, const ObjectId& by) const {
    const auto found = source_.outcome.find(needed);
    if (found == source_.outcome.end()) return false;
    const std::string binding =
        kube::ObjectKey{by.ns, api::BindingName(by.kind, by.name)}.ToString();
    const std::vector<std::string>& required_by = found->second.required_by;
    return std::find(required_by.begin(), required_by.end(), binding) != required_by.end();
  }

  const Source& source_;
  Graph graph_;
  std::map<std::pair<NodeType, std::string>, size_t> index_;
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
