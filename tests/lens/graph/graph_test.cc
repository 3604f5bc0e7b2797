#include "lens/graph/graph.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"
#include "lens/graph/layout.h"
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
  const std::vector<Cell> cells = LayOut(graph).cells;
  CHECK(cells[policy].column == 0);
  CHECK(cells[web].column > cells[policy].column);
  CHECK(cells[shared].column > cells[alone].column);
  for (size_t i = 0; i + 1 < cells.size(); ++i) CHECK(cells[i].column < cells[m1].column);
  std::set<std::pair<int, int>> taken;
  for (const Cell& cell : cells) CHECK(taken.emplace(cell.column, cell.row).second);
}

TEST_CASE("Graph: no edge passes behind a box, and no box covers another") {
  Graph graph;
  for (int i = 0; i < 12; ++i) {
    Add(graph, i < 2 ? NodeType::kPolicy : NodeType::kTemplate, absl::StrCat("Kind shop/", i));
  }
  for (int i = 0; i < 3; ++i) Add(graph, NodeType::kCluster, absl::StrCat("m", i));
  for (size_t i = 2; i < 12; ++i) {
    graph.edges.push_back({i % 2, i, EdgeType::kClaims});
    if (i + 3 < 12) graph.edges.push_back({i, i + 3, EdgeType::kNeeds});
    for (size_t m = 12; m < 15; ++m) graph.edges.push_back({i, m, EdgeType::kPlaced, "2 replicas"});
  }
  const Layout layout = LayOut(graph);
  const auto is_free = [&](int column, int y) {
    return std::none_of(layout.cells.begin(), layout.cells.end(), [&](const Cell& cell) {
      return cell.column == column && std::abs(cell.y - y) <= kBoxHeight / 2;
    });
  };
  size_t crossings = 0;
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const int from = layout.cells[graph.edges[i].from].column;
    const int to = layout.cells[graph.edges[i].to].column;
    REQUIRE(layout.lanes[i].size() == static_cast<size_t>(to - from - 1));
    for (size_t lane = 0; lane < layout.lanes[i].size(); ++lane, ++crossings) {
      CHECK(is_free(from + 1 + static_cast<int>(lane), layout.lanes[i][lane]));
    }
  }
  CHECK(crossings > 0);
  for (const Cell& a : layout.cells) {
    CHECK(a.y + kBoxHeight / 2 <= layout.height);
    for (const Cell& b : layout.cells) {
      if (&a != &b && a.column == b.column) CHECK(std::abs(a.y - b.y) > kBoxHeight);
    }
  }
}

TEST_CASE("Graph: names are quoted in every form") {
  Graph graph;
  const std::string name = "Widget a\"b<c>&d\\e";
  Add(graph, NodeType::kTemplate, name);
  CHECK_THAT(DotOf(graph), Contains(R"(label="Widget a\"b<c>&d\\e")"));
  CHECK_THAT(SvgOf(graph), Contains("Widget a&quot;b&lt;c&gt;&amp;d\\e"));
  CHECK(JsonOf(graph)["nodes"].At(0)["name"].AsString() == name);
}

TEST_CASE("Graph: text of others breaks neither the picture nor the terminal") {
  Graph graph;
  Add(graph, NodeType::kTemplate, "Widget a\n\x1b[2J\x9b\xff");
  Add(graph, NodeType::kCluster, "m<1>\n");
  graph.nodes[1].standing.remark = "not\nready";
  graph.edges.push_back({0, 1, EdgeType::kPlaced, "x\"\n<&"});
  graph.unread = {"secrets: no\n\x1b[2J <b>"};
  const std::string svg = SvgOf(graph);
  CHECK_THAT(svg,
             Contains("<text x=\"30\"") && Contains("Widget a\\n\\x1b[2J\\x9b\xef\xbf\xbd</text>"));
  CHECK_THAT(svg, Contains("x&quot;\\n&lt;&amp;</text>") && Contains("m&lt;1&gt;\\n</text>"));
  CHECK_THAT(svg, Contains("not read: secrets: no\\n\\x1b[2J &lt;b&gt;"));
  CHECK_THAT(DotOf(graph), Contains(R"(label="Widget a\\n\\x1b[2J\\x9b)") &&
                               Contains(R"(label="m<1>\\n\nnot\\nready")") &&
                               Contains(R"(label="x\"\\n<&")"));
  CHECK_THAT(
      TreeOf(graph, tool::Colours(false)),
      Contains("Widget a\\n\\x1b[2J\\x9b\xff  -> m<1>\\n (x\"\\n<&, cluster not\\nready)\n"));
}

TEST_CASE("Graph: long names are cut between characters") {
  Graph graph;
  std::string name = "Widget ";
  for (int i = 0; i < 40; ++i) name += "ö";
  Add(graph, NodeType::kTemplate, name);
  const std::string svg = SvgOf(graph);
  CHECK_THAT(svg, Contains(absl::StrCat("<title>", name, "</title>")) && Contains("öö…</text>"));
  CHECK(svg.find("\xef\xbf\xbd") == std::string::npos);
}

TEST_CASE("Graph: what could not be read is not shown as missing") {
  Graph graph;
  Add(graph, NodeType::kTemplate, "Deployment shop/web");
  Add(graph, NodeType::kTemplate, "Secret shop/s");
  Add(graph, NodeType::kTemplate, "ConfigMap shop/c");
  graph.nodes[1].standing.presence = Presence::kUnknown;
  graph.nodes[2].standing.presence = Presence::kMissing;
  graph.edges = {{0, 1, EdgeType::kNeeds}, {0, 2, EdgeType::kNeeds}};
  graph.unread = {"secrets in shop: forbidden"};
  CHECK(TreeOf(graph, tool::Colours(false)) ==
        "Deployment shop/web  in no cluster\n"
        "├─ needs Secret shop/s  could not be read\n"
        "└─ needs ConfigMap shop/c  does not exist\n");
  const json::Value json = JsonOf(graph);
  CHECK(json["nodes"].At(0)["exists"].AsBool());
  CHECK(json["nodes"].At(1)["exists"].is_null());
  CHECK_FALSE(json["nodes"].At(2)["exists"].AsBool(true));
  CHECK(json["unread"].At(0).AsString() == "secrets in shop: forbidden");
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
