// Edges are curves that leave a box on the right and enter one on the left; where they cross a
// column they run straight in a lane between its boxes, so that no box hides them. An edge within a
// column bends around its right side. Labels stand on the last curve, nearer to its beginning,
// where neither edges from one node nor edges to one node have come together.

#include "lens/graph/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/utf8.h"
#include "lens/graph/layout.h"
#include "tool/console.h"
#include "tool/xml.h"

namespace lens::graph {
namespace {

constexpr int kBoxWidth = 250;
constexpr int kColumnGap = 150;
constexpr int kMargin = 20, kHeading = 30, kFootLine = 16;
constexpr size_t kLongestName = 36, kLongestLabel = 27;  // Characters.
constexpr int kCharacterWidth = 6;
constexpr double kLabelAt = 0.36;  // The parameter of the curve, from 0 to 1.

int LeftOf(int column) { return kMargin + column * (kBoxWidth + kColumnGap); }
int RightOf(int column) { return LeftOf(column) + kBoxWidth; }
int BelowHeading(int y) { return kMargin + kHeading + y; }

// Returns the text with at most so many characters.
std::string Shortened(absl::string_view text, size_t longest) {
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++count) {
    if (count == longest) return absl::StrCat(text.substr(0, end), "…");
    end += std::max<size_t>(base::Utf8Length(text.substr(end)), 1);
  }
  return std::string(text);
}

// An element's text, and the whole of it as its tooltip.
std::string Text(absl::string_view text) { return tool::XmlText(tool::OneLine(text)); }
std::string Text(absl::string_view text, size_t longest) {
  return tool::XmlText(Shortened(tool::OneLine(text), longest));
}

std::string ClassOf(const Node& node) {
  switch (node.standing.presence) {
    case Presence::kMissing:
      return "missing";
    case Presence::kUnknown:
      return "unknown";
    case Presence::kThere:
      break;
  }
  return std::string(NameOf(node.type));
}

std::string Box(const Node& node, const Cell& cell) {
  const int x = LeftOf(cell.column), y = BelowHeading(cell.y) - kBoxHeight / 2;
  const std::string remark = RemarkOf(node);
  std::string box = absl::StrCat(
      "<g class=\"", ClassOf(node), "\"><title>", Text(node.name), remark.empty() ? "" : ", ",
      Text(remark), "</title><rect x=\"", x, "\" y=\"", y, "\" width=\"", kBoxWidth, "\" height=\"",
      kBoxHeight, "\" rx=\"6\"/><text x=\"", x + 10, "\" y=\"", y + (remark.empty() ? 20 : 14),
      "\">", Text(node.name, kLongestName), "</text>");
  if (!remark.empty()) {
    absl::StrAppend(&box, "<text class=\"remark\" x=\"", x + 10, "\" y=\"", y + 26, "\">",
                    Text(remark, kLongestName), "</text>");
  }
  return box + "</g>\n";
}

struct Point {
  int x = 0, y = 0;
};

// A curve with horizontal ends; `bend` is how far its control points are from them.
struct Curve {
  Point from, to;
  int bend = 0, bend_to = 0;  // To the right of `from`, to the left of `to`.

