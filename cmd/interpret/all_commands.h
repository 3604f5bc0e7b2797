// The program karmada-interpret as a command line.
#ifndef CMD_INTERPRET_ALL_COMMANDS_H_
#define CMD_INTERPRET_ALL_COMMANDS_H_

#include "tool/command.h"

namespace cmd::interpret {

// Returns the name of the program and what its --help says.
tool::Program ThisProgram();
// Adds all sub-commands of this program.
void AddAllCommands(tool::CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_ALL_COMMANDS_H_
