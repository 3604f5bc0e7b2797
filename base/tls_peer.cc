// Who the peer of a connection is, by its certificate. There are two ways to know it: PeerOf trusts
// the verification of the handshake, and returns nothing if there was none; ClientAuthority
// verifies what the client has shown at any later time, against the authorities of that time. The
// shown certificates are kept by reference, so they outlive the connection.

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/internal/openssl.h"
#include "base/status.h"
#include "base/tls.h"

namespace tls {
namespace {

using internal::CertPtr;
using internal::Freer;
using internal::StorePtr;

using VerificationPtr = std::unique_ptr<X509_STORE_CTX, Freer<X509_STORE_CTX_free>>;

struct FreeStack {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, X509_free); }
};
using StackPtr = std::unique_ptr<STACK_OF(X509), FreeStack>;

// Returns all values of one kind of name part, such as the organizations of a subject.
std::vector<std::string> NameParts(const X509_NAME* name, int nid) {
  std::vector<std::string> parts;
  for (int i = -1; (i = X509_NAME_get_index_by_NID(name, nid, i)) >= 0;) {
    unsigned char* text = nullptr;
    const ASN1_STRING* data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i));
    const int size = ASN1_STRING_to_UTF8(&text, data);
    if (size < 0) continue;
    parts.emplace_back(reinterpret_cast<const char*>(text), size);
    OPENSSL_free(text);
  }
  return parts;
}

PeerIdentity IdentityIn(const X509* certificate) {
  PeerIdentity identity;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const std::vector<std::string> names = NameParts(subject, NID_commonName);
  // Go takes the last one, too.
  if (!names.empty()) identity.common_name = names.back();
  identity.organizations = NameParts(subject, NID_organizationName);
  return identity;
}

class ShownCertificates : public PeerCertificates {
 public:
  ShownCertificates(CertPtr leaf, StackPtr others)
      : leaf_(std::move(leaf)), others_(std::move(others)) {}

  std::string LeafDer() const override {
    const int size = i2d_X509(leaf_.get(), nullptr);
    std::string der(size > 0 ? static_cast<size_t>(size) : 0, '\0');
    auto* out = reinterpret_cast<unsigned char*>(der.data());
    i2d_X509(leaf_.get(), &out);
    return der;
  }

  X509* leaf() const { return leaf_.get(); }
  STACK_OF(X509) * others() const { return others_.get(); }

 private:
  const CertPtr leaf_;
  const StackPtr others_;  // May be null.
};

class StoredAuthority : public ClientAuthority {
 public:
  explicit StoredAuthority(StorePtr store) : store_(std::move(store)) {}

  absl::StatusOr<PeerIdentity> Verify(const PeerCertificates& certificates) const override {
    const auto& shown = static_cast<const ShownCertificates&>(certificates);
    const VerificationPtr verification(X509_STORE_CTX_new());
    if (X509_STORE_CTX_init(verification.get(), store_.get(), shown.leaf(), shown.others()) != 1) {
      return internal::LastError("client certificate");
    }
    X509_STORE_CTX_set_default(verification.get(), "ssl_client");
    // Signatures over SHA-1 and keys that are as weak do not count.
    X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(verification.get()), 1);
    const bool verified = X509_verify_cert(verification.get()) == 1;
    ERR_clear_error();
    if (verified) return IdentityIn(shown.leaf());
    const int error = X509_STORE_CTX_get_error(verification.get());
    return absl::UnauthenticatedError(
        absl::StrCat("client certificate: ", X509_verify_cert_error_string(error)));
  }

 private:
  const StorePtr store_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const ClientAuthority>> ClientAuthority::Create(
    absl::string_view ca_pem) {
  auto certificates = internal::ParseCertificates(ca_pem);
  if (!certificates.ok()) return base::Annotate(certificates.status(), "client authority");
  ASSIGN_OR_RETURN(StorePtr store, internal::NewStore(*certificates));
  return std::make_shared<StoredAuthority>(std::move(store));
}

PeerIdentity PeerOf(const ssl_st* ssl) {
  const X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) return {};
  return IdentityIn(certificate);
}

std::shared_ptr<const PeerCertificates> CertificatesOf(const ssl_st* ssl) {
  CertPtr leaf(SSL_get1_peer_certificate(ssl));
  if (leaf == nullptr) return nullptr;
  // On a server's side the chain has no leaf.
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl);
  StackPtr others(chain == nullptr ? nullptr : X509_chain_up_ref(chain));
  return std::make_shared<ShownCertificates>(std::move(leaf), std::move(others));
}

}  // namespace tls
