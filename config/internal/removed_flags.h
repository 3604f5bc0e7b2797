// Flags of earlier releases of upstream. Upstream's v1.18.2 refuses them as unknown; here the
// refusal gives the reason, for users who bring the arguments of an older deployment.
#ifndef CONFIG_INTERNAL_REMOVED_FLAGS_H_
#define CONFIG_INTERNAL_REMOVED_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace config::internal {

// kInvalidArgument names the first removed flag among the arguments, the release that removed it
// and what replaces it. REQUIRES: underscores in names have been replaced by dashes.
absl::Status CheckForRemovedFlags(const std::vector<std::string>& arguments);

}  // namespace config::internal

#endif  // CONFIG_INTERNAL_REMOVED_FLAGS_H_
