// Tells apart what a pass of discovery did not find and what it could not read.
#ifndef KUBE_DISCOVERY_FAILED_GROUPS_H_
#define KUBE_DISCOVERY_FAILED_GROUPS_H_

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kube {

// Returns whether a pass of discovery could not read the group version ("v1", "apps/v1"), or the
// root above it; `failed_groups` are those of the Discovery. Kinds that the pass did not find there
// may be served all the same.
inline bool IsUnread(absl::Span<const std::string> failed_groups, absl::string_view group_version) {
  const bool is_root = absl::StartsWith(group_version, "/");
  const absl::string_view root = is_root                                 ? group_version
                                 : absl::StrContains(group_version, '/') ? "/apis"
                                                                         : "/api";
  return std::any_of(failed_groups.begin(), failed_groups.end(), [&](const std::string& failed) {
    return failed == group_version || failed == root;
  });
}

}  // namespace kube

#endif  // KUBE_DISCOVERY_FAILED_GROUPS_H_
