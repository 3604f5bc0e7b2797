// TLS certificates and contexts. Contexts allow TLS 1.2 and newer only.
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

// A certificate chain, leaf first, and its private key, both PEM.
struct KeyPair {
  std::string cert_pem;
  std::string key_pem;
};

// The identity in a verified client certificate: Kubernetes takes the user from CN and groups from
// O.
struct PeerIdentity {
  std::string common_name;  // Empty if the client sent no certificate.
  std::vector<std::string> organizations;
};

// The certificates that a client has shown in a handshake: its own first, then those with which it
// wants to prove it. Immutable.
class PeerCertificates {
 public:
  virtual ~PeerCertificates() = default;
  // Returns its own certificate as DER.
  virtual std::string LeafDer() const = 0;
};

// An authority of clients. Verifying does not happen in the handshake, so that each request is
// judged by the bundle of its time, and one connection may be judged by several authorities, as in
// Kubernetes: that of clients and that of front proxies. Immutable, thread-safe.
class ClientAuthority {
 public:
  // Takes one or more certificates as PEM. kInvalidArgument names what is wrong with it.
  static absl::StatusOr<std::shared_ptr<const ClientAuthority>> Create(absl::string_view ca_pem);
  virtual ~ClientAuthority() = default;
  // Returns the identity in the client's certificate if that leads to this authority, is valid now
  // and may be used by clients. kUnauthenticated: the reason, such as "certificate has expired".
  virtual absl::StatusOr<PeerIdentity> Verify(const PeerCertificates& certificates) const = 0;
};

// A shared, parsed set of trust roots, client certificate and key: it is parsed once and used for
// every connection (each parse of the system bundle costs about 0.9 MB and 20 ms).
class ClientCredentials {
 public:
  struct Options {
    std::string ca_pem;        // Trust roots; empty means the system's.
    bool skip_verify = false;  // Accepts any server certificate.
    KeyPair client;            // Optional client certificate.
  };
  // kInvalidArgument names the unusable PEM and the reason.
  static absl::StatusOr<std::shared_ptr<const ClientCredentials>> Create(const Options& options);
  virtual ~ClientCredentials() = default;
  // Makes `ctx` use these credentials. Must be called for the context of each new connection.
  virtual absl::Status Apply(ssl_ctx_st* ctx) const = 0;
};

// Makes connections of the client context `ctx` require that the server's certificate is valid for
// `host`, a name or an IP address. As in Go, only the alternative names of a certificate count,
// never its subject. Without verification this has no effect. kInvalidArgument if OpenSSL refuses
// the name.
absl::Status RequireServerName(ssl_ctx_st* ctx, const std::string& host);

// Returns OpenSSL's list of these groups for exchanging keys, which are given by their numbers in
// TLS (Go's CurveID): "P-256:X25519". kInvalidArgument names a number that stands for no group
// known here, that is there twice, or whose group this OpenSSL does not have.
absl::StatusOr<std::string> KeyExchangeGroups(const std::vector<int>& numbers);

// Configures `ctx` for a server: certificate, key and optionally a CA; client certificates are not
// required, but checked against the CA.
struct ServerOptions {
  KeyPair server;
  // Clients are asked for a certificate of these authorities.
  std::string client_ca_pem;
  // Asks for certificates, of these authorities if there are any, and accepts all: they are
  // available as PeerCertificates for a ClientAuthority to verify. PeerOf() returns none of them.
  bool any_client_certificate = false;
  bool only_tls13 = false;  // Refuses TLS 1.2.
  // The groups that may be used for exchanging keys, as KeyExchangeGroups returns them; empty:
  // those that OpenSSL allows.
  std::string groups;
};
absl::Status ConfigureServer(ssl_ctx_st* ctx, const ServerOptions& options);
// Returns the verified identity of the peer of an established connection.
PeerIdentity PeerOf(const ssl_st* ssl);
// Returns what the client of an established connection has shown, verified or not; null for
// nothing.
std::shared_ptr<const PeerCertificates> CertificatesOf(const ssl_st* ssl);

// Keeps OpenSSL from parsing the system's CA bundle for every connection, by pointing SSL_CERT_FILE
// and SSL_CERT_DIR at nothing. Credentials made here still trust the system's bundle. Must be
// called first in main(), before any thread starts.
void DisableSystemBundlePerConnection();

// The original values of those two variables, for the environment of child processes; nullopt if
// not set.
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
  // The certificate can be used for server and client authentication.
  virtual absl::StatusOr<KeyPair> Issue(const LeafOptions& options) = 0;
};

}  // namespace tls

#endif  // BASE_TLS_H_
