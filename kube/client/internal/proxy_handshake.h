// What is said to a proxy until it passes bytes on.
#ifndef KUBE_CLIENT_INTERNAL_PROXY_HANDSHAKE_H_
#define KUBE_CLIENT_INTERNAL_PROXY_HANDSHAKE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/internal/endpoint.h"
#include "kube/client/internal/proxy.h"

namespace kube {

class ProxyHandshake {
 public:
  virtual ~ProxyHandshake() = default;
  // What we say first.
  virtual std::string Begin() = 0;
  // Takes what the proxy has said and adds our reply to `reply`. True: the tunnel is there.
  // kUnavailable: the proxy refuses, or speaks another protocol.
  virtual absl::StatusOr<bool> Take(absl::string_view bytes, std::string& reply) = 0;
};

// Null when nothing is to be said: no proxy, or an HTTP proxy for a server without TLS, which is
// given whole requests instead of a tunnel.
std::unique_ptr<ProxyHandshake> NewProxyHandshake(const ProxySettings& proxy,
                                                  const Endpoint& server);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_PROXY_HANDSHAKE_H_
