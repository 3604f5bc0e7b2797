// Determines which proxy to use for a server.
#ifndef KUBE_HTTP_INTERNAL_PROXY_H_
#define KUBE_HTTP_INTERNAL_PROXY_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

struct ProxySettings {
  // kHttps: the connection to the proxy uses TLS, checked against the system's roots. kSocks5: the
  // proxy resolves the server's name, as in Go's client, whether the URL says socks5 or socks5h.
  enum class Kind { kNone, kHttp, kHttps, kSocks5 };
  Kind kind = Kind::kNone;
  std::string host;  // Without brackets.
  int port = 0;
  std::string username, password;
  // Sent to an HTTP proxy that is asked for a tunnel. The URL's credentials take precedence over a
  // Proxy-Authorization header here.
  std::vector<std::pair<std::string, std::string>> headers;

  // Returns "http://host:port", for messages.
  std::string Name() const;
  // Returns "Basic ..." with the credentials; "" without any.
  std::string Authorization() const;
};

// Returns the configuration's proxy, else the one that $HTTPS_PROXY, $HTTP_PROXY and $NO_PROXY (or
// their lower-case forms) select, as golang.org/x/net/http/httpproxy reads them: never for this
// machine itself. kInvalidArgument for a URL without a proxy of a known kind and for headers that
// HTTP does not allow.
absl::StatusOr<ProxySettings> ProxySettingsOf(
    const ConnectionConfig& config, const std::function<std::string(const char*)>& variable);
// As above, with this process's environment.
absl::StatusOr<ProxySettings> ProxySettingsOf(const ConnectionConfig& config);

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_PROXY_H_
