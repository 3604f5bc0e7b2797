#include "lens/graph/render.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tool/console.h"

namespace lens::graph {
namespace {

// Returns a string of Graphviz' language. Of its escapes only line ends are wanted, between lines.
std::string Quoted(const std::vector<std::string>& lines) {
  std::vector<std::string> escaped;
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    escaped.push_back(absl::StrReplaceAll(tool::OneLine(line), {{"\\", "\\\\"}, {"\"", "\\\""}}));
  }
  return absl::StrCat("\"", absl::StrJoin(escaped, "\\n"), "\"");
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

absl::string_view StyleOf(Presence presence) {
  switch (presence) {
    case Presence::kMissing:
      return ", color=red, fontcolor=red, style=dashed";
    case Presence::kUnknown:
      return ", color=grey, style=dashed";
    case Presence::kThere:
      break;
  }
  return "";
}

std::string DotNode(const Node& node, size_t index) {
  return absl::StrCat("  n", index, " [label=", Quoted({node.name, RemarkOf(node)}),
                      ", shape=", ShapeOf(node.type), StyleOf(node.standing.presence), "];\n");
}

std::string DotEdge(const Edge& edge) {
  std::string attributes = absl::StrCat("label=", Quoted({edge.label}));
  if (edge.type == EdgeType::kNeeds) attributes = "label=\"needs\"";
  if (!edge.follows) absl::StrAppend(&attributes, ", style=dashed");
  return absl::StrCat("  n", edge.from, " -> n", edge.to, " [", attributes, "];\n");
}

// Null stands for what nobody knows.
json::Value ExistsJson(Presence presence) {
  return presence == Presence::kUnknown ? json::Value() : presence == Presence::kThere;
}

}  // namespace

std::string DotOf(const Graph& graph) {
  std::string text = "digraph propagation {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n";
  if (!graph.unread.empty()) {
    std::vector<std::string> lines;
    for (const std::string& unread : graph.unread) {
      lines.push_back(absl::StrCat("not read: ", unread));
    }
    absl::StrAppend(&text, "  labelloc=b; fontcolor=red; label=", Quoted(lines), ";\n");
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) text += DotNode(graph.nodes[i], i);
  for (const Edge& edge : graph.edges) text += DotEdge(edge);
  return text + "}\n";
}

json::Value JsonOf(const Graph& graph) {
  json::Value nodes = json::Value::Array(), edges = json::Value::Array();
  for (const Node& node : graph.nodes) {
    const bool there = node.standing.presence == Presence::kThere;
    const std::string remark = there ? RemarkOf(node) : "";
    nodes.Append(json::Value::Object({{"type", NameOf(node.type)},
                                      {"name", node.name},
                                      {"exists", ExistsJson(node.standing.presence)},
                                      {"remark", remark}}));
  }
  for (const Edge& edge : graph.edges) {
    edges.Append(json::Value::Object({{"from", static_cast<int64_t>(edge.from)},
                                      {"to", static_cast<int64_t>(edge.to)},
                                      {"type", NameOf(edge.type)},
                                      {"label", edge.label},
                                      {"follows", edge.follows}}));
  }
  return json::Value::Object({{"nodes", std::move(nodes)},
                              {"edges", std::move(edges)},
                              {"unread", json::Value::Strings(graph.unread)}});
}

}  // namespace lens::graph
