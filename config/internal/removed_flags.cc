#include "config/internal/removed_flags.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace config::internal {
namespace {

struct RemovedFlag {
  absl::string_view name;
  absl::string_view release;
  absl::string_view advice;
};

constexpr RemovedFlag kRemoved[] = {
    {"--bind-address", "v1.12", "use --health-probe-bind-address=ADDRESS:PORT"},
    {"--cluster-lease-duration", "v1.18", "nothing reads it any more, so leave it out"},
    {"--cluster-lease-renew-interval-fraction", "v1.18",
     "nothing reads it any more, so leave it out"},
    {"--failover-eviction-timeout", "v1.15",
     "administrators and ClusterTaintPolicies set NoExecute taints now, so leave it out"},
    {"--secure-port", "v1.12", "use --health-probe-bind-address=ADDRESS:PORT"},
};

}  // namespace

absl::Status CheckForRemovedFlags(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    for (const RemovedFlag& flag : kRemoved) {
      if (name != flag.name) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": Karmada ", flag.release, " removed this flag; ", flag.advice));
    }
  }
  return absl::OkStatus();
}

}  // namespace config::internal
