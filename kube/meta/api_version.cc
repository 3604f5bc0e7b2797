#include "kube/meta/api_version.h"

namespace kube {

std::optional<GroupVersionView> SplitApiVersion(absl::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == absl::string_view::npos) return GroupVersionView{"", api_version};
  const absl::string_view version = api_version.substr(slash + 1);
  if (version.find('/') != absl::string_view::npos) return std::nullopt;
  return GroupVersionView{api_version.substr(0, slash), version};
}

}  // namespace kube
