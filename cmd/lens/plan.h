// `karmada-lens plan`: what clusters would get of manifests on disk.
#ifndef CMD_LENS_PLAN_H_
#define CMD_LENS_PLAN_H_

#include "tool/command.h"

namespace cmd::lens {

void AddPlan(tool::CommandLine& line);

}  // namespace cmd::lens

#endif  // CMD_LENS_PLAN_H_
