// The layout of layered graphs by Sugiyama, in four steps. Columns follow from the lengths of
// paths. An edge over several columns gets an item of its own, a lane, in each column that it
// crosses; edges of one type from one node share their lanes. Within a column items are sorted a
// few times by the mean height of their neighbours, which removes most crossings in graphs of this
// shape. At last each column is moved as near to its neighbours as the order and the distances
// allow: the least squares of all deviations, by pooling items that would pass one another.

#include "lens/graph/layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace lens::graph {
namespace {

constexpr int kDeepest = 4;  // The last column of needed objects.
constexpr int kSweeps = 6;
constexpr double kGap = 14;  // Between neighbours in a column.

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

// A node or a lane.
struct Item {
  int column = 0;
  double half = 0;  // Half of its height.
  double y = 0;     // Its middle.
  std::vector<size_t> neighbours;
};

class Layers {
 public:
  explicit Layers(const Graph& graph) : graph_(graph) {
    std::vector<int> columns = ColumnsOf(graph);
    Compact(columns);
    for (const int column : columns) items_.push_back({column, kBoxHeight / 2.0});
    for (const Edge& edge : graph.edges) AddEdge(edge);
    for (size_t i = 0; i < items_.size(); ++i) by_column_[items_[i].column].push_back(i);
    for (const auto& [column, order] : by_column_) Pack(order);
  }

  Layout Place() {
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (auto& [column, order] : by_column_) {
        Sort(order);
        Pack(order);
      }
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (const auto& [column, order] : by_column_) Align(order);
    }
    return Result();
  }

 private:
  void Connect(size_t a, size_t b) {
    items_[a].neighbours.push_back(b);
    items_[b].neighbours.push_back(a);
  }

  void AddEdge(const Edge& edge) {
    const int from = items_[edge.from].column, to = items_[edge.to].column;
    std::vector<size_t>& shared = lanes_of_[{edge.from, edge.type}];
    size_t last = edge.from;
    std::vector<size_t> lanes;
    for (int column = from + 1; column < to; ++column) {
      // Edges of one type from one node run side by side in the same lanes until they part.
      const auto at = static_cast<size_t>(column - from - 1);
      if (at == shared.size()) {
        shared.push_back(items_.size());
        items_.push_back({column});
        Connect(last, shared[at]);
      }
      last = shared[at];
      lanes.push_back(last);
    }
    Connect(last, edge.to);
    lanes_.push_back(std::move(lanes));
  }

  double Distance(size_t above, size_t below) const {
    return items_[above].half + kGap + items_[below].half;
  }

  // Puts the items below one another.
  void Pack(const std::vector<size_t>& order) {
    double y = items_[order[0]].half;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0) y += Distance(order[i - 1], order[i]);
      items_[order[i]].y = y;
    }
  }

  double MeanOfNeighbours(size_t item) const {
    const std::vector<size_t>& neighbours = items_[item].neighbours;
    if (neighbours.empty()) return items_[item].y;
    double sum = 0;
    for (const size_t other : neighbours) sum += items_[other].y;
    return sum / static_cast<double>(neighbours.size());
  }

  void Sort(std::vector<size_t>& order) const {
    std::vector<std::pair<double, size_t>> by_mean;
    for (const size_t item : order) by_mean.emplace_back(MeanOfNeighbours(item), item);
    std::stable_sort(by_mean.begin(), by_mean.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < order.size(); ++i) order[i] = by_mean[i].second;
  }

  // Moves the items towards their neighbours.
  void Align(const std::vector<size_t>& order) {
    struct Block {
      double sum;  // The sum of the wanted heights, each without the distances above it.
      size_t count;
      double Mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<double> offsets;
    std::vector<Block> blocks;
    double offset = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0) offset += Distance(order[i - 1], order[i]);
      offsets.push_back(offset);
      Block block{MeanOfNeighbours(order[i]) - offset, 1};
      // Items that would overlap move as one block, at the mean of what they want: with their order
      // fixed, no other places have a smaller sum of squared distances.
      while (!blocks.empty() && blocks.back().Mean() > block.Mean()) {
        block.sum += blocks.back().sum;
        block.count += blocks.back().count;
        blocks.pop_back();
      }
      blocks.push_back(block);
    }
    size_t next = 0;
    for (const Block& block : blocks) {
      for (size_t i = 0; i < block.count; ++i, ++next) {
        items_[order[next]].y = block.Mean() + offsets[next];
      }
    }
  }

  Layout Result() const {
    Layout layout;
    double top = 0, bottom = 0;
    for (const Item& item : items_) {
      top = std::min(top, item.y - item.half);
      bottom = std::max(bottom, item.y + item.half);
    }
    const auto height = [&](size_t item) {
      return static_cast<int>(std::lround(items_[item].y - top));
    };
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      layout.cells.push_back({items_[i].column, 0, height(i)});
    }
    for (const auto& [column, order] : by_column_) {
      int row = 0;
      for (const size_t item : order) {
        if (item < layout.cells.size()) layout.cells[item].row = row++;
      }
    }
    for (const std::vector<size_t>& lanes : lanes_) {
      std::vector<int>& heights = layout.lanes.emplace_back();
      for (const size_t lane : lanes) heights.push_back(height(lane));
    }
    layout.height = static_cast<int>(std::lround(bottom - top));
    return layout;
  }

  const Graph& graph_;
  std::vector<Item> items_;                 // The nodes, then the lanes.
  std::vector<std::vector<size_t>> lanes_;  // By edge.
  std::map<std::pair<size_t, EdgeType>, std::vector<size_t>> lanes_of_;
  std::map<int, std::vector<size_t>> by_column_;
};

}  // namespace

Layout LayOut(const Graph& graph) { return Layers(graph).Place(); }

}  // namespace lens::graph
