// The flags of upstream's karmada-search that have no effect in this program. Those that change
// nothing anybody could notice are answered by a warning; those on which somebody may rely are
// refused.
#ifndef CMD_SEARCH_OTHER_FLAGS_H_
#define CMD_SEARCH_OTHER_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace CLI {
class App;
}

namespace cmd {

void AddOtherFlags(CLI::App& app);
// kInvalidArgument: the reason why a flag that was given is refused. REQUIRES: `app` was parsed.
absl::Status CheckOtherFlags(const CLI::App& app);
// Returns a sentence for each flag that was given and has no effect.
std::vector<std::string> OtherFlagWarnings(const CLI::App& app);

}  // namespace cmd

#endif  // CMD_SEARCH_OTHER_FLAGS_H_
