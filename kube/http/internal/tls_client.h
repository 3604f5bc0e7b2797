// What all TLS connections to one server share: trusted roots, client certificate, the name that
// the server has to prove, and sessions to resume.
#ifndef KUBE_HTTP_INTERNAL_TLS_CLIENT_H_
#define KUBE_HTTP_INTERNAL_TLS_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/tls.h"
#include "kube/http/internal/byte_layer.h"

namespace kube {

// Thread-safe.
class TlsClient {
 public:
  // `name` is a host name or an IP address. kInvalidArgument.
  static absl::StatusOr<std::shared_ptr<TlsClient>> Create(
      const std::shared_ptr<const tls::ClientCredentials>& credentials, const std::string& name);
  virtual ~TlsClient() = default;
  // Returns a new connection over `below`, before its handshake.
  virtual std::unique_ptr<TlsLayer> Connect(std::unique_ptr<ByteLayer> below) = 0;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_TLS_CLIENT_H_
