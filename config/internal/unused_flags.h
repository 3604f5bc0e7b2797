// The flags of upstream that are accepted but have no effect in this program (yet), so that an
// existing deployment's arguments keep working. Their values are checked as upstream checks them.
#ifndef CONFIG_INTERNAL_UNUSED_FLAGS_H_
#define CONFIG_INTERNAL_UNUSED_FLAGS_H_

#include <vector>

#include "config/support.h"
#include "config/warning.h"

namespace CLI {
class App;
}

namespace config::internal {

void AddUnusedFlags(CLI::App& app);
// Adds those about the log alone, which every program of upstream has.
void AddUnusedLogFlags(CLI::App& app);

// Returns, for a parsed `app`, a warning for each flag that was given and has no effect. A flag
// whose value asks for this program's behaviour (--add-dir-header=false) gets none.
std::vector<Warning> UnusedFlagWarnings(const CLI::App& app);

std::vector<Support> UnusedFlagSupport();
std::vector<Support> UnusedLogFlagSupport();

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_UNUSED_FLAGS_H_
