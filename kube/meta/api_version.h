// Splits the apiVersion of an object.
#ifndef KUBE_META_API_VERSION_H_
#define KUBE_META_API_VERSION_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace kube {

// The parts are views of the text that was split.
struct GroupVersionView {
  absl::string_view group;  // "" is the core group.
  absl::string_view version;
};

// Splits "apps/v1" or "v1"; nullopt when there is more than one '/'.
std::optional<GroupVersionView> SplitApiVersion(absl::string_view api_version);

}  // namespace kube

#endif  // KUBE_META_API_VERSION_H_
