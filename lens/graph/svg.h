// A graph as a picture, drawn without another program.
#ifndef LENS_GRAPH_SVG_H_
#define LENS_GRAPH_SVG_H_

#include <string>
#include <vector>

#include "lens/graph/graph.h"

namespace lens::graph {

// Where a node is drawn: its column, from the left, and its place in the column, from the top.
struct Cell {
  int column = 0;
  int row = 0;
};

// Places the nodes: policies in the first column, claimed templates in the second, what they need
// in the next ones (four at most; what lies deeper stays in the last), clusters in the last column.
// Within a column the nodes are near those that they are connected with. Empty columns are left
// out.
std::vector<Cell> LayOut(const Graph& graph);

// Returns a whole SVG document. Nodes have their names as tooltips too, because long ones are cut.
std::string SvgOf(const Graph& graph);

}  // namespace lens::graph

#endif  // LENS_GRAPH_SVG_H_
