// Flags of earlier releases of upstream. Its v1.18.2 refuses them as unknown; here they are refused
// with the reason, for whoever brings the arguments of an older deployment along.
#ifndef CONFIG_INTERNAL_REMOVED_FLAGS_H_
#define CONFIG_INTERNAL_REMOVED_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace config::internal {

// kInvalidArgument names the first removed flag among the arguments, the release that removed it
// and what takes its place. Underscores in names have been made dashes.
absl::Status CheckForRemovedFlags(const std::vector<std::string>& arguments);

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_REMOVED_FLAGS_H_
