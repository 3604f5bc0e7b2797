// Requests that need what no simulation has: containers, a token issuer, a certificate authority.
#ifndef SANDBOX_HTTP_UNSIMULATED_H_
#define SANDBOX_HTTP_UNSIMULATED_H_

#include <string>

#include "absl/status/status.h"
#include "kube/meta/names.h"

namespace sandbox {

// Returns the error that answers such a request (501, a sentence about the object and why), and OK
// for every other sub-resource.
absl::Status RefuseUnsimulated(const kube::Gvr& gvr, const std::string& subresource,
                               const std::string& name);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_UNSIMULATED_H_
