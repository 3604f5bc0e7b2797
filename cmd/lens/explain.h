// `karmada-lens explain`: what a reason of an event or condition means, and what to do.
#ifndef CMD_LENS_EXPLAIN_H_
#define CMD_LENS_EXPLAIN_H_

#include "tool/command.h"

namespace cmd::lens {

void AddExplain(tool::CommandLine& line);

}  // namespace cmd::lens

#endif  // CMD_LENS_EXPLAIN_H_
