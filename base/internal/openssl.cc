// Reads PEM with OpenSSL's functions. OpenSSL keeps errors in a queue of each thread: it is emptied
// before and after, so that an error that is reported is that of the last call, and none is left
// for the TLS connections of the same thread. Raw pointers are borrowed; the owners are those of
// the header.

#include "base/internal/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <utility>

#include "absl/strings/match.h"
#include "base/internal/private_key.h"
#include "base/status.h"

namespace tls::internal {
namespace {

BioPtr ReaderOf(absl::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Refuses encrypted keys; otherwise OpenSSL would ask for a passphrase on the terminal.
int NoPassphrase(char*, int, int, void*) { return 0; }

bool AtEndOfPem() {
  const unsigned long error = ERR_peek_last_error();  // NOLINT(runtime/int): OpenSSL's type.
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

}  // namespace

absl::Status LastError(absl::string_view what) {
  const unsigned long error = ERR_get_error();  // NOLINT(runtime/int): OpenSSL's type.
  ERR_clear_error();
  if (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": no PEM block found"));
  }
  const char* reason = ERR_reason_error_string(error);
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", reason ? reason : "unusable"));
}

absl::StatusOr<std::vector<CertPtr>> ParseCertificates(absl::string_view pem) {
  ERR_clear_error();
  const BioPtr bio = ReaderOf(pem);
  std::vector<CertPtr> certificates;
  // It skips blocks of other types and fails at the end, which is told from a broken block by the
  // error.
  while (CertPtr certificate{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    certificates.push_back(std::move(certificate));
  }
  if (certificates.empty() || !AtEndOfPem()) return LastError("certificate");
  ERR_clear_error();
  return certificates;
}

absl::StatusOr<KeyPtr> ParseKey(absl::string_view pem) {
  // Without this check the error would only be OpenSSL's "unsupported".
  if (!absl::StrContains(pem, "-----BEGIN ")) {
    return absl::InvalidArgumentError("private key: no PEM block found");
  }
  const BioPtr bio = ReaderOf(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  if (key == nullptr) return LastError("private key");
  return key;
}

absl::StatusOr<Identity> Identity::Parse(const KeyPair& pair) {
  Identity identity;
  ASSIGN_OR_RETURN(identity.chain, ParseCertificates(pair.cert_pem));
  ASSIGN_OR_RETURN(identity.key, ParseKey(pair.key_pem));
  if (X509_check_private_key(identity.chain.front().get(), identity.key.get()) != 1) {
    return LastError("private key does not belong to the certificate");
  }
  return identity;
}

absl::Status Identity::Apply(SSL_CTX* ctx) const {
  if (SSL_CTX_use_certificate(ctx, chain.front().get()) != 1) return LastError("certificate");
  if (SSL_CTX_clear_chain_certs(ctx) != 1) return LastError("certificate chain");
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(ctx, chain[i].get()) != 1) return LastError("certificate chain");
  }
  if (SSL_CTX_use_PrivateKey(ctx, key.get()) != 1) return LastError("private key");
  return absl::OkStatus();
}

absl::StatusOr<StorePtr> NewStore(const std::vector<CertPtr>& trusted) {
  StorePtr store(X509_STORE_new());
  for (const CertPtr& certificate : trusted) {
    if (X509_STORE_add_cert(store.get(), certificate.get()) != 1) return LastError("certificate");
  }
  // A certificate in the store is trusted by itself, even if it is not a root.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  return store;
}

void SetCommonOptions(SSL_CTX* ctx) {
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(ctx, 0);
  // Each idle connection would keep 34 kB otherwise.
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
}

}  // namespace tls::internal
