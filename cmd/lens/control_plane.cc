#include "cmd/lens/control_plane.h"

#include "base/status.h"
#include "lens/why/server_kind.h"

namespace cmd::lens {

absl::StatusOr<std::unique_ptr<tool::LiveConnection>> ConnectToControlPlane(
    const tool::LiveOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<tool::LiveConnection> live, tool::Connect(options));
  RETURN_IF_ERROR(::lens::why::CheckIsControlPlane(live->discovery, live->client.name()));
  return live;
}

}  // namespace cmd::lens
