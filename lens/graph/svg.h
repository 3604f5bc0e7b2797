// A graph as a picture, drawn without another program.
#ifndef LENS_GRAPH_SVG_H_
#define LENS_GRAPH_SVG_H_

#include <string>

#include "lens/graph/graph.h"

namespace lens::graph {

// Returns a whole SVG document. Names and labels are also tooltips, because long ones are cut.
std::string SvgOf(const Graph& graph);

}  // namespace lens::graph

#endif  // LENS_GRAPH_SVG_H_
