// How many requirements the selectors of a request may have.
#ifndef KUBE_SERVER_REQUIREMENTS_H_
#define KUBE_SERVER_REQUIREMENTS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "base/http_server.h"
#include "kube/server/request_info.h"

namespace kube::server {

// Returns how many requirements the selectors of a request have, of labels and fields together, by
// their text: that of selectors that can be read, or a few more. A set of values is one. Keeps
// nothing.
size_t CountRequirements(const base::HttpRequest& request);

// 400 for a list, watch or deletecollection with more than a thousand. Each takes many times as
// much memory as its text once it is read, and is compared with each object: a thousand take 0.2 s
// for 20,000 of them. Other requests have no selectors, whatever their query says.
absl::Status CheckRequirements(const RequestInfo& info, const base::HttpRequest& request);

}  // namespace kube::server

#endif  // KUBE_SERVER_REQUIREMENTS_H_
