// Refuses requests that need something which is not simulated: containers, a token issuer, a
// certificate authority.
#ifndef SANDBOX_HTTP_UNSIMULATED_H_
#define SANDBOX_HTTP_UNSIMULATED_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace sandbox {

// Returns the error for such a request (501, a sentence that names the object and the reason), and
// OK for every other sub-resource.
absl::Status RefuseUnsimulated(const kube::Gvr& gvr, const std::string& subresource,
                               const std::string& name);

// Returns the one line that stands for the log of a container; an empty `container` is the first
// one. 400 when the pod has no such container.
absl::StatusOr<std::string> SimulatedLog(const kube::Object& pod, absl::string_view container);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_UNSIMULATED_H_
