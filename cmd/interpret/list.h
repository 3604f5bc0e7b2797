// karmada-interpret list: lists the rules that exist.
#ifndef CMD_INTERPRET_LIST_H_
#define CMD_INTERPRET_LIST_H_

#include "tool/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddList(tool::CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LIST_H_
