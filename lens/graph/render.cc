#include "lens/graph/render.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace lens::graph {
namespace {

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

absl::string_view ShapeOf(NodeType type) {
  switch (type) {
    case NodeType::kPolicy:
      return "note";
    case NodeType::kTemplate:
      return "box";
    case NodeType::kCluster:
      break;
  }
  return "ellipse";
}

std::string DotNode(const Node& node, size_t index) {
  return absl::StrCat("  n", index, " [label=", Quoted(node.name), ", shape=", ShapeOf(node.type),
                      node.exists ? "" : ", color=red, fontcolor=red, style=dashed", "];\n");
}

std::string DotEdge(const Edge& edge) {
  std::string attributes = absl::StrCat("label=", Quoted(edge.label));
  if (edge.type == EdgeType::kNeeds) attributes = "label=\"needs\"";
  if (!edge.follows) absl::StrAppend(&attributes, ", style=dashed");
  return absl::StrCat("  n", edge.from, " -> n", edge.to, " [", attributes, "];\n");
}

}  // namespace

std::string DotOf(const Graph& graph) {
  std::string text = "digraph propagation {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) text += DotNode(graph.nodes[i], i);
  for (const Edge& edge : graph.edges) text += DotEdge(edge);
  return text + "}\n";
}

json::Value JsonOf(const Graph& graph) {
  json::Value nodes = json::Value::Array(), edges = json::Value::Array();
  for (const Node& node : graph.nodes) {
    nodes.Append(json::Value::Object(
        {{"type", NameOf(node.type)}, {"name", node.name}, {"exists", node.exists}}));
  }
  for (const Edge& edge : graph.edges) {
    edges.Append(json::Value::Object({{"from", static_cast<int64_t>(edge.from)},
                                      {"to", static_cast<int64_t>(edge.to)},
                                      {"type", NameOf(edge.type)},
                                      {"label", edge.label},
                                      {"follows", edge.follows}}));
  }
  return json::Value::Object({{"nodes", std::move(nodes)}, {"edges", std::move(edges)}});
}

}  // namespace lens::graph
