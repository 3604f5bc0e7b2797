// Where the nodes of a graph are drawn, and where its edges pass between them.
#ifndef LENS_GRAPH_LAYOUT_H_
#define LENS_GRAPH_LAYOUT_H_

#include <vector>

#include "lens/graph/graph.h"

namespace lens::graph {

inline constexpr int kBoxHeight = 32;  // Lengths are pixels.

// Where a node is drawn: its column, from the left, its place in the column, from the top, and the
// height of its middle below the top of the picture.
struct Cell {
  int column = 0;
  int row = 0;
  int y = 0;
};

struct Layout {
  std::vector<Cell> cells;  // By node.
  // By edge: the heights at which it crosses the columns between those of its ends, from left to
  // right. No box is there.
  std::vector<std::vector<int>> lanes;
  int height = 0;  // Below all boxes and lanes.
};

// Places the nodes: policies in the first column, claimed templates in the second, what they need
// in the next ones (four at most; what lies deeper stays in the last), clusters in the last column.
// Within a column the nodes are near those that they are connected with. Empty columns are left
// out.
Layout LayOut(const Graph& graph);

}  // namespace lens::graph

#endif  // LENS_GRAPH_LAYOUT_H_
