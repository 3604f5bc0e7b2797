// karmada-interpret impact: what changed customizations would change for what lives on a control
// plane.
#ifndef CMD_INTERPRET_IMPACT_H_
#define CMD_INTERPRET_IMPACT_H_

#include "tool/command.h"

namespace cmd::interpret {

// Declares the sub-command. Its exit codes are its own: 0 nothing changes, 2 something changes, 1
// it could not be determined.
void AddImpact(tool::CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_IMPACT_H_
