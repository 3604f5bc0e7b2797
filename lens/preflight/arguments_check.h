// What this program makes of the arguments that upstream's controller manager runs with.
#ifndef LENS_PREFLIGHT_ARGUMENTS_CHECK_H_
#define LENS_PREFLIGHT_ARGUMENTS_CHECK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "config/options.h"
#include "lens/preflight/arguments.h"
#include "lens/preflight/report.h"

namespace lens::preflight {

struct CheckedArguments {
  std::vector<Row> rows;  // The image, each flag and gate, and each refused controller.
  // The daemon's options with the arguments that it does not refuse.
  config::Options options;
};

// Hands the arguments to the daemon's own parser. Everything that it refuses is a row kLost with
// its message: each flag, gate and controller on its own, because the parser ends at the first one.
// What the daemon would warn of at its start is a row kDiffers. kInvalidArgument when the arguments
// ask for something else than to run, such as --help. `release` is the one as which this program
// would behave; an --emulated-karmada-version among the arguments counts for more. What an image of
// another release does by default and this program would not is a row kDiffers, too.
absl::StatusOr<CheckedArguments> CheckArguments(const Arguments& arguments,
                                                config::Release release = config::Release::kV1_18);

// Returns a row for each controller of --controllers: whether the options run it, and what the
// program's table says of it.
std::vector<Row> ControllerRows(const config::Options& options);

}  // namespace lens::preflight

#endif  // LENS_PREFLIGHT_ARGUMENTS_CHECK_H_
