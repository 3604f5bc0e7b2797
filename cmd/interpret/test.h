// karmada-interpret test: runs files of cases.
#ifndef CMD_INTERPRET_TEST_H_
#define CMD_INTERPRET_TEST_H_

#include "tool/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddTest(tool::CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_TEST_H_
