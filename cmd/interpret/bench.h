// karmada-interpret bench: measures how fast the rules for given objects are, and how much garbage
// they make.
#ifndef CMD_INTERPRET_BENCH_H_
#define CMD_INTERPRET_BENCH_H_

#include "tool/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddBench(tool::CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_BENCH_H_
