// Tells a Karmada control plane from other API servers.
#ifndef LENS_WHY_SERVER_KIND_H_
#define LENS_WHY_SERVER_KIND_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/discovery/rest_mapper.h"

namespace lens::why {

// kFailedPrecondition when what the server `name` serves shows that it is not a control plane: what
// it does not have would be taken for missing. A group that could not be read may be served.
absl::Status CheckIsControlPlane(const kube::Discovery& discovery, absl::string_view name);

}  // namespace lens::why

#endif  // LENS_WHY_SERVER_KIND_H_
