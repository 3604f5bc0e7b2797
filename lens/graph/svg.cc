// The layout has three steps: columns from the lengths of paths, rows sorted a few times by the
// mean row of the neighbours in both directions (which removes most crossings in graphs of this
// shape), and coordinates from both. Edges are curves that leave a box on the right and enter one
// on the left; an edge back, or within a column, bends around the right side.
#include "lens/graph/svg.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace lens::graph {
namespace {

constexpr int kDeepest = 4;  // The last column of needed objects.
constexpr int kSweeps = 6;
constexpr int kBoxWidth = 250, kBoxHeight = 30;
constexpr int kColumnGap = 110, kRowGap = 14;
constexpr int kMargin = 20, kHeading = 30;
constexpr size_t kLongestName = 34;

std::vector<int> ColumnsOf(const Graph& graph) {
  std::vector<int> columns(graph.nodes.size(), 1);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (graph.nodes[i].type == NodeType::kPolicy) columns[i] = 0;
    if (graph.nodes[i].type == NodeType::kCluster) columns[i] = kDeepest + 1;
  }
  // Each pass takes needed objects one column further. A cycle ends at the last column.
  for (int pass = 0; pass < kDeepest; ++pass) {
    for (const Edge& edge : graph.edges) {
      if (edge.type != EdgeType::kNeeds) continue;
      columns[edge.to] = std::max(columns[edge.to], std::min(columns[edge.from] + 1, kDeepest));
    }
  }
  return columns;
}

// Leaves out columns in which no node is.
void Compact(std::vector<int>& columns) {
  std::map<int, int> index;
  for (const int column : columns) index[column] = 0;
  int next = 0;
  for (auto& [column, compact] : index) compact = next++;
  for (int& column : columns) column = index[column];
}

class Rows {
 public:
  Rows(const Graph& graph, const std::vector<int>& columns) : graph_(graph) {
    for (size_t i = 0; i < columns.size(); ++i) by_column_[columns[i]].push_back(i);
    rows_.resize(columns.size());
    for (const auto& [column, nodes] : by_column_) Number(nodes);
  }

  std::vector<double> Sorted() {
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (auto& [column, nodes] : by_column_) {
        std::map<size_t, double> mean;
        for (const size_t node : nodes) mean[node] = MeanOfNeighbours(node);
        std::stable_sort(nodes.begin(), nodes.end(),
                         [&](size_t a, size_t b) { return mean[a] < mean[b]; });
        Number(nodes);
      }
    }
    return rows_;
  }

 private:
  void Number(const std::vector<size_t>& nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) rows_[nodes[i]] = static_cast<double>(i);
  }

  double MeanOfNeighbours(size_t node) const {
    double sum = 0;
    int count = 0;
    for (const Edge& edge : graph_.edges) {
      if (edge.from != node && edge.to != node) continue;
      sum += rows_[edge.from == node ? edge.to : edge.from];
      ++count;
    }
    return count == 0 ? rows_[node] : sum / count;
  }

  const Graph& graph_;
  std::map<int, std::vector<size_t>> by_column_;
  std::vector<double> rows_;
};

int LeftOf(const Cell& cell) { return kMargin + cell.column * (kBoxWidth + kColumnGap); }
int TopOf(const Cell& cell) { return kMargin + kHeading + cell.row * (kBoxHeight + kRowGap); }

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string Shortened(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  return absl::StrCat(name.substr(0, kLongestName - 1), "…");
}

std::string ClassOf(const Node& node) {
  return node.exists ? std::string(NameOf(node.type)) : "missing";
}

std::string Box(const Node& node, const Cell& cell) {
  const int x = LeftOf(cell), y = TopOf(cell);
  return absl::StrCat("<g class=\"", ClassOf(node), "\"><title>", Escaped(node.name),
                      node.exists ? "" : " does not exist", "</title><rect x=\"", x, "\" y=\"", y,
                      "\" width=\"", kBoxWidth, "\" height=\"", kBoxHeight,
                      "\" rx=\"6\"/><text x=\"", x + 10, "\" y=\"", y + 20, "\">",
                      Escaped(Shortened(node.name)), "</text></g>\n");
}

