// Resolves host names to addresses without blocking the caller.
#ifndef KUBE_HTTP_INTERNAL_RESOLVER_H_
#define KUBE_HTTP_INTERNAL_RESOLVER_H_

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

  std::string ToString() const;  // Returns "10.0.0.1:443".
};
using Addresses = std::vector<SocketAddress>;

// Returns the address if `host` is one; no name server is asked.
std::optional<SocketAddress> NumericAddress(const std::string& host, int port);

struct HostPort {
  std::string host;
  int port = 0;
  bool urgent = false;  // True if its lookup may not wait for other hosts.
};

// Asks the system on another thread, which calls `done` once, with at least one address, or with
// kUnavailable naming the host and the resolver's reason. Simultaneous questions for the same name
// are asked once.
void ResolveInBackground(const HostPort& where,
                         std::function<void(absl::StatusOr<Addresses>)> done);

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_RESOLVER_H_
