// `karmada-lens graph`: how templates, policies, clusters and dependencies hang together.
#ifndef CMD_LENS_GRAPH_H_
#define CMD_LENS_GRAPH_H_

#include "tool/command.h"

namespace cmd::lens {

void AddGraph(tool::CommandLine& line);

}  // namespace cmd::lens

#endif  // CMD_LENS_GRAPH_H_
