// The program karmada-lens as a command line.
#ifndef CMD_LENS_ALL_COMMANDS_H_
#define CMD_LENS_ALL_COMMANDS_H_

#include "tool/command.h"

namespace cmd::lens {

// Returns the name of the program, what its --help says, and its exit codes.
tool::Program ThisProgram();
// Adds all sub-commands of this program.
void AddAllCommands(tool::CommandLine& line);

}  // namespace cmd::lens

#endif  // CMD_LENS_ALL_COMMANDS_H_
