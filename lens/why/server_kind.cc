#include "lens/why/server_kind.h"

#include <algorithm>

#include "api/control_plane.h"
#include "api/resources.h"
#include "kube/discovery/failed_groups.h"

namespace lens::why {

absl::Status CheckIsControlPlane(const kube::Discovery& discovery, absl::string_view name) {
  const auto& served = discovery.resources;
  const bool is_known =
      std::any_of(served.begin(), served.end(), [](const kube::ApiResource& found) {
        return api::IsControlPlaneGroup(found.resource.gvk.group);
      });
  const bool may_be = is_known ||
                      kube::IsUnread(discovery.failed_groups, api::Works().gvk.ApiVersion()) ||
                      kube::IsUnread(discovery.failed_groups, api::Clusters().gvk.ApiVersion());
  return may_be ? absl::OkStatus() : api::NoControlPlane(name);
}

}  // namespace lens::why
