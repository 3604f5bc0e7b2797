// The messages that are exchanged with a proxy before it forwards bytes.
#ifndef KUBE_HTTP_INTERNAL_PROXY_HANDSHAKE_H_
#define KUBE_HTTP_INTERNAL_PROXY_HANDSHAKE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/http/internal/endpoint.h"
#include "kube/http/internal/proxy.h"

namespace kube {

class ProxyHandshake {
 public:
  virtual ~ProxyHandshake() = default;
  // Returns the first message.
  virtual std::string Begin() = 0;
  // Takes bytes from the proxy and appends the next message to `reply`. Returns whether the tunnel
  // is established. kUnavailable when the proxy refuses, or speaks another protocol.
  virtual absl::StatusOr<bool> Take(absl::string_view bytes, std::string& reply) = 0;
};

// Returns null when no handshake is needed: without a proxy, or with an HTTP proxy for a server
// without TLS, which gets whole requests instead of a tunnel.
std::unique_ptr<ProxyHandshake> NewProxyHandshake(const ProxySettings& proxy,
                                                  const Endpoint& server);

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_PROXY_HANDSHAKE_H_
