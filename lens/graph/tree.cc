#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lens/graph/render.h"
#include "tool/tree.h"

namespace lens::graph {
namespace {

class Tree {
 public:
  Tree(const Graph& graph, const tool::Colours& colours) : graph_(graph), colours_(colours) {}

  std::string Write() {
    for (const NodeType type : {NodeType::kPolicy, NodeType::kTemplate}) {
      for (size_t i = 0; i < graph_.nodes.size(); ++i) {
        if (graph_.nodes[i].type == type && IsRoot(i)) WriteRoot(i);
      }
    }
    // What is left needs one another in a circle.
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].type == NodeType::kTemplate && !shown_.contains(i)) WriteRoot(i);
    }
    return std::move(text_);
  }

 private:
  bool IsRoot(size_t node) const {
    return !graph_.HasIncoming(node, EdgeType::kClaims) &&
           !graph_.HasIncoming(node, EdgeType::kNeeds);
  }

  void WriteRoot(size_t node) {
    tool::TreeNode drawn{
        absl::StrCat(colours_.Bold(tool::OneLine(graph_.nodes[node].name)), Remark(node)), {}};
    shown_.insert(node);
    path_ = {node};
    AddChildren(node, drawn);
    text_ += tool::TreeText(drawn);
  }

  std::string Remark(size_t node) const {
    const Node& shown = graph_.nodes[node];
    const bool there = shown.standing.presence == Presence::kThere;
    std::string text = RemarkOf(shown);
    if (!text.empty()) {
      text = absl::StrCat("  ", there ? colours_.Yellow(tool::OneLine(text)) : colours_.Red(text));
    }
    if (shown.type != NodeType::kTemplate) return text;
    std::vector<std::string> clusters;
    for (const Edge* edge : graph_.From(node)) {
      if (edge->type == EdgeType::kPlaced) clusters.push_back(PlaceOf(*edge));
    }
    if (!clusters.empty()) return absl::StrCat(text, "  -> ", absl::StrJoin(clusters, ", "));
    const bool nowhere = there && shown.standing.clusters_known;
    return nowhere ? absl::StrCat(text, "  ", colours_.Yellow("in no cluster")) : text;
  }

  // "member1 (2 replicas, not applied)"
  std::string PlaceOf(const Edge& edge) const {
    const Node& cluster = graph_.nodes[edge.to];
    std::vector<std::string> remarks;
    if (!edge.label.empty()) remarks.push_back(edge.label);
    const std::string about = RemarkOf(cluster);
    if (!about.empty()) remarks.push_back(absl::StrCat("cluster ", about));
    return tool::OneLine(remarks.empty()
                             ? cluster.name
                             : absl::StrCat(cluster.name, " (", absl::StrJoin(remarks, ", "), ")"));
  }

  void AddChildren(size_t node, tool::TreeNode& drawn) {
    for (const Edge* edge : graph_.From(node)) {
      if (edge->type != EdgeType::kPlaced) drawn.children.push_back(Child(*edge));
    }
  }

  tool::TreeNode Child(const Edge& edge) {
    const std::string verb = edge.type == EdgeType::kNeeds ? "needs " : "";
    tool::TreeNode drawn{absl::StrCat(verb, tool::OneLine(graph_.nodes[edge.to].name)), {}};
    if (std::find(path_.begin(), path_.end(), edge.to) != path_.end()) {
      absl::StrAppend(&drawn.line, "  ", colours_.Yellow("cycle"));
      return drawn;
    }
    const bool above = !shown_.insert(edge.to).second;
    const bool stays = edge.type == EdgeType::kNeeds && !edge.follows &&
                       graph_.nodes[edge.to].standing.presence == Presence::kThere;
    absl::StrAppend(&drawn.line, Remark(edge.to), stays ? ", does not follow" : "",
                    above && !graph_.From(edge.to).empty() ? ", see above" : "");
    if (above) return drawn;
    path_.push_back(edge.to);
    AddChildren(edge.to, drawn);
    path_.pop_back();
    return drawn;
  }

  const Graph& graph_;
  const tool::Colours& colours_;
  std::string text_;
  std::set<size_t> shown_;
  std::vector<size_t> path_;  // From the root to the node that is being written.
};

}  // namespace

std::string TreeOf(const Graph& graph, const tool::Colours& colours) {
  return Tree(graph, colours).Write();
}

}  // namespace lens::graph
