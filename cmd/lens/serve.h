// `karmada-lens serve`: what the other sub-commands say, as a page in the browser and as JSON.
#ifndef CMD_LENS_SERVE_H_
#define CMD_LENS_SERVE_H_

#include "tool/command.h"

namespace cmd::lens {

void AddServe(tool::CommandLine& line);

}  // namespace cmd::lens

#endif  // CMD_LENS_SERVE_H_
