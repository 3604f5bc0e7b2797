// karmada-interpret test: runs files of cases.
#ifndef CMD_INTERPRET_TEST_H_
#define CMD_INTERPRET_TEST_H_

#include "cmd/interpret/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddTest(CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_TEST_H_
