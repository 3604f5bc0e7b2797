// The header fields of a request that carry an identity: reading them, and taking them away.
//
// They are read from HttpRequest::fields, which keeps repeated fields apart: in the joined form a
// group whose name contains ", " could not be told from two groups.
#ifndef KUBE_AGGREGATION_REQUEST_FIELDS_H_
#define KUBE_AGGREGATION_REQUEST_FIELDS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"
#include "kube/aggregation/user_info.h"

namespace kube::aggregation {

// Returns the values of all fields of this name (in lower case), in their order.
std::vector<absl::string_view> ValuesOf(const base::HttpRequest& request, absl::string_view name);

// Returns the values of all fields whose names begin with `prefix` (in lower case), by what follows
// the prefix, percent-decoded. A key with a malformed escape stays as it is, which is what
// upstream's unescapeExtraKey does.
std::map<std::string, std::vector<std::string>> ExtraOf(const base::HttpRequest& request,
                                                        absl::string_view prefix);

// Returns the ID by which the audit log names the request: the client's if it is short and
// printable, else a new one.
std::string AuditIdOf(const base::HttpRequest& request);

// Returns how long the URL and the header fields are together, without what separates them.
size_t BytesOfHead(const base::HttpRequest& request);

// Removes the fields for whose names (in lower case) `which` returns true.
void RemoveFields(base::HttpRequest& request,
                  const std::function<bool(absl::string_view name)>& which);

// Which fields a front proxy puts the user in. Names are in lower case.
struct RequestHeaderNames {
  std::vector<std::string> user;   // The first one that is not empty counts.
  std::vector<std::string> uid;    // As `user`.
  std::vector<std::string> group;  // All values of all of them.
  std::vector<std::string> extra_prefix;

  // Returns "x-remote-user", "x-remote-group" and "x-remote-extra-", upstream's defaults of flags.
  static RequestHeaderNames Standard();
};

// Returns the user that the fields name; nullopt when they name none. They may be believed only if
// the request came from a front proxy.
std::optional<UserInfo> UserOfFields(const base::HttpRequest& request,
                                     const RequestHeaderNames& names);

// Returns the bearer token of the Authorization field, or of the WebSocket subprotocol
// "base64url.bearer.authorization.k8s.io.<token>", with which browsers authenticate; "" when there
// is none. kUnauthenticated when there are several, or it cannot be decoded, or no subprotocol
// would be left. The error does not contain the token.
absl::StatusOr<std::string> BearerTokenOf(const base::HttpRequest& request);

// Removes what must not reach a handler, or the server that it forwards the request to: the
// Authorization field, every X-Remote-* field, those of `names`, and the subprotocol with a token.
void RemoveCredentials(base::HttpRequest& request, const RequestHeaderNames& names);

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_REQUEST_FIELDS_H_
