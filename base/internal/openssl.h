// Owned OpenSSL objects, and functions to read PEM. Private to base/.
#ifndef BASE_INTERNAL_OPENSSL_H_
#define BASE_INTERNAL_OPENSSL_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/tls.h"

namespace tls::internal {

template <auto free_function>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using BioPtr = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using CertPtr = std::unique_ptr<X509, Freer<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using StorePtr = std::unique_ptr<X509_STORE, Freer<X509_STORE_free>>;

// Returns "<what>: <first reason in OpenSSL's error queue>" as kInvalidArgument, and empties the
// queue.
absl::Status LastError(absl::string_view what);

// Returns all certificates of a PEM text in order, at least one. Other PEM blocks are skipped.
absl::StatusOr<std::vector<CertPtr>> ParseCertificates(absl::string_view pem);

// A certificate chain and its matching key.
struct Identity {
  std::vector<CertPtr> chain;  // Leaf first.
  KeyPtr key;

  static absl::StatusOr<Identity> Parse(const KeyPair& pair);
  // Makes `ctx` show this chain and sign with this key.
  absl::Status Apply(SSL_CTX* ctx) const;
};

// Returns a store that trusts exactly these certificates, self-signed or not (as Go does).
absl::StatusOr<StorePtr> NewStore(const std::vector<CertPtr>& trusted);

// Allows TLS 1.2 and newer, and keeps no buffers for idle connections.
void SetCommonOptions(SSL_CTX* ctx);

}  // namespace tls::internal

#endif  // BASE_INTERNAL_OPENSSL_H_
