// Credentials for one TLS connection, whatever its context has, so that connections with different
// ones may share a context: each takes 13 kB.
#ifndef BASE_TLS_CONNECTION_H_
#define BASE_TLS_CONNECTION_H_

#include <string>

#include "absl/status/status.h"
#include "base/tls.h"

namespace tls {

// Does for a client's connection, before its handshake, what ClientCredentials::Apply does for a
// context.
absl::Status Apply(const ClientCredentials& credentials, ssl_st* ssl);
// Does for a connection what RequireServerName in tls.h does for a context.
absl::Status RequireServerName(ssl_st* ssl, const std::string& host);

}  // namespace tls

#endif  // BASE_TLS_CONNECTION_H_
