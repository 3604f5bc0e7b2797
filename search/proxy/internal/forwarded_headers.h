// The headers of a request as a member or the control plane gets it: on behalf of the caller, and
// with nothing by which the caller could pass for somebody else.
#ifndef SEARCH_PROXY_INTERNAL_FORWARDED_HEADERS_H_
#define SEARCH_PROXY_INTERNAL_FORWARDED_HEADERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/http_server.h"
#include "kube/aggregation/user_info.h"

namespace search {

using Headers = std::vector<std::pair<std::string, std::string>>;

// How much of the caller's identity is passed on.
enum class Identity {
  kWhole,
  // Without uid and extra. For members that do not permit impersonating these: the ClusterRole that
  // upstream's unified-auth-controller puts there names users, groups and service accounts only.
  kNameAndGroups,
};

// 400 for a user whom no header can name: white space around a value would be cut off on the way,
// and an empty value left out, so that the server would take the user for somebody else.
absl::Status CheckForwardable(const kube::aggregation::UserInfo& user);

// Returns headers Impersonate-*. The groups system:authenticated and system:unauthenticated are
// left out: the server adds the right one itself, and members need not permit impersonating it.
Headers ImpersonationHeaders(const kube::aggregation::UserInfo& user, Identity identity);

// Removes the headers that say who the caller is, or that only this program understands:
// Authorization, Cookie, X-Remote-*, Impersonate-*, and those that a proxy writes itself. (Those
// that concern one connection only are the business of whoever sends the request.)
void RemoveIdentity(base::HttpRequest& request);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_FORWARDED_HEADERS_H_
