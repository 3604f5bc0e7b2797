// Host names to addresses, without blocking anybody for longer than he wants to wait.
#ifndef KUBE_CLIENT_INTERNAL_RESOLVER_H_
#define KUBE_CLIENT_INTERNAL_RESOLVER_H_

#include <sys/socket.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kube {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  std::string ToString() const;  // "10.0.0.1:443"
};
using Addresses = std::vector<SocketAddress>;

// The address that `host` is, if it is one; no name server is asked.
std::optional<SocketAddress> NumericAddress(const std::string& host, int port);

struct HostPort {
  std::string host;
  int port = 0;
  bool urgent = false;  // Its lookup waits for no other host's.
};

// Asks the system on another thread, which calls `done` once: at least one address, or kUnavailable
// with the name and the resolver's reason. Questions for the same name at the same time are asked
// once.
void ResolveInBackground(const HostPort& where,
                         std::function<void(absl::StatusOr<Addresses>)> done);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_RESOLVER_H_
