// How templates hang together: policies select templates, templates are placed in clusters and need
// other objects.
#ifndef LENS_GRAPH_GRAPH_H_
#define LENS_GRAPH_GRAPH_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
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

enum class Presence {
  kThere,
  kMissing,  // Something refers to it, but it does not exist.
  kUnknown,  // It could not be read, for example for want of rights.
};

struct Standing {
  Presence presence = Presence::kThere;
  std::string remark = {};     // What is worth saying: "being deleted"; "" for nothing.
  bool clusters_known = true;  // False if it could not be read which clusters get the template.
};

struct Node {
  NodeType type = NodeType::kTemplate;
  std::string name;  // "Deployment shop/web", "PropagationPolicy shop/web", "member1".
  Standing standing = {};
};

// Returns what is to be said beside the node's name: that it does not exist, that it could not be
// read, or its remark.
std::string RemarkOf(const Node& node);

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
  std::string label;    // "3 replicas, not applied", or "".
  bool follows = true;  // False for a needed object that does not follow into the clusters.
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<std::string> unread;  // What could not be read, and why: full sentences.

  // Returns the edges that leave a node, in their order.
  std::vector<const Edge*> From(size_t node) const;
  // Returns whether some edge of the type leads to the node.
  bool HasIncoming(size_t node, EdgeType type) const;
};

// The objects that a reference names or selects.
struct Resolved {
  std::vector<kube::Object> found;
  bool known =
      true;  // False if they could not be read, so that nothing follows from their absence.
};

// What a graph is made from.
struct Source {
  plan::Outcome outcome;
  std::vector<kube::Object> templates;  // Those that may have no policy, too.
  // Returns what the object needs.
  std::function<absl::StatusOr<std::vector<api::DependentReference>>(const kube::Object&)> needs;
  std::function<Resolved(const api::DependentReference&)> resolve;
  // Returns how a policy, template or cluster stands. Optional: all are there.
  std::function<Standing(NodeType, const plan::ObjectId&)> standing = {};
  // What has become of a template in a cluster where it has not simply arrived: "not applied".
  std::map<std::pair<plan::ObjectId, std::string>, std::string> arrivals = {};
  std::vector<plan::ObjectId> policies = {};  // They are shown even if they have claimed nothing.
};

// Follows what templates need to the end; each object is asked once, so that cycles end. A template
// that others are recorded to require is needed by them, whatever they say. An error of `needs` is
// returned.
absl::StatusOr<Graph> BuildGraph(const Source& source);

// Returns the part of the graph that has to do with the nodes that `wanted` accepts: they, what
// they lead to, what leads to them, and the clusters of all these.
Graph PartAround(const Graph& graph, const std::function<bool(const Node&)>& wanted);

}  // namespace lens::graph

#endif  // LENS_GRAPH_GRAPH_H_