  std::string Commands() const {
    return absl::StrCat(" C", from.x + bend, " ", from.y, " ", to.x - bend_to, " ", to.y, " ", to.x,
                        " ", to.y);
  }
  Point At(double t) const {
    const double s = 1 - t;
    const auto mix = [&](double a, double b, double c, double d) {
      return static_cast<int>(
          std::lround(s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d));
    };
    return {mix(from.x, from.x + bend, to.x - bend_to, to.x), mix(from.y, from.y, to.y, to.y)};
  }
};

Curve Between(Point from, Point to) {
  const int bend = (to.x - from.x) / 2;
  return {from, to, bend, bend};
}

// Returns the way of the edge up to its last curve, which `last` receives.
std::string WayOf(const Cell& from, const Cell& to, const std::vector<int>& lanes, Curve& last) {
  Point at{RightOf(from.column), BelowHeading(from.y)};
  Point end{to.column > from.column ? LeftOf(to.column) : RightOf(to.column), BelowHeading(to.y)};
  if (&from == &to) {  // It needs itself.
    at.y -= kBoxHeight / 4;
    end.y += kBoxHeight / 4;
  }
  std::string way = absl::StrCat("M", at.x, " ", at.y);
  int column = from.column;
  for (const int lane : lanes) {
    const Point begin{LeftOf(++column), BelowHeading(lane)};
    absl::StrAppend(&way, Between(at, begin).Commands(), " H", RightOf(column));
    at = {RightOf(column), begin.y};
  }
  last = Between(at, end);
  // Needs within a column, or back from a cycle: the curve leaves and returns on the right side.
  if (to.column <= from.column) {
    const int bend = std::min(kColumnGap - 20, 30 + std::abs(end.y - at.y) / 20);
    last = {at, end, bend, -bend};
  }
  return way + last.Commands();
}

std::string Line(const Edge& edge, const Layout& layout, const std::vector<int>& lanes) {
  Curve last;
  const std::string way = WayOf(layout.cells[edge.from], layout.cells[edge.to], lanes, last);
  std::string line = absl::StrCat("<path class=\"", NameOf(edge.type), edge.follows ? "" : " stays",
                                  "\" d=\"", way, "\" marker-end=\"url(#end)\"/>\n");
  if (edge.label.empty()) return line;
  const Point label = last.At(kLabelAt);
  return absl::StrCat(line, "<text class=\"label\" x=\"", label.x, "\" y=\"", label.y + 3, "\">",
                      "<title>", Text(edge.label), "</title>", Text(edge.label, kLongestLabel),
                      "</text>\n");
}

constexpr char kStyle[] = R"(<style>
text { font: 12px sans-serif; fill: #222; }
.heading { font-weight: bold; fill: #666; }
.label { font-size: 10px; fill: #555; text-anchor: middle; }
.label { paint-order: stroke; stroke: #fff; stroke-width: 3px; }
.remark { font-size: 10px; fill: #a33; }
.unread { font-size: 11px; fill: #a33; }
rect { stroke: #888; fill: #fff; }
.policy rect { fill: #e8e0f7; stroke: #7a5bb5; }
.template rect { fill: #e3eefb; stroke: #3f78b8; }
.cluster rect { fill: #e2f4e4; stroke: #3f9750; }
.missing rect { fill: #fdeaea; stroke: #c0392b; stroke-dasharray: 4 3; }
.unknown rect { fill: #f2f2f2; stroke: #888; stroke-dasharray: 4 3; }
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

std::string Headings(const Graph& graph, const Layout& layout) {
  std::map<int, std::string> headings;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    headings[layout.cells[i].column] = HeadingOf(graph.nodes[i]);
  }
  std::string text;
  for (const auto& [column, heading] : headings) {
    absl::StrAppend(&text, "<text class=\"heading\" x=\"", LeftOf(column), "\" y=\"", kMargin + 14,
                    "\">", heading, "</text>\n");
  }
  return text;
}

// Returns what could not be read, a line each, below the graph.
std::string Foot(const Graph& graph, int y, int width) {
  std::string text;
  for (const std::string& unread : graph.unread) {
    y += kFootLine;
    absl::StrAppend(&text, "<text class=\"unread\" x=\"", kMargin, "\" y=\"", y, "\"><title>",
                    Text(unread), "</title>not read: ",
                    Text(unread, static_cast<size_t>(width / kCharacterWidth - 15)), "</text>\n");
  }
  return text;
}

}  // namespace

std::string SvgOf(const Graph& graph) {
  const Layout layout = LayOut(graph);
  int columns = 1;
  std::string boxes, lines;
  for (size_t i = 0; i < layout.cells.size(); ++i) {
    columns = std::max(columns, layout.cells[i].column + 1);
    boxes += Box(graph.nodes[i], layout.cells[i]);
  }
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    lines += Line(graph.edges[i], layout, layout.lanes[i]);
  }
  // An edge within the last column needs room on its right.
  const int width = RightOf(columns - 1) + kMargin + kColumnGap / 2;
  const int foot = BelowHeading(layout.height) + kMargin;
  const int height = foot + kFootLine * static_cast<int>(graph.unread.size());
  return absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"",
                      height, "\" viewBox=\"0 0 ", width, " ", height, "\">\n", kStyle,
                      "<rect width=\"100%\" height=\"100%\" style=\"fill:#fff;stroke:none\"/>\n",
                      Headings(graph, layout), lines, boxes, Foot(graph, foot - kMargin, width),
                      "</svg>\n");
}

}  // namespace lens::graph
