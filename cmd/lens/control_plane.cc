#include "cmd/lens/control_plane.h"

#include <algorithm>

#include "api/control_plane.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/discovery/failed_groups.h"

namespace cmd::lens {
namespace {

// A group that discovery could not read may be served all the same.
bool MayBeControlPlane(const kube::Discovery& discovery) {
  const auto& served = discovery.resources;
  const bool is_known =
      std::any_of(served.begin(), served.end(), [](const kube::ApiResource& found) {
        return api::IsControlPlaneGroup(found.resource.gvk.group);
      });
  return is_known || kube::IsUnread(discovery.failed_groups, api::Works().gvk.ApiVersion()) ||
         kube::IsUnread(discovery.failed_groups, api::Clusters().gvk.ApiVersion());
}

}  // namespace

absl::StatusOr<std::unique_ptr<tool::LiveConnection>> ConnectToControlPlane(
    const tool::LiveOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<tool::LiveConnection> live, tool::Connect(options));
  if (!MayBeControlPlane(live->discovery)) return api::NoControlPlane(live->client.name());
  return live;
}

}  // namespace cmd::lens
