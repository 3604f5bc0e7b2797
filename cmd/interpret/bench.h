// karmada-interpret bench: measures how fast the rules for given objects are, and how much garbage
// they make.
#ifndef CMD_INTERPRET_BENCH_H_
#define CMD_INTERPRET_BENCH_H_

#include "cmd/interpret/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddBench(CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_BENCH_H_
