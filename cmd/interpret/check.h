// karmada-interpret check: mistakes in customizations, found without asking them anything (what a
// script does when it is loaded is done).
#ifndef CMD_INTERPRET_CHECK_H_
#define CMD_INTERPRET_CHECK_H_

#include "cmd/interpret/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddCheck(CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_CHECK_H_