std::string Curve(const Edge& edge, const std::vector<Cell>& cells) {
  const Cell &from = cells[edge.from], &to = cells[edge.to];
  const bool forward = to.column > from.column;
  const int x1 = LeftOf(from) + kBoxWidth, y1 = TopOf(from) + kBoxHeight / 2;
  const int x2 = LeftOf(to) + (forward ? 0 : kBoxWidth), y2 = TopOf(to) + kBoxHeight / 2;
  const int bend = forward ? (x2 - x1) / 2 : kColumnGap / 2;
  const int cx2 = forward ? x2 - bend : x2 + bend;
  std::string out = absl::StrCat("<path class=\"", NameOf(edge.type), edge.follows ? "" : " stays",
                                 "\" d=\"M", x1, " ", y1, " C", x1 + bend, " ", y1, " ", cx2, " ",
                                 y2, " ", x2, " ", y2, "\" marker-end=\"url(#end)\"/>\n");
  if (!edge.label.empty()) {
    absl::StrAppend(&out, "<text class=\"label\" x=\"", x2 - 8, "\" y=\"", y2 - 5, "\">",
                    Escaped(edge.label), "</text>\n");
  }
  return out;
}

constexpr char kStyle[] = R"(<style>
text { font: 12px sans-serif; fill: #222; }
.heading { font-weight: bold; fill: #666; }
.label { font-size: 10px; fill: #666; text-anchor: end; }
rect { stroke: #888; fill: #fff; }
.policy rect { fill: #e8e0f7; stroke: #7a5bb5; }
.template rect { fill: #e3eefb; stroke: #3f78b8; }
.cluster rect { fill: #e2f4e4; stroke: #3f9750; }
.missing rect { fill: #fdeaea; stroke: #c0392b; stroke-dasharray: 4 3; }
path { fill: none; stroke: #888; }
path.needs { stroke: #3f78b8; }
path.stays { stroke-dasharray: 4 3; }
</style>
<defs>
<marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0 L8 4 L0 8 z" style="fill:#888;stroke:none"/>
</marker>
</defs>
)";

std::string HeadingOf(const Node& node) {
  return node.type == NodeType::kPolicy    ? "Policies"
         : node.type == NodeType::kCluster ? "Clusters"
                                           : "Templates";
}

}  // namespace

std::vector<Cell> LayOut(const Graph& graph) {
  std::vector<int> columns = ColumnsOf(graph);
  Compact(columns);
  const std::vector<double> rows = Rows(graph, columns).Sorted();
  std::vector<Cell> cells;
  for (size_t i = 0; i < columns.size(); ++i) {
    cells.push_back({columns[i], static_cast<int>(rows[i])});
  }
  return cells;
}

std::string SvgOf(const Graph& graph) {
  const std::vector<Cell> cells = LayOut(graph);
  int width = 2 * kMargin, height = 2 * kMargin + kHeading;
  std::string boxes, curves;
  std::map<int, std::string> headings;
  for (size_t i = 0; i < cells.size(); ++i) {
    // A curve that goes back needs room on the right.
    width = std::max(width, LeftOf(cells[i]) + kBoxWidth + kMargin + kColumnGap / 2);
    height = std::max(height, TopOf(cells[i]) + kBoxHeight + kMargin);
    headings[cells[i].column] = HeadingOf(graph.nodes[i]);
    boxes += Box(graph.nodes[i], cells[i]);
  }
  for (const Edge& edge : graph.edges) curves += Curve(edge, cells);
  std::string text =
      absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"",
                   height, "\" viewBox=\"0 0 ", width, " ", height, "\">\n", kStyle,
                   "<rect width=\"100%\" height=\"100%\" style=\"fill:#fff;stroke:none\"/>\n");
  for (const auto& [column, heading] : headings) {
    absl::StrAppend(&text, "<text class=\"heading\" x=\"", LeftOf({column, 0}), "\" y=\"",
                    kMargin + 14, "\">", heading, "</text>\n");
  }
  return absl::StrCat(text, curves, boxes, "</svg>\n");
}

}  // namespace lens::graph
