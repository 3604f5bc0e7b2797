// TLS material and contexts: the only door to OpenSSL. Contexts allow TLS 1.2 and newer only.
#ifndef BASE_TLS_H_
#define BASE_TLS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX.
struct ssl_st;      // OpenSSL's SSL.

namespace tls {

// A certificate (chain, leaf first) and its private key, both PEM.
struct KeyPair {
  std::string cert_pem;
  std::string key_pem;
};

// Who a verified client certificate speaks for: Kubernetes reads user from CN and groups from O.
struct PeerIdentity {
  std::string common_name;  // Empty when no client certificate was shown.
  std::vector<std::string> organizations;
};

// A shared, parsed set of trust roots, client certificate and key: parse once, use for every
// connection (each parse of the system bundle costs about 0.9 MB and 20 ms).
class ClientCredentials {
 public:
  struct Options {
    std::string ca_pem;        // Trust roots; empty means the system's.
    bool skip_verify = false;  // Accepts any server certificate.
    KeyPair client;            // Optional client certificate.
  };
  // kInvalidArgument says which PEM is unusable and why.
  static absl::StatusOr<std::shared_ptr<const ClientCredentials>> Create(const Options& options);
  virtual ~ClientCredentials() = default;
  // Makes `ctx` use these credentials; called once for each new connection's context.
  virtual absl::Status Apply(ssl_ctx_st* ctx) const = 0;
};

// Makes connections of `ctx`, a client's, insist that the server's certificate is valid for `host`,
// a name or an IP address. As in Go, only the alternative names of a certificate count, never its
// subject. No effect where verification is off. kInvalidArgument.
absl::Status RequireServerName(ssl_ctx_st* ctx, const std::string& host);

// Makes `ctx` a server's: certificate, key and, when given, a CA against which client certificates
// are checked if the client shows one.
struct ServerOptions {
  KeyPair server;
  std::string client_ca_pem;
};
absl::Status ConfigureServer(ssl_ctx_st* ctx, const ServerOptions& options);
// The verified identity of the peer of an established connection.
PeerIdentity PeerOf(const ssl_st* ssl);

// Keeps OpenSSL from parsing the system's CA bundle for every connection, by pointing SSL_CERT_FILE
// and SSL_CERT_DIR at nothing. Credentials made here still trust the system's bundle. Call first
// thing in main(), before any thread.
void DisableSystemBundlePerConnection();

// Those two variables as they were before, for the environment of child processes; nullopt: not
// set.
struct SystemBundleVariables {
  std::optional<std::string> file;       // SSL_CERT_FILE
  std::optional<std::string> directory;  // SSL_CERT_DIR
};
SystemBundleVariables OriginalSystemBundleVariables();

// A small certificate authority for sandboxes and tests (ECDSA P-256).
class CertificateAuthority {
 public:
  static absl::StatusOr<std::unique_ptr<CertificateAuthority>> Create(
      absl::string_view common_name);
  virtual ~CertificateAuthority() = default;
  virtual const std::string& cert_pem() const = 0;
  struct LeafOptions {
    std::string common_name;
    std::vector<std::string> organizations;
    std::vector<std::string> dns_names;  // Subject alternative names.
    std::vector<std::string> ip_addresses;
    absl::Duration valid_for = absl::Hours(24 * 365);
    absl::Time not_before = absl::InfinitePast();  // InfinitePast: one minute ago.
  };
  // Usable for both server and client authentication.
  virtual absl::StatusOr<KeyPair> Issue(const LeafOptions& options) = 0;
};

}  // namespace tls

#endif  // BASE_TLS_H_
