// Parses URLs of servers and proxies.
#ifndef KUBE_HTTP_INTERNAL_ENDPOINT_H_
#define KUBE_HTTP_INTERNAL_ENDPOINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kube {

struct Endpoint {
  std::string scheme;     // In lower case: "https".
  std::string user_info;  // "user:password", still percent-encoded; "" when there is none.
  std::string host;       // In lower case, an IPv6 address without its brackets.
  int port = 0;           // The port in the URL, else the scheme's.
  std::string path;       // "/prefix", without a trailing slash; "" when there is none.

  // Returns "host:port", with brackets around an IPv6 address.
  std::string Authority() const;
  bool is_ip_address() const;
};

// The scheme may be http, https, socks5 or socks5h. The error is kInvalidArgument, begins with
// `what` ("server") and does not quote the URL, which may contain a password.
absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view url, absl::string_view what);

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_ENDPOINT_H_
