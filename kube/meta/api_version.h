// The apiVersion of an object, taken apart.
#ifndef KUBE_META_API_VERSION_H_
#define KUBE_META_API_VERSION_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace kube {

// Views of the text they were split from.
struct GroupVersionView {
  absl::string_view group;  // "" is the core group.
  absl::string_view version;
};

// "apps/v1" or "v1"; nullopt when there is more than one '/'.
std::optional<GroupVersionView> SplitApiVersion(absl::string_view api_version);

}  // namespace kube

#endif  // KUBE_META_API_VERSION_H_
