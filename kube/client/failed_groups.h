// What a pass of discovery could not read, and so says nothing about.
#ifndef KUBE_CLIENT_FAILED_GROUPS_H_
#define KUBE_CLIENT_FAILED_GROUPS_H_

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kube {

// Returns whether `failed_groups`, those of a Discovery, have the group version ("v1", "apps/v1"),
// or the root above it. What a pass did not find there may be served all the same.
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

#endif  // KUBE_CLIENT_FAILED_GROUPS_H_
