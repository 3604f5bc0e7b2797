// Flags that several sub-commands share, beside those of tool/flags.h.
#ifndef CMD_LENS_FLAGS_H_
#define CMD_LENS_FLAGS_H_

#include "tool/flags.h"

namespace cmd::lens {

enum class Output { kText, kJson };

// Adds -o/--output text|json.
void AddOutputFlag(CLI::App& app, Output& output);

}  // namespace cmd::lens

#endif  // CMD_LENS_FLAGS_H_
