// karmada-interpret check: finds mistakes in customizations without calling their functions
// (scripts are loaded, which runs their top level).
#ifndef CMD_INTERPRET_CHECK_H_
#define CMD_INTERPRET_CHECK_H_

#include "tool/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddCheck(tool::CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_CHECK_H_
