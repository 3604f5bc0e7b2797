// The checks of Options that the command lines of several programs share.
#ifndef CONFIG_INTERNAL_OPTION_CHECKS_H_
#define CONFIG_INTERNAL_OPTION_CHECKS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "config/options.h"
#include "config/support.h"

namespace CLI {
class App;
}

namespace config::internal {

// Refuses values that upstream refuses, too. Fields without a flag have their defaults, which are
// right.
absl::Status ValidateOptions(const Options& options);

// Warns of controllers that are named although their gates are off. `known` are all of the program.
void WarnOfControllersBehindGates(absl::Span<const ControllerSupport> known, Options& options);

// Adds warnings about settings without effect, and about values that upstream accepts although they
// stop it from working; the latter are replaced. Call it last.
void WarnAndAdjust(Options& options);

// Returns the flags of a parsed `app` that have an effect, for Options::settings.
std::map<std::string, std::string> SettingsOf(const CLI::App& app);

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_OPTION_CHECKS_H_
