#include "lens/graph/graph.h"

#include <catch2/catch.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "lens/graph/render.h"
#include "lens/graph/svg.h"

namespace lens::graph {
namespace {

using Catch::Contains;

size_t Add(Graph& graph, NodeType type, const std::string& name) {
  graph.nodes.push_back({type, name});
  return graph.nodes.size() - 1;
}

// A policy, two templates that need one another and a shared object, two clusters.
struct Fixture {
  Graph graph;
  size_t policy = Add(graph, NodeType::kPolicy, "PropagationPolicy shop/p");
  size_t web = Add(graph, NodeType::kTemplate, "Deployment shop/web");
  size_t db = Add(graph, NodeType::kTemplate, "Deployment shop/db");
  size_t shared = Add(graph, NodeType::kTemplate, "ConfigMap shop/shared");
  size_t alone = Add(graph, NodeType::kTemplate, "Service shop/alone");
  size_t m1 = Add(graph, NodeType::kCluster, "m1");

  Fixture() {
    graph.edges = {{policy, web, EdgeType::kClaims}, {web, db, EdgeType::kNeeds, "", false},
                   {web, shared, EdgeType::kNeeds},  {db, web, EdgeType::kNeeds},
                   {db, shared, EdgeType::kNeeds},   {web, m1, EdgeType::kPlaced, "2 replicas"}};
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Graph: a tree shows each object once, and marks cycles") {
  CHECK(TreeOf(graph, tool::Colours(false)) ==
        "PropagationPolicy shop/p\n"
        "└─ Deployment shop/web  -> m1 (2 replicas)\n"
        "   ├─ needs Deployment shop/db  in no cluster, does not follow\n"
        "   │  ├─ needs Deployment shop/web  cycle\n"
        "   │  └─ needs ConfigMap shop/shared  in no cluster\n"
        "   └─ needs ConfigMap shop/shared  in no cluster\n"
        "Service shop/alone  in no cluster\n");
}

TEST_CASE_METHOD(Fixture, "Graph: the part around an object has what leads to it and from it") {
  const auto names = [](const Graph& part) {
    std::set<std::string> all;
    for (const Node& node : part.nodes) all.insert(node.name);
    return all;
  };
  const Graph of_policy =
      PartAround(graph, [](const Node& node) { return node.type == NodeType::kPolicy; });
  CHECK(names(of_policy).size() == 5);
  CHECK_FALSE(names(of_policy).contains("Service shop/alone"));
  const Graph of_alone =
      PartAround(graph, [](const Node& node) { return node.name == "Service shop/alone"; });
  CHECK(of_alone.nodes.size() == 1);
  CHECK(of_alone.edges.empty());
}

TEST_CASE_METHOD(Fixture, "Graph: policies are drawn left of templates, clusters right of all") {
  const std::vector<Cell> cells = LayOut(graph);
  CHECK(cells[policy].column == 0);
  CHECK(cells[web].column > cells[policy].column);
  CHECK(cells[shared].column > cells[alone].column);
  for (size_t i = 0; i + 1 < cells.size(); ++i) CHECK(cells[i].column < cells[m1].column);
  std::set<std::pair<int, int>> taken;
  for (const Cell& cell : cells) CHECK(taken.emplace(cell.column, cell.row).second);
}

TEST_CASE("Graph: names are quoted in every form") {
  Graph graph;
  const std::string name = "Widget a\"b<c>&d\\e";
  Add(graph, NodeType::kTemplate, name);
  CHECK_THAT(DotOf(graph), Contains(R"(label="Widget a\"b<c>&d\\e")"));
  CHECK_THAT(SvgOf(graph), Contains("Widget a&quot;b&lt;c&gt;&amp;d\\e"));
  CHECK(JsonOf(graph)["nodes"].At(0)["name"].AsString() == name);
}

TEST_CASE("Graph: a thousand objects in a ring are drawn") {
  Graph graph;
  for (int i = 0; i < 1000; ++i) Add(graph, NodeType::kTemplate, absl::StrCat("Ring shop/", i));
  for (size_t i = 0; i < 1000; ++i) {
    graph.edges.push_back({i, (i + 1) % 1000, EdgeType::kNeeds});
  }
  CHECK_THAT(SvgOf(graph), Contains("Ring shop/999"));
  CHECK_THAT(TreeOf(graph, tool::Colours(false)), Contains("Ring shop/0  cycle"));
}

}  // namespace lens::graph
