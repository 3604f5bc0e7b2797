// Where a URL of a server or a proxy leads.
#ifndef KUBE_CLIENT_INTERNAL_ENDPOINT_H_
#define KUBE_CLIENT_INTERNAL_ENDPOINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kube {

struct Endpoint {
  std::string scheme;     // In lower case: "https".
  std::string user_info;  // "user:password", still percent-encoded; "" when there is none.
  std::string host;       // In lower case, an IPv6 address without its brackets.
  int port = 0;           // The one in the URL, else the scheme's.
  std::string path;       // "/prefix", without a slash at its end; "" when there is none.

  // "host:port", with brackets around an IPv6 address.
  std::string Authority() const;
  bool is_ip_address() const;
};

// Schemes are http, https, socks5 and socks5h. kInvalidArgument begins with `what` ("server") and
// does not quote the URL, which may hold a password.
absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view url, absl::string_view what);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_ENDPOINT_H_
