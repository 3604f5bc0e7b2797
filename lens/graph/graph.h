// How templates hang together: policies select templates, templates are placed in clusters and need
// other objects.
#ifndef LENS_GRAPH_GRAPH_H_
#define LENS_GRAPH_GRAPH_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/dependencies.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "lens/plan/outcome.h"

namespace lens::graph {

enum class NodeType { kPolicy, kTemplate, kCluster };
// Returns "policy", "template" or "cluster".
absl::string_view NameOf(NodeType type);

struct Node {
  NodeType type = NodeType::kTemplate;
  std::string name;    // "Deployment shop/web", "PropagationPolicy shop/web", "member1".
  bool exists = true;  // False for an object that another one needs and that is not there.
};

enum class EdgeType {
  kClaims,  // From a policy to a template that it has claimed.
  kNeeds,   // From a template to an object that the interpreter says it needs.
  kPlaced,  // From a template to a cluster that gets it.
};
// Returns "claims", "needs" or "placed".
absl::string_view NameOf(EdgeType type);

struct Edge {
  size_t from = 0, to = 0;  // Indexes of nodes.
  EdgeType type = EdgeType::kNeeds;
  std::string label;    // "3 replicas", or "".
  bool follows = true;  // False for a needed object that does not follow into the clusters.
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;

  // Returns the edges that leave a node, in their order.
  std::vector<const Edge*> From(size_t node) const;
  // Returns whether some edge of the type leads to the node.
  bool HasIncoming(size_t node, EdgeType type) const;
};

// What a graph is made from.
struct Source {
  plan::Outcome outcome;
  std::vector<kube::Object> templates;  // Those that may have no policy, too.
  // Returns what the interpreter says that the object needs: a list, or null.
  std::function<absl::StatusOr<json::Value>(const kube::Object&)> needs;
  // Returns the objects that a reference names or selects.
  std::function<std::vector<kube::Object>(const api::DependentReference&)> resolve;
};

// Follows what templates need to the end; each object is asked once, so that cycles end. An error
// of the interpreter is returned.
absl::StatusOr<Graph> BuildGraph(const Source& source);

// Returns the part of the graph that has to do with the nodes that `wanted` accepts: they, what
// they lead to, what leads to them, and the clusters of all these.
Graph PartAround(const Graph& graph, const std::function<bool(const Node&)>& wanted);

}  // namespace lens::graph

#endif  // LENS_GRAPH_GRAPH_H_
