#include "kube/runtime/request.h"

#include "absl/strings/str_cat.h"

namespace kube {
std::string Request::ToString() const {
  return absl::StrCat(cluster, cluster.empty() ? "" : "/", gvk.kind, gvk.kind.empty() ? "" : " ",
                      key.ToString());
}

std::string Request::Describe() const {
  return reason == Reason() ? ToString() : absl::StrCat(ToString(), " (", reason.name(), ")");
}

}  // namespace kube
