// Which HTTP proxy stands between us and an API server.
#ifndef KUBE_CLIENT_INTERNAL_PROXY_H_
#define KUBE_CLIENT_INTERNAL_PROXY_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/kubeconfig.h"

namespace kube {

struct ProxySettings {
  std::string url;  // "http://host:port"; "" for none.
  std::string username, password;
};

// The configuration's proxy, else the one that $HTTPS_PROXY, $HTTP_PROXY and $NO_PROXY (or their
// lower-case forms) give, as Go's http.ProxyFromEnvironment reads them: never for this machine
// itself. kInvalidArgument for anything but an http:// proxy and for proxy headers other than
// "Proxy-Authorization: Basic".
absl::StatusOr<ProxySettings> ProxySettingsOf(
    const ConnectionConfig& config, const std::function<std::string(const char*)>& variable);

// "host" of "https://host:port/path", without brackets.
std::string HostOf(absl::string_view url);
bool IsIpAddress(const std::string& host);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_PROXY_H_
