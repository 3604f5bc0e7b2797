#include "kube/meta/names.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/api_version.h"

namespace kube {
namespace {

std::string JoinGroupVersion(absl::string_view group, absl::string_view version) {
  return group.empty() ? std::string(version) : absl::StrCat(group, "/", version);
}

}  // namespace

std::string Gvk::ApiVersion() const { return JoinGroupVersion(group, version); }

std::string Gvk::ToString() const { return absl::StrCat(group, "/", version, ", Kind=", kind); }

absl::StatusOr<Gvk> ParseGvk(absl::string_view api_version, absl::string_view kind) {
  const auto split = SplitApiVersion(api_version);
  if (split) return Gvk{std::string(split->group), std::string(split->version), std::string(kind)};
  return absl::InvalidArgumentError(absl::StrCat("unexpected GroupVersion string: ", api_version));
}

std::string Gvr::ApiVersion() const { return JoinGroupVersion(group, version); }

std::string Gvr::ToString() const { return absl::StrCat(ApiVersion(), "/", resource); }

std::string ObjectKey::ToString() const { return ns.empty() ? name : absl::StrCat(ns, "/", name); }

}  // namespace kube
