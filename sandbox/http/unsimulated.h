// Refuses requests that need something which is not simulated: containers, a token issuer, a
// certificate authority.
#ifndef SANDBOX_HTTP_UNSIMULATED_H_
#define SANDBOX_HTTP_UNSIMULATED_H_

#include <string>

#include "absl/status/status.h"
#include "kube/meta/names.h"

namespace sandbox {

// Returns the error for such a request (501, a sentence that names the object and the reason), and
// OK for every other sub-resource.
absl::Status RefuseUnsimulated(const kube::Gvr& gvr, const std::string& subresource,
                               const std::string& name);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_UNSIMULATED_H_
