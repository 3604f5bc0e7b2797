// A graph as a tree of text, in the language of Graphviz, and as JSON.
#ifndef LENS_GRAPH_RENDER_H_
#define LENS_GRAPH_RENDER_H_

#include <string>

#include "base/json.h"
#include "lens/graph/graph.h"
#include "tool/console.h"

namespace lens::graph {

// Returns a tree that begins with the policies, then with templates that nobody claims or needs. An
// object that was shown above is named again without what is below it; one that needs itself, if
// only through others, is marked as a cycle.
std::string TreeOf(const Graph& graph, const tool::Colours& colours);

// Returns a digraph for dot: from left to right policies, templates, clusters.
std::string DotOf(const Graph& graph);

// Returns {"nodes":[...],"edges":[...],"unread":[...]}; docs/lens.md has the fields.
json::Value JsonOf(const Graph& graph);

}  // namespace lens::graph

#endif  // LENS_GRAPH_RENDER_H_
