#include "cmd/search/registration.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "cmd/search/cache_scope_view.h"
#include "kube/server/api_errors.h"

namespace cmd {
namespace {

constexpr absl::Duration kTryAgain = absl::Seconds(1);

absl::Status Unknown(const kube::server::RequestInfo& info, absl::string_view waits_for) {
  const kube::server::GroupName resource{info.gvr.group, info.gvr.resource};
  return kube::server::ServiceUnavailable(
      absl::StrCat("it is not known yet whether ", resource.ToString(),
                   " are served from the cache of the member clusters: this server waits for ",
                   waits_for),
      kTryAgain);
}

}  // namespace

search::IsRegisteredFn RegistrationOf(const search::CacheScope& scope) {
  return [&scope](const kube::server::RequestInfo& info,
                  const std::string& cluster) -> absl::StatusOr<bool> {
    if (!scope.HasSynced()) {
      return Unknown(info,
                     "the first list of ResourceRegistries and Clusters, and for the control plane "
                     "to resolve the kinds that they name");
    }
    const search::ScopePtr current = scope.Current();
    if (IsRegistered(*current, info, cluster)) return true;
    for (const kube::Gvk& gvk : current->undetermined) {
      if (gvk.group != info.gvr.group || gvk.version != info.gvr.version) continue;
      return Unknown(info, absl::StrCat("the control plane to resolve the kind ", gvk.ToString(),
                                        ", which a ResourceRegistry names"));
    }
    return false;
  };
}

}  // namespace cmd
