// karmada-lens preflight: says what a control plane has in use, and what of it is different here.
#ifndef CMD_LENS_PREFLIGHT_H_
#define CMD_LENS_PREFLIGHT_H_

#include "tool/command.h"

namespace cmd::lens {

void AddPreflight(tool::CommandLine& line);

}  // namespace cmd::lens

#endif  // CMD_LENS_PREFLIGHT_H_
