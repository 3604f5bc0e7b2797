// `karmada-lens why`: what became of a template, and what stops it.
#ifndef CMD_LENS_WHY_H_
#define CMD_LENS_WHY_H_

#include "tool/command.h"

namespace cmd::lens {

void AddWhy(tool::CommandLine& line);

}  // namespace cmd::lens

#endif  // CMD_LENS_WHY_H_
